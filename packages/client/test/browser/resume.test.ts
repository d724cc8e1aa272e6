import type { AiAgentConfig } from '@aiagent/client'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInPages, makeHost, openHost } from './client-page.ts'

const CONFIG: Partial<AiAgentConfig> = { resume: true, context: { plan: 'gold' } }

describeInPages('a conversation that survives a reload, in a page', at => {
  const requests = () => at.stage.service.emulator.control.requests()
  /** Session ids of the chat connections. */
  const openings = () => requests().flatMap(({ status, query }) => (status === 101 ? [query['sessionId'] ?? ''] : []))
  const posts = () => requests().filter(({ method, path }) => method === 'POST' && path.endsWith('/session')).length
  const say = async (page: Page, text: string) => {
    const before = await page.evaluate(() => host.answers().length)
    await page.evaluate(said => host.send(said), text)
    await page.waitForFunction(count => host.answers().length > count, before)
  }
  /** Reopens the chat of a page after a reload, crash or return. */
  const reopen = async (page: Page, config: Partial<AiAgentConfig> = CONFIG) => {
    await makeHost(page, at.stage, config)
    await page.evaluate(() => host.open())
  }
  const openedPage = async () => {
    const page = await openHost(at.context, at.stage, CONFIG)
    await page.evaluate(() => host.open())
    return page
  }

  it('keeps conversation and transcript over reloads', async () => {
    const page = await openedPage()
    await say(page, 'one')
    for (const text of ['two', 'three']) {
      const talk = await page.evaluate(() => host.talk())
      await page.reload()
      await makeHost(page, at.stage, CONFIG)
      await page.evaluate(() => host.initialize())
      expect([posts(), await page.evaluate(() => host.of('error'))]).toEqual([1, []])
      expect(await page.evaluate(() => host.talk())).toEqual(talk)
      expect(await page.evaluate(() => host.of('transcriptRestored').length)).toBe(1)
      await page.evaluate(() => host.connect())
      await say(page, text)
    }
    expect(await page.evaluate(() => host.talk())).toEqual(
      ['one', 'two', 'three'].flatMap(text => [`sent: ${text}`, `received: You said: ${text}`]),
    )
    expect(new Set(openings()).size).toBe(1)
    expect(posts()).toBe(1)
    expect(await page.evaluate(() => host.of('error'))).toEqual([])
  })

  it('lets a tab that the page opens inherit token and context, but not the session', async () => {
    const page = await openedPage()
    await say(page, 'one')
    const tokens = () => requests().filter(({ path }) => path.includes('token')).length
    const before = tokens()
    const opening = at.context.waitForEvent('page')
    await page.evaluate(() => void window.open(location.href))
    const copy = await opening
    await copy.waitForLoadState()
    expect(await copy.evaluate(() => Object.keys(sessionStorage).some(key => key.includes('_session_')))).toBe(true)
    await reopen(copy, { resume: true })
    expect(await copy.evaluate(() => [host.talk(), host.getContext()])).toEqual([[], { plan: 'gold' }])
    expect(tokens()).toBe(before)
    const [first, second] = openings()
    expect(second).not.toBe(first)
    // The opening page is not disconnected, and both continue in their own session.
    await say(page, 'still here')
    await say(copy, 'here too')
    for (const tab of [page, copy]) {
      await tab.reload()
      await reopen(tab)
    }
    expect(openings().slice(2)).toEqual([first, second])
    expect(await copy.evaluate(() => host.talk())).toEqual(['sent: here too', 'received: You said: here too'])
  })

  it('continues after a page that ended without events, as after a crash', async () => {
    const page = await at.context.newPage()
    await page.goto(at.stage.pages.url)
    await page.evaluate(() => addEventListener('pagehide', event => event.stopImmediatePropagation(), true))
    await reopen(page)
    await say(page, 'one')
    await page.reload()
    const holders = await page.evaluate(() =>
      Object.entries(sessionStorage).flatMap(([key, text]) =>
        key.includes('_session_') ? [JSON.parse(text).value.holder] : [],
      ),
    )
    expect(holders).toEqual([expect.any(String)])
    await reopen(page)
    expect(new Set(openings()).size).toBe(1)
    expect(await page.evaluate(() => host.talk())).toEqual(['sent: one', 'received: You said: one'])
  })

  it('takes its session back when it is shown from the back/forward cache', async () => {
    const page = await openedPage()
    const held = () =>
      page.evaluate(() =>
        Object.entries(sessionStorage).flatMap(([key, text]) =>
          key.includes('_session_') ? [JSON.parse(text).value.holder !== undefined] : [],
        ),
      )
    expect(await held()).toEqual([true])
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })))
    await expect.poll(held).toEqual([false])
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await expect.poll(held).toEqual([true])
  })

  it.each(['forgetSession', 'endSession'] as const)('reports a lost session and starts a new one (%s)', async lose => {
    const page = await openedPage()
    await say(page, 'one')
    await page.goto('about:blank')
    const [lost = ''] = openings()
    at.stage.service.emulator.control[lose](lost)
    await page.goto(at.stage.pages.url)
    await reopen(page)
    expect(await page.evaluate(() => host.of('error').length)).toBe(1)
    expect(openings().at(-1)).not.toBe(lost)
    await say(page, 'two')
    expect(await page.evaluate(() => host.talk())).toEqual(['sent: two', 'received: You said: two'])
    expect(posts()).toBe(2)
  })

  it('checks its session when the chat refuses it without a reason', async () => {
    const page = await openedPage()
    await say(page, 'one')
    await page.reload()
    const config = { ...CONFIG, baseReconnectDelay: 1, maxReconnectDelay: 1 }
    await makeHost(page, at.stage, config)
    await page.evaluate(() => host.initialize())
    const [lost = ''] = openings()
    at.stage.service.emulator.control.forgetSession(lost)
    expect(await page.evaluate(() => host.connectOutcome())).toBe('CONNECTION_ERROR refused')
    await page.waitForFunction(() => host.getState() === 'CONNECTED')
    expect(openings().at(-1)).not.toBe(lost)
  })

  it('continues in an agent that replaces a destroyed one', async () => {
    const page = await openedPage()
    await say(page, 'one')
    await page.evaluate(() => host.destroy())
    await reopen(page)
    expect(new Set(openings()).size).toBe(1)
    expect(await page.evaluate(() => host.talk())).toEqual(['sent: one', 'received: You said: one'])
  })
})
