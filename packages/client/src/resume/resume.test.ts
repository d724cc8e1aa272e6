import { paths } from '@aiagent/protocol'
import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, payloadsOf, requestsTo, sentTo } from '../../test/agent-harness.ts'
import { linesOf, setUpTab } from '../../test/resume-harness.ts'

describe('the transcript, after a reload', () => {
  it('contains each message once, without a request for a session', async () => {
    const { emulator, load, talk, talkAndLeave } = setUpTab()
    const session = await talkAndLeave('one', 'two')
    const asked = requestsTo(emulator).length

    const { agent, told } = load()
    await agent.initialize()
    expect(linesOf(agent)).toEqual(['sent: one', 'received: You said: one', 'sent: two', 'received: You said: two'])
    expect(payloadsOf(told, 'transcriptRestored')).toEqual([{ entries: agent.getTranscript() }])
    expect(payloadsOf(told, 'transcriptUpdate')).toEqual([])
    await agent.connect()
    await talk({ agent, told }, 'three')
    expect(linesOf(agent).slice(4)).toEqual(['sent: three', 'received: You said: three'])
    expect(payloadsOf(told, 'transcriptRestored')).toHaveLength(1)
    expect(requestsTo(emulator).slice(asked)).toEqual([`GET ${session}`, 'GET '])
    expect(sentTo(emulator, session)).toEqual(['one', 'two', 'three'])
    expect(payloadsOf(told, 'error')).toEqual([])
  })

  it('has its own times, session and agent', async () => {
    const { clock, load, open, talk, session } = setUpTab()
    const before = await open()
    await clock.advance(1_000)
    await talk(before, 'one')
    const times = before.agent.getTranscript().map(({ timestamp }) => timestamp)
    await before.agent.destroy()
    await clock.advance(60_000)
    const { agent } = load()
    await agent.initialize()
    expect(agent.getTranscript().map(({ timestamp }) => timestamp)).toEqual(times)
    for (const entry of agent.getTranscript()) expect(entry).toMatchObject({ sessionId: session(), agentId: 'help' })
  })

  it('[SEC-37] has ids that are the same after each reload and do not contain the session id', async () => {
    const { load, talkAndLeave, session } = setUpTab()
    await talkAndLeave('one', 'two')
    const idsOf = async () => {
      const { agent } = load()
      await agent.initialize()
      const ids = agent.getTranscript().flatMap(({ id, message }) => [id, message.messageId])
      await agent.destroy()
      return ids
    }
    const ids = await idsOf()
    expect(await idsOf()).toEqual(ids)
    expect(ids).toHaveLength(8)
    for (const id of ids) expect(id).not.toContain(session())
  })

  it('is placed before messages from before initialize()', async () => {
    const { load, talkAndLeave } = setUpTab()
    await talkAndLeave('one')
    const { agent } = load()
    await agent.send('two')
    await agent.initialize()
    expect(linesOf(agent)).toEqual(['sent: one', 'received: You said: one', 'sent: two'])
  })

  it('has the newest 5,000 messages of a longer one', async () => {
    const settings = { heartbeatBeforeReply: false, historyLimit: 6_000 }
    const { clock, load, talkAndLeave, emulator } = setUpTab({}, { settings })
    const session = await talkAndLeave('one')
    for (let n = 1; n <= 5_000; n++)
      emulator.world.sessions.get(session)?.history.add({
        messageId: `n-${n}`,
        persona: 'agent',
        role: 'customer support agent',
        content: `number ${n}`,
        timestamp: clock.now() + n,
      })
    const { agent } = load({ transcriptConfig: { maxEntries: Number.POSITIVE_INFINITY } })
    await agent.initialize()
    const lines = linesOf(agent)
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([5_000, 'received: number 1', 'received: number 5000'])
    await agent.destroy()
  })

  it('is completed from the chat with messages after the call', async () => {
    const { clock, load, open, emulator } = setUpTab()
    emulator.settings.replyDelayMs = 100
    const before = await open()
    await before.agent.send('one')
    await eventually(() => sentTo(emulator).length)
    await before.agent.destroy()
    const { agent, told } = load()
    await agent.initialize()
    expect(linesOf(agent)).toEqual(['sent: one'])
    await agent.send('two')
    await clock.advance(100)
    await agent.connect()
    await eventually(() => payloadsOf(told, 'transcriptRestored').length === 2)
    expect(linesOf(agent)).toEqual(['sent: one', 'received: You said: one', 'sent: two'])
    expect(payloadsOf(told, 'transcriptRestored').map(({ entries }) => entries.length)).toEqual([1, 1])
  })

  it.each([
    ['sends no history', {}],
    ['sends no history, and announces receipts', { capabilities: ['receipts'] }],
    ['sends no history, and numbers its frames', { capabilities: ['receipts', 'resume'] }],
  ] as const)('[OWN-30] includes messages sent before the chat opened when the service %s', async (_case, settings) => {
    const { clock, emulator, load, session, talkAndLeave } = setUpTab(
      {},
      { settings: { heartbeatBeforeReply: false, sendHistory: false, ...settings } },
    )
    await talkAndLeave('one')
    const { agent, told } = load()
    await agent.initialize()
    for (const content of ['late', 'later']) emulator.control.say(session(), { content })
    await passing(clock, agent.connect())
    const asked = agent.ask('two')
    await clock.advance(5_000)
    expect((await asked).content).toBe('You said: two')
    expect(linesOf(agent)).toEqual([
      'sent: one',
      'received: You said: one',
      'received: late',
      'received: later',
      'sent: two',
      'received: You said: two',
    ])
    expect(payloadsOf(told, 'messagesRecovered')).toEqual([])
    await agent.destroy()
    expect(clock.pendingTimers).toBe(0)
  })

  it('is not extended again by a history after a reconnect', async () => {
    const { clock, emulator, open, talk, talkAndLeave } = setUpTab({ baseReconnectDelay: 1, maxReconnectDelay: 1 })
    await talkAndLeave('one')
    const { agent, told } = await open()
    await talk({ agent, told }, 'two')
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await clock.advance(1)
    await eventually(() => payloadsOf(told, 'chatHistory').length === 2)
    expect(linesOf(agent)).toEqual(['sent: one', 'received: You said: one', 'sent: two', 'received: You said: two'])
  })

  it.each([-10, 10])('contains each message once where the clock of the device is %i minutes off', async minutes => {
    const { clock, emulator, open, talk, talkAndLeave, session } = setUpTab(
      { baseReconnectDelay: 1, maxReconnectDelay: 1 },
      { settings: { heartbeatBeforeReply: false, sendHistory: false } },
    )
    await talkAndLeave('yes')
    const now = () => clock.now() + minutes * 60_000
    const { agent, told } = await open({}, { clock: { ...clock, now } })
    await talk({ agent, told }, 'yes')
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await clock.advance(1)
    // Where the service sends no history, the transcript is requested once more.
    const askedTwice = () => requestsTo(emulator).filter(each => each === `GET ${session()}`).length === 2
    for (let step = 0; step < 100 && !askedTwice(); step++) await clock.advance(100)
    expect(askedTwice()).toBe(true)
    await turnEventLoop(20)
    expect(linesOf(agent)).toEqual(['sent: yes', 'received: You said: yes', 'sent: yes', 'received: You said: yes'])
  })

  it('comes from the chat alone if the call fails, which is only a warning', async () => {
    const { load, talkAndLeave, emulator, printed, session } = setUpTab()
    const first = await talkAndLeave('one')
    emulator.faults.add({ kind: 'answer', route: paths.previousTranscript('help', first), status: 500 })
    const { agent, told } = load()
    await agent.initialize()
    expect(agent.getTranscriptSize()).toBe(0)
    await agent.connect()
    await eventually(() => payloadsOf(told, 'transcriptRestored').length)
    expect(linesOf(agent)).toEqual(['sent: one', 'received: You said: one'])
    expect(session()).toBe(first)
    expect(payloadsOf(told, 'error')).toEqual([])
    expect(printed.flat().join('\n')).toContain('Could not load the previous transcript')
  })

  it('is awaited for at most five seconds', async () => {
    const { clock, load, talkAndLeave, emulator } = setUpTab()
    const first = await talkAndLeave('one')
    emulator.faults.add({ kind: 'hang-request', route: paths.previousTranscript('help', first) })
    const { agent, told } = load()
    const initializing = agent.initialize()
    await eventually(() => emulator.faults.inForce()[0]?.hits === 1)
    await clock.advance(4_999)
    expect(agent.getIsInitialized()).toBe(false)
    await clock.advance(1)
    await initializing
    await agent.connect()
    await eventually(() => payloadsOf(told, 'transcriptRestored').length)
    expect(linesOf(agent)).toHaveLength(2)
  })

  it('is subject to the filters and the limit of the transcript', async () => {
    const { load, talkAndLeave, open } = setUpTab({ transcriptConfig: { excludePersonas: ['customer'] } })
    await talkAndLeave('one', 'two', 'three')
    const { agent } = await open()
    expect(linesOf(agent)).toEqual(['received: You said: one', 'received: You said: two', 'received: You said: three'])
    await agent.destroy()
    const few = load({ transcriptConfig: { maxEntries: 3 } })
    await few.agent.initialize()
    expect(linesOf(few.agent)).toEqual(['received: You said: two', 'sent: three', 'received: You said: three'])
    await few.agent.destroy()
    const typed = load({ transcriptConfig: { includeMessageTypes: ['customer_message'] } })
    await typed.agent.initialize()
    expect(linesOf(typed.agent)).toEqual(['sent: one', 'sent: two', 'sent: three'])
    await typed.agent.destroy()
    const off = load({ transcriptConfig: { enabled: false } })
    await off.agent.initialize()
    expect(off.agent.getTranscriptSize()).toBe(0)
    expect(payloadsOf(off.told, 'transcriptRestored')).toEqual([])
  })

  it('is discarded with an aborted initialize(), and restored by the next one', async () => {
    const { load, talkAndLeave, emulator, session } = setUpTab()
    const first = await talkAndLeave('one')
    const route = paths.previousTranscript('help', first)
    emulator.faults.add({ kind: 'hang-request', route })
    const { agent } = load()
    const giveUp = new AbortController()
    const given = agent.initialize({ signal: giveUp.signal })
    await eventually(() => emulator.faults.inForce()[0]?.hits === 1)
    giveUp.abort()
    await expect(given).rejects.toMatchObject({ code: 'ABORTED' })
    emulator.faults.lift()
    await agent.initialize()
    expect(linesOf(agent)).toEqual(['sent: one', 'received: You said: one'])
    await agent.connect()
    expect(session()).toBe(first)
  })
})

describe('the context, after a reload', () => {
  const contextsOf = (emulator: ReturnType<typeof setUpTab>['emulator'], session: string) =>
    emulator.control
      .frames(session)
      .flatMap(({ message }) => (message?.role === 'context' ? [message.messageData?.['context']] : []))

  it('is not sent again if nothing has changed', async () => {
    const { emulator, open, talk, talkAndLeave } = setUpTab({ context: { plan: 'gold' } })
    const session = await talkAndLeave('one')
    await talk(await open(), 'two')
    expect(contextsOf(emulator, session)).toEqual([])
  })

  it('is sent once if the new page has changed it', async () => {
    const { emulator, open, talk, talkAndLeave } = setUpTab({ context: { plan: 'gold' } })
    const session = await talkAndLeave('one')
    await talk(await open({ context: { page: '/cart' } }), 'two')
    await turnEventLoop()
    expect(contextsOf(emulator, session)).toEqual([{ plan: 'gold', page: '/cart' }])
  })
})
