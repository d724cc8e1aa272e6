import type { AiAgentConfig } from '@aiagent/client'
import { describeInEngines, type EnginePage } from '@aiagent/test-support/engines'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { bundleHost, openStage, type Stage, said } from '../browser/client-page.ts'

const CARD = '4111 1111 1111 1111'

describeInEngines('the client in a page', at => {
  let bundle = ''
  let stage: Stage
  beforeAll(async () => {
    bundle = await bundleHost()
  })
  beforeEach(async () => {
    stage = await openStage(bundle)
  })
  afterEach(() => stage.close())

  const control = () => stage.service.emulator.control
  const sessionCalls = () =>
    control()
      .requests()
      .filter(({ method, path }) => method === 'POST' && path.endsWith('/session')).length
  /** Texts of the user that the service has received, in all sessions. */
  const received = () =>
    [...stage.service.emulator.world.sessions.keys()].flatMap(id =>
      control()
        .frames(id)
        .flatMap(({ message }) => (message?.role === 'human' ? [message.content] : [])),
    )
  const makeHost = async (page: EnginePage, config: Partial<AiAgentConfig>) => {
    const full: AiAgentConfig = { id: 'help', endpoint: stage.service.url, ...config }
    await page.evaluate(given => {
      globalThis.host = globalThis.createHost(given)
    }, full)
  }
  const openHost = async (config: Partial<AiAgentConfig> = {}) => {
    const page = await at.engine.newPage()
    await page.goto(stage.pages.url)
    await makeHost(page, config)
    return page
  }
  const reload = async (page: EnginePage, config: Partial<AiAgentConfig>) => {
    await page.reload()
    await makeHost(page, config)
  }
  const untilAnswered = (page: EnginePage, count: number) =>
    page.waitFor(wanted => host.answers().length === wanted, count)

  it('has a conversation from the first call to the graceful disconnect', async () => {
    const page = await openHost()
    await page.evaluate(() => host.open())
    await page.evaluate(() => host.sendAll(['one', 'two']))
    await untilAnswered(page, 2)
    expect(await page.evaluate(() => host.answers())).toEqual(['You said: one', 'You said: two'])
    await page.evaluate(() => host.disconnect())
    expect(await page.evaluate(() => host.of('closed'))).toMatchObject([{ code: 1000, willReconnect: false }])
    expect(await page.evaluate(() => host.of('error'))).toEqual([])
  })

  it('reconnects after a drop (1006) and sends queued messages in order', async () => {
    const page = await openHost({ baseReconnectDelay: 60_000, maxReconnectDelay: 60_000 })
    await page.evaluate(() => host.open())
    control().dropSockets()
    await page.waitFor(() => host.getState() === 'RECONNECTING')
    const texts = Array.from({ length: 40 }, (_, index) => `message ${index}`)
    await page.evaluate(all => host.sendAll(all), texts)
    expect(await page.evaluate(() => host.getQueueSize())).toBe(40)
    await page.evaluate(() => host.connect())
    await expect.poll(() => said(stage)).toEqual(texts)
    expect(await page.evaluate(() => host.of('closed'))).toMatchObject([{ code: 1006, willReconnect: true }])
  })

  it('connects again by itself after a drop', async () => {
    const page = await openHost({ baseReconnectDelay: 20 })
    await page.evaluate(() => host.open())
    control().dropSockets()
    await page.waitFor(() => host.of('connected').length === 2)
    await page.evaluate(() => host.send('again'))
    await untilAnswered(page, 1)
    expect(received()).toEqual(['again'])
  })

  it('[FLOW-08] keeps conversation, transcript and context over a reload, in one session', async () => {
    const config = { resume: true, context: { plan: 'gold' } }
    const page = await openHost(config)
    await page.evaluate(() => host.open())
    await page.evaluate(() => host.send('one'))
    await untilAnswered(page, 1)
    await reload(page, { resume: true })
    await page.evaluate(() => host.open())
    expect(await page.evaluate(() => host.talk())).toEqual(['sent: one', 'received: You said: one'])
    expect(await page.evaluate(() => host.getContext())).toEqual({ plan: 'gold' })
    await page.evaluate(() => host.send('two'))
    await untilAnswered(page, 1)
    expect(received()).toEqual(['one', 'two'])
    expect(sessionCalls()).toBe(1)
  })

  it('[REL-88] sends three messages that were queued offline exactly once after a reload', async () => {
    const config = { persistQueue: true, baseReconnectDelay: 20, maxReconnectDelay: 50 }
    const { faults } = stage.service.emulator
    const texts = ['one', 'two', 'three']
    const page = await openHost(config)
    await page.evaluate(() => host.open())
    faults.add({ kind: 'refuse-upgrade', status: 503 })
    control().dropSockets()
    await page.waitFor(() => host.getState() !== 'CONNECTED')
    await page.evaluate(given => host.sendAll(given), texts)
    await page.waitFor(countStored, 3)
    await reload(page, config)
    faults.lift()
    await page.evaluate(() => host.open())
    await expect.poll(received).toEqual(texts)
    await page.waitFor(countStored, 0)
    await reload(page, config)
    await page.evaluate(() => host.open())
    await page.evaluate(() => host.send('four'))
    await untilAnswered(page, 1)
    expect(received()).toEqual([...texts, 'four'])
  })

  it('[REL-61] [REL-67] shares a conversation between tabs, goes on when the leader is closed, and signs out in all', async () => {
    const config = { tabs: 'share', resume: true, autoConnect: true, baseReconnectDelay: 20 } as const
    const { settings, world } = stage.service.emulator
    Object.assign(settings, { capabilities: ['receipts', 'resume', 'fencing'], heartbeatBeforeReply: false })
    const openTab = async () => {
      const page = await openHost(config)
      await page.evaluate(() => host.initialize())
      await page.waitFor(() => host.getState() === 'CONNECTED')
      return page
    }
    const leader = await openTab()
    const others = [await openTab(), await openTab()] as const
    const untilTalk = async (pages: readonly EnginePage[], count: number) => {
      for (const page of pages) await page.waitFor(wanted => host.talk().length === wanted, count)
    }
    for (const page of [leader, ...others]) await page.evaluate(() => host.send('hello'))
    await untilTalk([leader, ...others], 6)
    const [session] = world.sessions.values()
    expect([world.sessions.size, session?.connections]).toEqual([1, 1])
    await leader.close()
    await others[0].evaluate(() => host.sendAll(['a', 'b']))
    await untilTalk(others, 10)
    await reload(others[1], config)
    await others[1].evaluate(() => host.initialize())
    await untilTalk(others, 10)
    expect(received()).toEqual(['hello', 'hello', 'hello', 'a', 'b'])
    expect(world.sessions.size).toBe(1)
    await others[1].evaluate(() => host.logout())
    await untilTalk(others, 0)
  })

  it('[FLOW-19] has no unmasked user text in any frame, request, store or event', async () => {
    const page = await openHost({ id: 'billing' })
    await page.evaluate(text => host.send(text), `held ${CARD}`)
    await page.evaluate(() => host.open())
    await page.evaluate(text => host.send(text), `sent ${CARD}`)
    const masked = ['held ***************1111', 'sent ***************1111']
    await expect.poll(received).toEqual(masked)
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...sessionStorage }, { ...localStorage }, host.getTranscript(), host.of('transcriptUpdate')]),
    )
    expect(kept).toContain('***************1111')
    expect(JSON.stringify([kept, control().requests()])).not.toContain(CARD)
  })
})

/** Runs in the page: whether the database has that many stored messages. */
async function countStored(wanted: number): Promise<boolean> {
  const answer = <Result>(request: IDBRequest<Result>) =>
    new Promise<Result>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  const database = await answer(indexedDB.open('aiagent'))
  const all = database.transaction('entries').objectStore('entries').getAll()
  const entries = (await answer(all)) as { value: { left?: unknown[] } }[]
  database.close()
  return entries.flatMap(({ value }) => value.left ?? []).length === wanted
}
