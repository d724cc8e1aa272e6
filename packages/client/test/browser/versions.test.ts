import { servePages } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { bundleHost, describeInPages, makeHost } from './client-page.ts'

/** Makes a version of the library with other messages between tabs, and other stored sessions and queues. */
const NEXT_VERSION = [/\b(TAB|SESSION|QUEUE)_VERSION = 1\b/g, '$1_VERSION = 2'] as const

describeInPages('tabs of two versions of the library', at => {
  const service = () => at.stage.service.emulator
  const sessions = () => [...service().world.sessions.values()]
  const received = () =>
    [...service().world.sessions.keys()].map(id =>
      service()
        .control.frames(id)
        .flatMap(({ message }) => (message?.role === 'human' ? [message.content ?? ''] : [])),
    )
  const untilConnected = (page: Page) =>
    page.waitForFunction(() => host.getState() === 'CONNECTED', undefined, { polling: 20 })
  const untilTalk = (page: Page, count: number) =>
    page.waitForFunction(wanted => host.talk().length === wanted, count, { polling: 50 })

  it('[REL-69] share neither session, connection nor queue: no message is lost, doubled or evicted', async () => {
    const page = (script: string) => `<!doctype html><title>Host</title><script src="/${script}.js"></script>`
    const pages = await servePages({
      '/one': page('one'),
      '/two': page('two'),
      '/one.js': await bundleHost(),
      '/two.js': await bundleHost(NEXT_VERSION),
    })
    try {
      Object.assign(service().settings, { capabilities: ['receipts', 'resume', 'fencing'] })
      const config = {
        id: 'account',
        auth: { type: 'pre-auth', accessToken: service().control.issueToken({ subject: 'customer' }) },
        tabs: 'share',
        resume: true,
        persistQueue: true,
        autoConnect: true,
        baseReconnectDelay: 20,
        maxReconnectDelay: 50,
      } as const
      const start = async (tab: Page) => {
        await makeHost(tab, at.stage, config)
        await tab.evaluate(() => host.initialize())
        return tab
      }
      const open = async (path: string) => {
        const tab = await at.context.newPage()
        await tab.goto(`${pages.url}/${path}`)
        return start(tab)
      }
      const older = [await open('one'), await open('one')] as const
      // A copy of the tab, with its session storage, is the first page of the next version.
      const opening = at.context.waitForEvent('page')
      await older[0].evaluate(() => void window.open('/two'))
      const copy = await opening
      await copy.waitForLoadState()
      const newer = [await start(copy), await open('two')] as const
      const all = [...older, ...newer]
      for (const tab of all) await untilConnected(tab)

      const texts = ['a', 'b', 'c']
      for (const text of texts) {
        await older[1].evaluate(said => host.send(`older ${said}`), text)
        await newer[1].evaluate(said => host.send(`newer ${said}`), text)
      }
      for (const tab of all) await untilTalk(tab, 6)
      expect(sessions().map(({ connections }) => connections)).toEqual([1, 1])
      for (const tab of all) expect(await tab.evaluate(() => host.of('error'))).toEqual([])

      // Tabs that end with queued messages leave them to those of their version.
      service().faults.add({ kind: 'refuse-upgrade', status: 503 })
      service().control.dropSockets()
      for (const tab of all) await tab.waitForFunction(() => host.getState() !== 'CONNECTED')
      await older[1].evaluate(() => host.sendAll(['older queued', 'older last']))
      await newer[1].evaluate(() => host.sendAll(['newer queued', 'newer last']))
      const lockKinds = () =>
        older[0].evaluate(async () => {
          const { held = [] } = await navigator.locks.query()
          const names = held.map(({ name }) => /^aiagent-[a-z]+-\d/.exec(name ?? '')?.[0])
          return [...new Set(names)].toSorted()
        })
      const kinds = ['queue', 'session', 'tabs'].flatMap(kind => [`aiagent-${kind}-1`, `aiagent-${kind}-2`])
      await expect.poll(lockKinds).toEqual(kinds)
      await older[1].close()
      await newer[1].close()
      service().faults.lift()
      for (const tab of [older[0], newer[0]]) await untilTalk(tab, 10)
      texts.push('queued', 'last')
      expect(received()).toEqual([texts.map(text => `older ${text}`), texts.map(text => `newer ${text}`)])
      expect(sessions()).toHaveLength(2)
    } finally {
      await pages.close()
    }
  })
})
