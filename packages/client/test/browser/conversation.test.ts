import { eventually } from '@aiagent/test-support'
import { expect, it } from 'vitest'
import { describeInPages, makeHost, openHost, requestLines, said } from './client-page.ts'

describeInPages('the client in a page', at => {
  const sessionPosts = () =>
    at.stage.service.emulator.control
      .requests()
      .flatMap(({ method, path, body }) =>
        method === 'POST' && path.endsWith('/session') ? [JSON.parse(body ?? '')] : [],
      )

  it('has a conversation over the native WebSocket, from the first call to the graceful disconnect', async () => {
    const page = await openHost(at.context, at.stage)
    const sockets: string[] = []
    page.on('websocket', socket => sockets.push(socket.url()))
    await page.evaluate(() => host.open())
    expect(await page.evaluate(() => host.getState())).toBe('CONNECTED')
    await page.evaluate(() => host.sendAll(['one', 'two']))
    await page.waitForFunction(() => host.answers().length === 2)
    expect(await page.evaluate(() => host.answers())).toEqual(['You said: one', 'You said: two'])
    await page.evaluate(() => host.disconnect())
    expect(await page.evaluate(() => host.of('closed'))).toMatchObject([{ code: 1000, willReconnect: false }])
    expect(await page.evaluate(() => host.of('error'))).toEqual([])
    expect(sockets).toHaveLength(1)
    expect(sockets[0]).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/\?sessionId=/)
  })

  it('[FLOW-08] keeps the context over a reload, and creates the next session with it', async () => {
    const page = await openHost(at.context, at.stage, { context: { plan: 'gold' } })
    await page.evaluate(() => host.open())
    await page.evaluate(() => host.setContext({ age: 41 }))
    await page.reload()
    await makeHost(page, at.stage)
    await page.waitForFunction(() => host.getContext() !== null)
    expect(await page.evaluate(() => host.getContext())).toEqual({ plan: 'gold', age: 41 })
    await page.evaluate(() => host.initialize())
    expect(sessionPosts()).toEqual([{ context: { plan: 'gold' } }, { context: { plan: 'gold', age: 41 } }])
    // Another tab has its own context.
    const other = await openHost(at.context, at.stage)
    expect(await other.evaluate(() => host.getContext())).toBeNull()
  })

  it('uses deployment info, agent details and the anonymous token again after a reload', async () => {
    const page = await openHost(at.context, at.stage)
    await page.evaluate(() => host.open())
    const before = requestLines(at.stage)
    expect(before).toHaveLength(7)
    // One for the agent details, and one with the scopes of an agent for customers.
    expect(before.filter(line => line.includes('token'))).toHaveLength(2)
    await page.reload()
    await makeHost(page, at.stage)
    await page.evaluate(() => host.open())
    expect(requestLines(at.stage).slice(before.length)).toEqual([expect.stringMatching(/^POST .*\/session$/), 'GET /'])
  })

  it('reconnects after a drop (1006) and sends queued messages in order', async () => {
    // The wait is longer than the test; it is ended once everything is queued.
    const page = await openHost(at.context, at.stage, { baseReconnectDelay: 60_000, maxReconnectDelay: 60_000 })
    await page.evaluate(() => host.open())
    at.stage.service.emulator.control.dropSockets()
    await page.waitForFunction(() => host.getState() === 'RECONNECTING')
    const texts = Array.from({ length: 40 }, (_, index) => `message ${index}`)
    await page.evaluate(all => host.sendAll(all), texts)
    expect(await page.evaluate(() => host.getQueueSize())).toBe(40)
    await page.evaluate(() => host.connect())
    await page.waitForFunction(() => host.of('queueFlushed').length > 0)
    await eventually(() => said(at.stage).length === 40)
    expect(said(at.stage)).toEqual(texts)
    expect(await page.evaluate(() => host.of('closed'))).toMatchObject([{ code: 1006, willReconnect: true }])
    expect(await page.evaluate(() => host.of('queueFlushed'))).toEqual([{ count: 40 }])
  })

  it('replaces a session that the service refuses with close code 4404', async () => {
    const page = await openHost(at.context, at.stage, {
      context: { plan: 'gold' },
      baseReconnectDelay: 1,
      maxReconnectDelay: 1,
    })
    await page.evaluate(() => host.open())
    const { control, settings } = at.stage.service.emulator
    settings.unknownSession = 'close-4404'
    const openings = () =>
      control.requests().flatMap(({ status, query }) => (status === 101 ? [query['sessionId'] ?? ''] : []))
    const [lost = ''] = openings()
    // The connection breaks first, so that the next connection is refused: it opens, is closed, and a new session follows.
    control.dropSockets()
    control.forgetSession(lost)
    await page.waitForFunction(() => host.of('connected').length === 3)
    await page.evaluate(() => host.send('hello again'))
    await page.waitForFunction(() => host.answers().length > 0)
    expect(openings().at(-1)).not.toBe(lost)
    expect(await page.evaluate(() => host.of('error').length)).toBe(1)
    expect(sessionPosts()).toEqual([{ context: { plan: 'gold' } }, { context: { plan: 'gold' } }])
  })
})
