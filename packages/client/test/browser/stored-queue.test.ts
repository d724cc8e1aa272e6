import type { AiAgentConfig } from '@aiagent/client'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInPages, makeHost, openHost } from './client-page.ts'

const TEXTS = ['one', 'two', 'three']

describeInPages('a queue that survives its page, in a page', at => {
  const service = () => at.stage.service.emulator
  /** A signed-in user, whose queue any tab may take over. */
  const userConfig = (): Partial<AiAgentConfig> => ({
    id: 'account',
    auth: { type: 'pre-auth', accessToken: service().control.issueToken({ subject: 'customer' }) },
    persistQueue: true,
    baseReconnectDelay: 20,
    maxReconnectDelay: 50,
  })
  /** Every text that the service received, in all sessions. */
  const received = () =>
    [...service().world.sessions.keys()].flatMap(id =>
      service()
        .control.frames(id)
        .flatMap(({ message }) => (message?.role === 'human' ? [message.content ?? ''] : [])),
    )
  const storedTexts = (page: Page) =>
    page.evaluate(async () => {
      const open = indexedDB.open('aiagent')
      const database = await new Promise<IDBDatabase>(resolve => {
        open.onsuccess = () => resolve(open.result)
      })
      const all = database.transaction('entries').objectStore('entries').getAll()
      const entries = await new Promise<{ value: { left: { content: string }[] } }[]>(resolve => {
        all.onsuccess = () => resolve(all.result)
      })
      database.close()
      return entries.flatMap(({ value }) => value.left.map(({ content }) => content))
    })
  const untilStored = (page: Page, count: number) => expect.poll(() => storedTexts(page)).toHaveLength(count)
  const goOffline = () => {
    service().faults.add({ kind: 'refuse-upgrade', status: 503 })
    service().control.dropSockets()
  }
  /** A page whose three messages wait for the connection. */
  const waitingPage = async (config: Partial<AiAgentConfig>) => {
    const page = await openHost(at.context, at.stage, config)
    await page.evaluate(() => host.open())
    goOffline()
    await page.waitForFunction(() => host.getState() !== 'CONNECTED')
    await page.evaluate(texts => host.sendAll(texts), TEXTS)
    await untilStored(page, 3)
    return page
  }
  /** A page leaves one more message in the store. */
  const leave = async (config: Partial<AiAgentConfig>, count: number) => {
    const page = await openHost(at.context, at.stage, config)
    await page.evaluate(() => host.initialize())
    await page.evaluate(texts => host.sendAll(texts), [`text ${count}`])
    await untilStored(page, count)
    await page.close()
  }
  /** What is stored is as old as if 25 hours had passed. */
  const passDay = (page: Page) =>
    page.evaluate(async () => {
      const open = indexedDB.open('aiagent')
      const database = await new Promise<IDBDatabase>(resolve => {
        open.onsuccess = () => resolve(open.result)
      })
      const changing = database.transaction('entries', 'readwrite')
      const walk = changing.objectStore('entries').openCursor()
      walk.onsuccess = () => {
        const cursor = walk.result
        if (!cursor) return
        const { value, ...entry } = cursor.value as {
          value: { left: { timestamp: number }[] }
          timestamp: number
          expiresAt: number
        }
        const age = (time: number) => time - 25 * 3_600_000
        const left = value.left.map(message => ({ ...message, timestamp: age(message.timestamp) }))
        cursor.update({ value: { ...value, left }, timestamp: age(entry.timestamp), expiresAt: age(entry.expiresAt) })
        cursor.continue()
      }
      await new Promise(resolve => {
        changing.oncomplete = resolve
      })
      database.close()
    })
  const openAgain = async (page: Page, config: Partial<AiAgentConfig>) => {
    await makeHost(page, at.stage, config)
    await page.evaluate(() => host.open())
  }

  it('[REL-88] sends three messages that were queued offline exactly once after a reload', async () => {
    for (const config of [{ persistQueue: true }, userConfig()]) {
      const before = received().length
      const page = await waitingPage(config)
      await page.reload()
      service().faults.lift()
      await openAgain(page, config)
      await expect.poll(() => received().slice(before)).toEqual(TEXTS)
      await expect.poll(() => storedTexts(page)).toEqual([])
      await page.reload()
      await openAgain(page, config)
      await page.evaluate(() => host.send('four'))
      await expect.poll(() => received().slice(before)).toEqual([...TEXTS, 'four'])
      await page.close()
    }
  })

  it('[REL-88] sends them after a reload in a tab whose session storage is full', async () => {
    const page = await waitingPage({ persistQueue: true })
    await page.reload()
    service().faults.lift()
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException('The storage is full.', 'QuotaExceededError')
      }
    })
    await openAgain(page, { persistQueue: true })
    await expect.poll(received).toEqual(TEXTS)
  })

  it('[REL-88] sends them exactly once after the renderer was killed', async () => {
    const config = userConfig()
    const page = await waitingPage(config)
    const crashed = page.waitForEvent('crash')
    page.goto('chrome://crash').catch(() => {})
    await crashed
    await page.close()
    service().faults.lift()
    const next = await openHost(at.context, at.stage, config)
    await next.evaluate(() => host.open())
    await expect.poll(received).toEqual(TEXTS)
  })

  it('[REL-89] never lets two tabs send the same message', async () => {
    const config = userConfig()
    const first = await waitingPage(config)
    const second = await openHost(at.context, at.stage, config)
    await second.evaluate(() => host.initialize())
    // The first tab lives: its messages stay its own.
    expect(await second.evaluate(() => host.getQueueSize())).toBe(0)
    await first.close()
    const tabs = [await openHost(at.context, at.stage, config), await openHost(at.context, at.stage, config)]
    service().faults.lift()
    await Promise.all(tabs.map(tab => tab.evaluate(() => host.open())))
    await expect.poll(received).toEqual(TEXTS)
    for (const tab of tabs) await tab.evaluate(() => host.send('last'))
    await expect.poll(() => received().filter(text => text === 'last')).toHaveLength(2)
    expect(received().filter(text => text !== 'last')).toEqual(TEXTS)
  })

  it('[REL-89] leaves the queue of an anonymous user to the tab that wrote it', async () => {
    const config = { persistQueue: true }
    const first = await waitingPage(config)
    await first.close()
    service().faults.lift()
    const other = await openHost(at.context, at.stage, config)
    await other.evaluate(() => host.open())
    await other.evaluate(() => host.send('mine'))
    await expect.poll(received).toEqual(['mine'])
  })

  it('[REL-64] [REL-89] hands the queue of a tab that crashed to the others of its anonymous conversation, and to nobody else', async () => {
    const config = { persistQueue: true, tabs: 'share', resume: true } as const
    const first = await waitingPage(config)
    const second = await openHost(at.context, at.stage, config)
    await second.evaluate(() => host.initialize())
    const crashed = first.waitForEvent('crash')
    first.goto('chrome://crash').catch(() => {})
    await crashed
    await first.close()
    await expect.poll(() => second.evaluate(() => host.getQueueSize())).toBe(TEXTS.length)
    await second.close()
    service().faults.lift()
    const other = await openHost(at.context, at.stage, config)
    await other.evaluate(() => host.open())
    await other.evaluate(() => host.send('mine'))
    await expect.poll(received).toEqual(['mine'])
  })

  it('[REL-91] is empty after logout()', async () => {
    const config = userConfig()
    const page = await waitingPage(config)
    await page.evaluate(() => host.logout())
    expect(await storedTexts(page)).toEqual([])
    service().faults.lift()
    await page.reload()
    await openAgain(page, config)
    expect(await page.evaluate(() => host.getQueueSize())).toBe(0)
    expect(received()).toEqual([])
  })

  it('[REL-91] is removed by logout() before initialize(), and by clearStoredData()', async () => {
    const config = userConfig()
    for (const how of ['logout', 'logout of an agent that stores none', 'clear'] as const) {
      const page = await waitingPage(config)
      await page.reload()
      await makeHost(page, at.stage, how.includes('none') ? { ...config, persistQueue: false } : config)
      await page.evaluate(([name, endpoint]) => (name === 'clear' ? host.clearStoredData(endpoint) : host.logout()), [
        how,
        at.stage.service.url,
      ] as const)
      expect(await storedTexts(page)).toEqual([])
      service().faults.lift()
      await page.close()
    }
  })

  it('[SEC-78] what has expired goes with the start of any agent, of any owner, and nothing else', async () => {
    const week = { expiresAfterMs: 7 * 86_400_000 }
    const ofUser = (subject: string) => ({
      ...userConfig(),
      auth: { type: 'pre-auth' as const, accessToken: service().control.issueToken({ subject }) },
    })
    const starts: Partial<AiAgentConfig>[] = [{}, { persistQueue: true }, ofUser('new-customer')]
    for (const config of starts) {
      await leave({ persistQueue: true }, 1)
      await leave(ofUser('customer'), 2)
      await leave({ ...ofUser('customer'), id: 'help', persistQueue: week }, 3)
      const page = await openHost(at.context, at.stage, config)
      await passDay(page)
      await page.evaluate(() => host.initialize())
      await expect.poll(() => storedTexts(page)).toEqual(['text 3'])
      await page.evaluate(() => host.destroy())
      await page.evaluate(
        () =>
          new Promise(resolve => {
            const gone = indexedDB.deleteDatabase('aiagent')
            gone.onsuccess = resolve
            gone.onblocked = resolve
          }),
      )
      await page.close()
    }
  })

  it('[SEC-78] a store that hangs in the middle of the removal delays no conversation, and the next page removes the rest', async () => {
    await leave({ persistQueue: true }, 1)
    await leave(userConfig(), 2)
    const page = await openHost(at.context, at.stage, {})
    await passDay(page)
    await page.evaluate(() => {
      const { get } = IDBObjectStore.prototype
      let reads = 0
      IDBObjectStore.prototype.get = function (key) {
        const request = get.call(this, key)
        // From the second one on, no answer arrives.
        if (++reads > 1) request.addEventListener('success', event => event.stopImmediatePropagation())
        Object.assign(globalThis, { reads })
        return request
      }
    })
    await page.evaluate(() => host.open())
    await page.waitForFunction(() => Object(globalThis).reads > 1)
    await page.evaluate(texts => host.sendAll(texts), ['meanwhile'])
    await expect.poll(received).toContain('meanwhile')
    // The first one was removed.
    expect(await storedTexts(page)).toHaveLength(1)
    await page.close()
    const next = await openHost(at.context, at.stage, {})
    await next.evaluate(() => host.open())
    await expect.poll(() => storedTexts(next)).toEqual([])
    expect(received().filter(text => text.startsWith('text'))).toEqual([])
    await next.close()
  })
})
