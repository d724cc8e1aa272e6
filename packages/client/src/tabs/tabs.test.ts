import type { Emulator } from '@aiagent/emulator'
import { eventually, turnEventLoop } from '@aiagent/test-support'
import { createConversationView } from '@aiagent/view'
import { describe, expect, it } from 'vitest'
import { CAPABILITIES, linesOf, setUpTabs as setUp } from '../../test/set-up-tabs.ts'
import { AiAgent } from '../ai-agent.ts'
import type { AiAgentConfig } from '../config.ts'

describe.each([
  ['the plain wire', []],
  ['receipts, resume and fencing', CAPABILITIES],
])('tabs that share a conversation, over %s', (_name, capabilities) => {
  const settings = { heartbeatBeforeReply: false, capabilities: [...capabilities] }

  it('[REL-61] have one session and one socket, and each shows what all said', async () => {
    const { emulator, connected } = setUp({ settings })
    const [one, two, three] = [await connected(), await connected(), await connected()]
    expect(emulator.world.sessions.size).toBe(1)
    await one.agent.send('from one')
    await eventually(() => linesOf(two).length === 2, 'the answer in the second tab')
    await two.agent.send('from two')
    await eventually(() => linesOf(three).length === 4 && linesOf(one).length === 4, 'all messages')
    const lines = ['sent from one', 'received You said: from one', 'sent from two', 'received You said: from two']
    for (const tab of [one, two, three]) expect(linesOf(tab)).toEqual(lines)
    const [session] = emulator.world.sessions.values()
    expect(session?.connections).toBe(1)
  })

  it.each(['close', 'crash'] as const)('[REL-62] hand the conversation over at the %s of the leader', async end => {
    const { emulator, browser, clock, connected } = setUp({ settings })
    const one = await connected()
    const two = await connected()
    await one.agent.send('before')
    await eventually(() => linesOf(two).length === 2, 'the answer')
    one.tab[end]()
    await clock.advance(300)
    expect(browser.locks.leader).toBe(two.tab)
    expect(two.agent.isConnected()).toBe(true)
    await two.agent.send('after')
    await eventually(() => linesOf(two).length === 4, 'the next answer')
    expect(linesOf(two).at(-1)).toBe('received You said: after')
    expect(emulator.world.sessions.size).toBe(1)
  })

  it('[REL-63] take the lock from a leader that is frozen, within five seconds', async () => {
    const { browser, clock, connected, passUntil } = setUp({ settings })
    const one = await connected()
    const two = await connected()
    one.tab.freeze()
    const frozenAt = clock.monotonic()
    await passUntil(() => browser.locks.leader === two.tab && two.agent.isConnected(), 'another leader')
    expect(clock.monotonic() - frozenAt).toBeLessThanOrEqual(5_000)
    await two.agent.send('meanwhile')
    await passUntil(() => linesOf(two).length === 2, 'the answer')
    one.tab.thaw()
    await passUntil(() => one.agent.isConnected() && linesOf(one).length === 2, 'the thawed tab')
    expect(browser.locks.leader).toBe(two.tab)
    await one.agent.send('again')
    await passUntil(() => linesOf(two).length === 4, 'the message of the thawed tab')
  })
})

describe('tabs that share a conversation', () => {
  const settings = { heartbeatBeforeReply: false, capabilities: [...CAPABILITIES] }

  it('[REL-64] send what a tab that crashed had queued, once', async () => {
    const { emulator, clock, open, connected, passUntil } = setUp({ settings: { ...settings, capabilities: [] } })
    const one = await connected()
    const two = await open()
    const id = await two.agent.send('queued')
    await clock.advance(10)
    expect(linesOf(one)).toEqual(['sent queued'])
    expect(one.agent.delivery(id)?.state).toBe('queued')
    two.tab.crash()
    await passUntil(() => linesOf(one).length === 2, 'the answer')
    const [session] = emulator.world.sessions.values()
    expect(session?.received.entries().filter(({ message }) => message?.content === 'queued')).toHaveLength(1)
  })

  it('[REL-64] report the delivery of a message in every tab', async () => {
    const { connected, passUntil } = setUp({ settings })
    const one = await connected()
    const two = await connected()
    const updates: string[] = []
    one.agent.on('deliveryUpdate', ({ payload }) => void updates.push(`${payload.id} ${payload.state}`))
    const id = await two.agent.send('hello')
    await passUntil(() => one.agent.delivery(id)?.state === 'acknowledged', 'the receipt')
    expect(updates).toEqual([`${id} sending`, `${id} sent`, `${id} acknowledged`])
  })

  it('[REL-63] keep their session when a tab is opened while the leader is frozen', async () => {
    const { emulator, browser, open, connected, passUntil } = setUp({ settings })
    const one = await connected()
    const two = await connected()
    one.tab.freeze()
    const opening = open({ autoConnect: true })
    await passUntil(() => browser.locks.leader !== one.tab && two.agent.isConnected(), 'another leader')
    const three = await opening
    await passUntil(() => three.agent.isConnected(), 'the new tab')
    await three.agent.send('from the new tab')
    await passUntil(() => linesOf(two).length === 2, 'the answer')
    expect(emulator.world.sessions.size).toBe(1)
  })

  it('[REL-64] tell every tab what became of the message of a tab that crashed', async () => {
    const { emulator, connected, passUntil } = setUp({ settings: { ...settings, capabilities: [] } })
    const [one, two, three] = [await connected(), await connected(), await connected()]
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    const id = await two.agent.send('sent')
    await passUntil(() => three.agent.delivery(id)?.state === 'sent', 'the message in the third tab')
    two.tab.crash()
    await passUntil(() => one.agent.delivery(id)?.state === 'unknown', 'the outcome in the leader')
    await passUntil(() => three.agent.delivery(id)?.state === 'unknown', 'the outcome in the third tab')
    expect(three.agent.delivery(id)?.reason).toBe('page_ended')
  })

  it('[REL-64] settle what a tab that crashed has sent in an earlier session', async () => {
    const { connected, passUntil } = setUp({ settings })
    const [one, two, three] = [await connected(), await connected(), await connected()]
    const id = await two.agent.send('sent')
    const restarting = one.agent.restartConnection()
    await turnEventLoop()
    two.tab.crash()
    await restarting
    const states = () => [one, three].map(({ agent }) => agent.delivery(id)?.state ?? 'sent')
    await passUntil(() => states().every(state => !['queued', 'sent'].includes(state)), 'an outcome')
    expect(states()).toEqual(['unknown', 'unknown'])
  })

  it.each(['logout', 'destroy'] as const)('[REL-64] settle what another tab has sent at %s()', async end => {
    const { clock, open } = setUp({ settings })
    const one = await open()
    const two = await open()
    const id = await two.agent.send('queued')
    await clock.advance(10)
    const outcomes: string[] = []
    void one.agent.delivery(id)?.outcome.then(outcome => outcomes.push(outcome))
    // What happens in the other tab is not reported any more.
    two.tab.freeze()
    await one.agent[end]()
    await eventually(() => outcomes.length === 1, 'the outcome')
    expect(outcomes).toEqual(['unknown'])
  })

  it('[REL-65] ask one question at a time, and each tab gets its own answer', async () => {
    const { clock, connected } = setUp({ settings })
    const tabs = [await connected(), await connected(), await connected()]
    const answers = Promise.all(tabs.map(({ agent }, index) => agent.ask(`question ${index}`)))
    let isDone = false
    void answers.then(() => (isDone = true))
    for (let turn = 0; !isDone && turn < 200; turn++) await clock.advance(50)
    expect((await answers).map(({ content }) => content)).toEqual([0, 1, 2].map(n => `You said: question ${n}`))
  })

  it('[REL-66] share the context', async () => {
    const { open, clock } = setUp({ settings })
    const one = await open()
    const two = await open()
    await two.agent.setContext({ plan: 'gold' })
    await clock.advance(10)
    expect(one.agent.getContext()).toEqual({ plan: 'gold' })
    const three = await open()
    await clock.advance(10)
    expect(three.agent.getContext()).toEqual({ plan: 'gold' })
  })

  it('[REL-66] count a message as read in all tabs once it is read in one', async () => {
    const { connected, clock } = setUp({ settings })
    const tabs = [await connected(), await connected(), await connected()]
    const views = tabs.map(({ agent }) => createConversationView(agent))
    const unread = () => views.map(view => view.getSnapshot().unread)
    await views[0]?.send('one')
    await eventually(() => unread().every(count => count === 1), 'the answer in each tab')
    views[2]?.markRead()
    await eventually(() => unread().every(count => count === 0), 'no unread message in any tab')
    await views[1]?.send('two')
    await eventually(() => unread().every(count => count === 1), 'the next answer in each tab')
    // The reader has not seen the second answer.
    const [channel] = tabs[0]?.tab.channels ?? []
    const [first] = tabs[0]?.agent.getTranscript().filter(({ direction }) => direction === 'received') ?? []
    const message = { kind: 'read', messageId: first?.message.messageId }
    channel?.onmessage?.({ data: { from: 'x', number: 1, message } } as never)
    channel?.onmessage?.({ data: { from: 'x', number: 2, message: { ...message, messageId: 'none' } } } as never)
    await clock.advance(10)
    expect(unread()).toEqual([1, 1, 1])
    for (const view of views) await view.destroy()
  })

  it('[REL-66] move together into the session of a restart', async () => {
    const { emulator, connected, passUntil } = setUp({ settings })
    const one = await connected()
    const two = await connected()
    await one.agent.send('old')
    await passUntil(() => linesOf(two).length === 2, 'the answer')
    await two.agent.restartConnection()
    await passUntil(() => one.agent.isConnected() && linesOf(one).length === 0, 'the new session')
    await one.agent.send('new')
    await passUntil(() => linesOf(two).length === 2 && linesOf(one).length === 2, 'the answer in the new session')
    expect(emulator.world.sessions.size).toBe(2)
  })

  it('[REL-67] sign out together, and leave nothing', async () => {
    const { clock, connected, passUntil } = setUp({ settings })
    const one = await connected()
    const two = await connected()
    await one.agent.setContext({ plan: 'gold' })
    await two.agent.send('secret')
    await passUntil(() => linesOf(one).length === 2, 'the answer')
    const changed: string[] = []
    two.agent.on('userChanged', () => void changed.push('userChanged'))
    await one.agent.logout()
    await clock.advance(200)
    for (const { agent } of [one, two]) {
      expect(agent.getTranscript()).toEqual([])
      expect(agent.getContext()).toBeNull()
      expect(agent.getIsInitialized()).toBe(false)
    }
    expect(changed).toEqual(['userChanged'])
  })

  it('[REL-68] keep the socket open as long as one tab is connected', async () => {
    const { emulator, connected, clock } = setUp({ settings })
    const one = await connected()
    const two = await connected()
    const [session] = emulator.world.sessions.values()
    await one.agent.disconnect()
    await clock.advance(200)
    expect(one.agent.isConnected()).toBe(false)
    expect(two.agent.isConnected()).toBe(true)
    emulator.control.pushFrame(session?.id ?? '', '{}')
    await two.agent.disconnect()
    await clock.advance(200)
    expect(() => emulator.control.pushFrame(session?.id ?? '', '{}')).toThrow()
  })

  it('[REL-69] ignore what is not a message of another tab', async () => {
    const { connected, browser, clock } = setUp({ settings })
    const one = await connected()
    const [channel] = one.tab.channels
    for (const data of [
      'left',
      { from: 'x', number: 1, message: { kind: 'said', message: { id: 1 } } },
      { from: 'x', number: 2, message: { kind: 'constructor' } },
      { from: 'x', number: 3, message: { kind: 'frame', socket: 1, text: '{"persona":"agent","role":"x"}' } },
      { from: 'x', to: 'y', number: 4, message: { kind: 'left' } },
      { from: 'x', message: { kind: 'left' } },
      { from: 'x', number: '1', message: { kind: 'left' } },
      { from: 'x', number: 1.5, message: { kind: 'left' } },
      { from: 'x', number: Number.NaN, message: { kind: 'left' } },
    ])
      channel?.onmessage?.({ data } as never)
    await clock.advance(10)
    expect(linesOf(one)).toEqual([])
    expect(one.agent.isConnected()).toBe(true)
    expect(browser.tabs.size).toBe(1)
  })

  it('[REL-69] take no unknown state or reason of a delivery', async () => {
    const { connected, clock } = setUp({ settings })
    const { agent, tab } = await connected()
    const updates: unknown[] = []
    agent.on('deliveryUpdate', ({ payload }) => void updates.push(payload))
    const [channel] = tab.channels
    let count = 0
    const receive = (message: object) =>
      channel?.onmessage?.({ data: { from: 'x', number: ++count, message } } as never)
    for (const id of ['a', 'b']) {
      const said = { id, persona: 'customer', role: 'human', content: 'Hello', timestamp: clock.now() }
      receive({ kind: 'said', message: said })
    }
    const failed = { kind: 'delivery', state: 'failed', previousState: 'queued' }
    receive({ ...failed, id: 'a', reason: 'nothing known' })
    receive({ ...failed, id: 'b', reason: 'refused' })
    receive({ ...failed, id: 'b', state: 'nothing known' })
    await clock.advance(10)
    expect(updates).toEqual([{ id: 'b', state: 'failed', previousState: 'queued', reason: 'refused' }])
    expect(agent.delivery('a')).toMatchObject({ state: 'queued', reason: undefined })
  })

  it('[REL-69] have no session id or token in the names of channels and locks', async () => {
    const { connected, browser, emulator } = setUp({ settings })
    await connected()
    const names = (await browser.locks.query()).held.map(({ name }) => name).join(' ')
    const [id = 'none'] = emulator.world.sessions.keys()
    expect(names).toContain('aiagent-tabs-')
    expect(names).not.toContain(id)
  })

  describe('of a signed-in user', () => {
    const signIn = (emulator: Emulator, subject = 'ann') => emulator.control.issueToken({ subject })
    const userConfig = (accessToken: string): Partial<AiAgentConfig> => ({
      id: 'account',
      auth: { type: 'pre-auth', accessToken },
    })
    const tokensIn = (emulator: Emulator) =>
      [...emulator.world.sessions.values()].flatMap(({ received }) =>
        received
          .entries()
          .flatMap(({ message }) => (message?.role === 'token' ? [message.messageData?.['token']] : [])),
      )

    it('[REL-61] send the token once, and use a new one of any tab in all', async () => {
      const { emulator, clock, connected, passUntil } = setUp({ settings })
      const first = signIn(emulator)
      const one = await connected(userConfig(first))
      const two = await connected(userConfig(first))
      expect(tokensIn(emulator)).toEqual([first])
      await clock.advance(2_000)
      const second = signIn(emulator)
      await two.agent.updateAccessToken(second)
      await passUntil(() => tokensIn(emulator).length > 1, 'the new token')
      expect(tokensIn(emulator)).toEqual([first, second])
      expect(await one.agent.getAccessToken()).toBe(second)
    })

    it('[REL-67] leave the conversation together when the user changes in one tab', async () => {
      const { emulator, clock, connected, passUntil } = setUp({ settings })
      const token = signIn(emulator)
      const one = await connected(userConfig(token))
      const two = await connected(userConfig(token))
      const changed: string[] = []
      for (const [name, { agent }] of Object.entries({ one, two }))
        agent.on('userChanged', () => void changed.push(name))
      await two.agent.send('of ann')
      await passUntil(() => linesOf(one).length === 2, 'the answer')
      const before = emulator.world.sessions.size
      await two.agent.updateAccessToken(signIn(emulator, 'bob'))
      await clock.advance(500)
      expect(changed.toSorted()).toEqual(['one', 'two'])
      for (const { agent } of [one, two]) expect(agent.getTranscript()).toEqual([])
      await two.agent.initialize()
      await two.agent.connect()
      expect(emulator.world.sessions.size).toBe(before + 1)
      await clock.advance(500)
      expect(linesOf(one)).toEqual([])
      expect(one.agent.isConnected()).toBe(false)
    })
  })

  it('[REL-68] have separate conversations in a browser without Web Locks, and say so', async () => {
    const { clock, emulator, browser } = setUp({ settings })
    const open = async () => {
      const { environment } = browser.open()
      const window = Object.assign(environment.page?.window as object, { navigator: {} })
      const logged: unknown[] = []
      const console = { debug() {}, info() {}, warn: (...parts: unknown[]) => void logged.push(...parts), error() {} }
      const agent = new AiAgent(
        { id: 'help', endpoint: emulator.origin, tabs: 'share' },
        { ...environment, console, page: Object.assign(environment.page as object, { window }) as never },
      )
      await agent.initialize()
      await agent.connect()
      return { agent, logged }
    }
    const one = await open()
    const two = await open()
    await one.agent.send('hello')
    await clock.advance(100)
    expect(linesOf(one)).toHaveLength(2)
    expect(linesOf(two)).toHaveLength(0)
    expect(emulator.world.sessions.size).toBe(2)
    expect(one.logged.join(' ')).toContain('`tabs` has no effect')
  })
})
