import { launchChromium } from '@aiagent/test-support/chromium'
import { needs } from '@aiagent/test-support/needs'
import type { BrowserContext, Frame, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInPages, makeHost, openHost } from './client-page.ts'

const CAPABILITIES = ['receipts', 'resume', 'fencing'] as const

describeInPages('a frame to which the browser denies locks, channels and stores', at => {
  it('[REL-252] converses alone, says so, and leaves no unhandled rejection', async () => {
    const page = await at.context.newPage()
    const errors: unknown[] = []
    const lines: string[] = []
    page.on('pageerror', error => errors.push(error))
    page.on('console', message => lines.push(message.text()))
    await page.goto(at.stage.pages.url)
    await page.evaluate(() => {
      const frame = document.createElement('iframe')
      frame.sandbox.add('allow-scripts')
      frame.src = location.href
      document.body.append(frame)
    })
    await page.waitForFunction(() => frames.length === 1)
    const frame = page.frames()[1] as Frame
    await frame.waitForFunction(() => 'createHost' in globalThis)
    const config = { id: 'help', endpoint: at.stage.service.url, tabs: 'share', persistQueue: true, resume: true }
    await frame.evaluate(text => {
      globalThis.rejections = []
      addEventListener('unhandledrejection', ({ reason }) => void globalThis.rejections.push(String(reason)))
      globalThis.host = globalThis.createHost(JSON.parse(text))
    }, JSON.stringify(config))
    await frame.evaluate(() => host.initialize())
    await frame.evaluate(() => host.connect())
    await frame.evaluate(() => host.send('alone'))
    await frame.waitForFunction(() => host.talk().length === 2)
    await frame.evaluate(() => host.logout())
    expect(await frame.evaluate(() => globalThis.rejections)).toEqual([])
    expect(errors).toEqual([])
    for (const option of ['tabs', 'persistQueue'])
      expect(lines.filter(line => line.includes(`\`${option}\` has no effect`))).toHaveLength(1)
    expect(lines.filter(line => line.includes('Could not remove'))).toEqual([])
  })
})

describeInPages('five tabs that share a conversation', at => {
  const service = () => at.stage.service.emulator
  const sessions = () => [...service().world.sessions.values()]
  const received = () =>
    sessions().flatMap(({ accepted }) =>
      accepted.entries().flatMap(({ message, duplicate }) => (duplicate ? [] : [String(message.content)])),
    )
  const config = { tabs: 'share', resume: true, autoConnect: true, baseReconnectDelay: 20 } as const
  const untilTalk = (page: Page, count: number) =>
    page.waitForFunction(wanted => globalThis.host?.talk().length === wanted, count, { polling: 50 })
  const untilConnected = (page: Page) =>
    page.waitForFunction(() => host.getState() === 'CONNECTED', undefined, { polling: 20 })
  const openTabs = async (context: BrowserContext, count: number) => {
    const pages: Page[] = []
    for (let tab = 0; tab < count; tab++) {
      const page = await openHost(context, at.stage, config)
      await page.evaluate(() => host.initialize())
      await untilConnected(page)
      pages.push(page)
    }
    return pages
  }
  /** Two tabs in a browser with a back/forward cache. The first one has said "before", and its user has gone to another document. */
  const withLeftTab = async (work: (left: Page, other: Page) => Promise<void>) => {
    const caching = await launchChromium({
      needs: ['back/forward cache'],
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
    })
    try {
      const pages = await openTabs(caching.context, 2)
      const [left, other] = pages as [Page, Page]
      await left.evaluate(() => host.send('before'))
      for (const page of pages) await untilTalk(page, 2)
      await left.evaluate(() => void (document.title = 'the same document'))
      // The server has no such page, so this is another document.
      await left.goto(`${at.stage.pages.url}/elsewhere`)
      await untilConnected(other)
      await work(left, other)
    } finally {
      await caching.close()
    }
  }
  // A page from the cache does not load, but goBack() would wait for that.
  const goBack = (page: Page) => page.evaluate(() => void setTimeout(() => history.back()))

  it('[REL-61] [REL-62] [REL-63] [REL-67] [REL-155] go on when the leader is closed, crashes or freezes, and sign out together', async () => {
    Object.assign(service().settings, { capabilities: CAPABILITIES, heartbeatBeforeReply: false })
    const pages = await openTabs(at.context, 5)
    const [one, two, three, four, five] = pages as [Page, Page, Page, Page, Page]
    expect(sessions()).toHaveLength(1)
    expect(sessions()[0]?.connections).toBe(1)
    for (const [index, page] of pages.entries()) await page.evaluate(text => host.send(text), `from ${index}`)
    for (const page of pages) await untilTalk(page, 10)

    // A tab that is closed, in the middle of what another one sends.
    const closed = one.close()
    await two.evaluate(() => host.sendAll(['a', 'b', 'c']))
    await closed
    for (const page of [two, three, four, five]) await untilTalk(page, 16)

    // A tab that crashes.
    const crashed = two.waitForEvent('crash')
    two.goto('chrome://crash').catch(() => {})
    await crashed
    await three.evaluate(() => host.sendAll(['d', 'e']))
    for (const page of [three, four, five]) await untilTalk(page, 20)

    // A tab that is frozen, and runs again: the debugger stops all of its code, also while the tab is visible.
    const devtools = await at.context.newCDPSession(three)
    await devtools.send('Debugger.enable')
    await devtools.send('Debugger.pause')
    await four.evaluate(() => host.send('f'))
    for (const page of [four, five]) await untilTalk(page, 22)
    await devtools.send('Debugger.resume')
    await devtools.send('Debugger.disable')
    await three.evaluate(() => host.send('g'))
    for (const page of [three, four, five]) await untilTalk(page, 24)

    // A reload comes back into the same conversation.
    await four.reload()
    await makeHost(four, at.stage, config)
    await four.evaluate(() => host.initialize())
    await untilTalk(four, 24)
    expect(sessions()).toHaveLength(1)
    expect(received().toSorted()).toEqual([...[0, 1, 2, 3, 4].map(tab => `from ${tab}`), ...'abcdefg'].toSorted())

    await five.evaluate(() => host.logout())
    for (const page of [three, four, five]) await untilTalk(page, 0)
  })

  it('[REL-64] report what one of them sends and is closed, while the only other one is busy, and then signs out', async () => {
    Object.assign(service().settings, { capabilities: [] })
    const [leader, other] = (await openTabs(at.context, 2)) as [Page, Page]
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    await leader.route('**/busy', async route => {
      await released
      await route.fulfill({ body: '' })
    })
    const isBusy = leader.waitForRequest('**/busy')
    const left = leader.evaluate(() => {
      const request = new XMLHttpRequest()
      // Synchronous: nothing that is posted meanwhile is received before the next task.
      request.open('GET', '/busy', false)
      request.send()
      return host.logout()
    })
    await isBusy
    const id = await other.evaluate(() => host.send('the last one'))
    await other.close()
    release()
    await left
    const states = () =>
      leader.evaluate(
        wanted => host.of('deliveryUpdate').flatMap(({ id, state }) => (id === wanted ? [state] : [])),
        id,
      )
    await expect.poll(states).toEqual(['sending', 'sent', 'unknown'])
    expect(received()).toEqual([])
  })

  it('[SEC-61] keep the token of a user from the anonymous ones, and let its tab take the session with it', async () => {
    const [user, other] = [await openHost(at.context, at.stage, config), await openHost(at.context, at.stage, config)]
    for (const page of [user, other]) {
      await page.evaluate(() => host.initialize())
      await untilConnected(page)
    }
    await other.evaluate(() => host.send('before'))
    for (const page of [user, other]) await untilTalk(page, 2)
    await other.evaluate(async () => {
      const { held = [] } = await navigator.locks.query()
      const name =
        held.find(lock => lock.name && /^aiagent-tabs-(?!.*-(?:tab-|page-|question))/.test(lock.name))?.name ?? ''
      const channel = new BroadcastChannel(name)
      const posted: string[] = []
      channel.onmessage = ({ data }) => void posted.push(JSON.stringify(data))
      Object.assign(globalThis, { channel, posted })
    })
    const token = service().control.issueToken({ subject: 'customer' })
    await user.evaluate(given => host.updateAccessToken(given), token)
    expect(await other.evaluate(() => host.getState())).toBe('CONNECTED')
    await user.evaluate(() => host.send('of the user'))
    await untilTalk(user, 4)
    expect(sessions()).toHaveLength(1)
    await other.evaluate(() => host.send('of nobody'))
    await untilTalk(other, 4)
    expect(await other.evaluate(() => host.talk())).not.toContain('sent: of the user')
    expect(sessions()).toHaveLength(2)
    const posted = await other.evaluate(() => String(Reflect.get(globalThis, 'posted')))
    expect(posted).toContain('taken')
    expect(posted).not.toContain(token)
    await user.evaluate(() => host.logout())
    expect(await other.evaluate(() => host.getAccessToken())).not.toBe(token)
  })

  it(
    '[REL-156] leave the user who signed out while they were in the back/forward cache',
    needs('back/forward cache'),
    () =>
      withLeftTab(async (left, other) => {
        await other.evaluate(() => host.logout())
        await other.close()
        const opened = sessions().length
        await goBack(left)
        await untilTalk(left, 0)
        expect(await left.evaluate(() => [document.title, host.getState()])).toEqual(['the same document', 'CLOSED'])
        expect(sessions()).toHaveLength(opened)
      }),
  )

  it(
    '[SEC-61] leave the session to the user whose token one of them got while they were in the back/forward cache',
    needs('back/forward cache'),
    () =>
      withLeftTab(async (left, user) => {
        const [session = ''] = service().world.sessions.keys()
        const token = service().control.issueToken({ subject: 'customer' })
        await user.evaluate(given => host.updateAccessToken(given), token)
        await user.evaluate(() => host.send('of the user'))
        await untilTalk(user, 4)
        await user.close()
        const uses = () =>
          service()
            .control.requests()
            .filter(({ path, query, body }) => JSON.stringify([path, query, body]).includes(session)).length
        const before = uses()
        await goBack(left)
        await left.waitForFunction(() => typeof globalThis.createHost === 'function')
        // The browser may have dropped the page from its cache, and then loads it again.
        if (!(await left.evaluate(() => globalThis.host !== undefined))) {
          await makeHost(left, at.stage, config)
          await left.evaluate(() => host.initialize())
        }
        await untilConnected(left)
        await left.evaluate(() => host.send('of nobody'))
        await left.waitForFunction(() => host.answers().includes('You said: of nobody'))
        expect(uses()).toBe(before)
        expect(await left.evaluate(() => host.talk())).not.toContain('sent: of the user')
        expect(await left.evaluate(() => host.getAccessToken())).not.toBe(token)
        expect(received()).toEqual(['before', 'of the user', 'of nobody'])
        expect(sessions()).toHaveLength(2)
      }),
  )
})

declare global {
  var rejections: string[]
}
