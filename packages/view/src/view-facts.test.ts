import type { AiAgent } from '@aiagent/client'
import type { Fault } from '@aiagent/emulator'
import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { framesArrived, passing, rejection, sentTo, setUp } from '../../client/test/agent-harness.ts'
import { setUpHost } from '../../client/test/host-store.ts'
import { lastOf, linesOf, say, setUpView, viewPlatform } from '../test/view-harness.ts'
import type { ConversationView } from './conversation-snapshot.ts'
import { createConversationView } from './conversation-view.ts'

/** Agent of the emulator that masks card numbers. */
const MASKING_AGENT = 'billing'

const CARD = 'Card 4111 1111 1111 1111, please'

/** Every object in a value, without errors, which belong to the code that threw them. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null || value instanceof Error) return []
  return [value, ...Object.values(value).flatMap(objectsIn)]
}

async function leave(...parts: (ConversationView | AiAgent)[]): Promise<void> {
  for (const part of parts) await part.destroy()
}

describe('what a view stores with the session', () => {
  it('[VIEW-30] brings the masked parts back after a reload', async () => {
    const { load, show } = setUpView()
    const open = async () => {
      const { agent } = load({ id: MASKING_AGENT })
      const view = show(agent)
      await view.start()
      return { agent, view }
    }
    const first = await open()
    await say(first.view, CARD, 2)
    await say(first.view, 'nothing to hide', 4)
    const [before] = first.view.getSnapshot().messages
    expect(before?.maskedRanges).toHaveLength(1)
    await turnEventLoop()
    await leave(first.view, first.agent)

    const second = await open()
    await eventually(() => second.view.getSnapshot().messages[0]?.maskedRanges.length)
    const [after, , other] = second.view.getSnapshot().messages
    expect(after?.content).toBe(before?.content)
    expect(after?.maskedRanges).toEqual(before?.maskedRanges)
    expect(other?.maskedRanges).toEqual([])
    expect(objectsIn(second.view.getSnapshot()).filter(part => !Object.isFrozen(part))).toEqual([])
    await leave(second.view, second.agent)
  })

  it('[VIEW-30] is stored when destroy() resolves', async () => {
    const { openView, load, show } = setUpView()
    const first = await openView()
    await say(first.view, 'hello', 2)
    first.view.setDraft('half a sentence')
    await first.view.destroy()
    await first.agent.destroy()
    const { agent } = load()
    const view = show(agent)
    await view.start()
    await eventually(() => view.getSnapshot().draft)
    expect(view.getSnapshot().draft).toBe('half a sentence')
    await leave(view, agent)
  })

  it('[VIEW-30] is kept by each view of an agent for the others', async () => {
    const { load, show } = setUpView()
    const first = load()
    const writing = show(first.agent)
    const rating = show(first.agent)
    await writing.start()
    await say(writing, 'hello', 2)
    writing.setDraft('half a sentence')
    await turnEventLoop()
    await rating.rate(lastOf(rating).id, 'up')
    await turnEventLoop()
    await leave(writing, rating, first.agent)

    const { agent } = load()
    const view = show(agent)
    await view.start()
    await eventually(() => view.getSnapshot().draft)
    expect(view.getSnapshot().draft).toBe('half a sentence')
    expect(lastOf(view).rating).toBe('up')
    await leave(view, agent)
  })

  it('[VIEW-30] never replaces what the user is typing while the page starts', async () => {
    const { openView, load, show } = setUpView()
    const first = await openView()
    await say(first.view, 'hello', 2)
    first.view.setDraft('of the page before')
    await turnEventLoop()
    await leave(first.view, first.agent)
    const { agent } = load()
    const view = show(agent)
    const started = view.start()
    view.setDraft('typed meanwhile')
    await started
    await turnEventLoop()
    expect(view.getSnapshot().draft).toBe('typed meanwhile')
    expect(await agent.getSessionData()).toMatchObject({ draft: 'typed meanwhile' })
    await leave(view, agent)
  })

  it('[VIEW-50] counts as unread what the agent said while there was no page, with `keepsUnread`', async () => {
    const { load, show, emulator, clock, session } = setUpView({ reply: () => [] })
    const open = async (keepsUnread = true) => {
      const { agent } = load()
      const view = show(agent, { keepsUnread })
      await view.start()
      await turnEventLoop()
      return { agent, view, unread: () => view.getSnapshot().unread }
    }
    const sayAway = (content: string) => emulator.control.say(session(), { content })
    const first = await open()
    await first.view.send('hello')
    await turnEventLoop()
    await leave(first.view, first.agent)
    // No message of the agent was ever read.
    sayAway('The first answer')
    const second = await open()
    expect(second.unread()).toBe(1)
    sayAway('The second answer')
    await eventually(() => second.unread() === 2)
    await leave(second.view, second.agent)

    const third = await open()
    expect(third.unread()).toBe(2)
    third.view.markRead()
    await turnEventLoop()
    await leave(third.view, third.agent)
    const fourth = await open()
    expect(fourth.unread()).toBe(0)
    await leave(fourth.view, fourth.agent)

    sayAway('The third answer')
    const plain = await open(false)
    expect(plain.unread()).toBe(0)
    await leave(plain.view, plain.agent)
    const fifth = await open()
    expect(fifth.unread()).toBe(1)
    await passing(clock, fifth.agent.logout())
    expect(fifth.unread()).toBe(0)
    await leave(fifth.view, fifth.agent)
    const next = await open()
    expect(next.unread()).toBe(0)
    await leave(next.view, next.agent)
  })

  it('[VIEW-30] may be of any form that a host has stored', async () => {
    const { openView, load, show } = setUpView()
    const first = await openView()
    await say(first.view, 'hello', 2)
    await first.agent.setSessionData({ ratings: 7, masked: 'none', draft: { text: 1 }, readUpTo: 7 })
    await leave(first.view, first.agent)
    const { agent } = load()
    const view = show(agent)
    await view.start()
    await turnEventLoop()
    expect(view.getSnapshot().draft).toBe('')
    expect(view.getSnapshot().messages).toHaveLength(2)
    await view.rate(lastOf(view).id, 'down')
    await turnEventLoop()
    expect(await agent.getSessionData()).toMatchObject({ draft: '' })
    await leave(view, agent)
  })

  it('[VIEW-54] keeps of stored ratings and masked parts those of the known form', async () => {
    const { openView, load, show } = setUpView()
    const first = await openView()
    await say(first.view, 'hello', 2)
    const { sessionId, messageId } = lastOf(first.view)
    const key = `${sessionId} ${messageId}`
    const ranges = [
      null,
      7,
      { start: 'a', end: 2 },
      { start: 3, end: 1 },
      { start: 1, end: 3 },
      { start: Number.NaN, end: 1 },
    ]
    await first.agent.setSessionData({
      ratings: { [key]: { by: 'a' }, b: 'up' },
      masked: { hello: ranges, other: [null] },
    })
    await leave(first.view, first.agent)
    const { agent } = load()
    const view = show(agent)
    await view.start()
    await eventually(() => view.getSnapshot().messages.length === 2)
    await turnEventLoop()
    expect(view.getSnapshot().messages).toMatchObject([
      { content: 'hello', maskedRanges: [{ start: 1, end: 3 }] },
      { rating: undefined },
    ])
    await leave(view, agent)
  })
})

describe('the silence of a connection', () => {
  it('[VIEW-31] counts from the moment in which a message that waited is written', async () => {
    const { openView, emulator, clock, session } = setUpView()
    const { view, agent } = await openView()
    const silent = () => view.getSnapshot().connection.isSilent
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await view.send('meanwhile')
    // Without it the history may show the message, which proves that the service has it.
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    await clock.advance(1)
    await eventually(() => lastOf(view).delivery === 'sent')
    await clock.advance(14_000)
    expect(silent()).toBe(false)
    // The history of the reopened chat may arrive meanwhile; the silence counts from then on.
    for (let seconds = 0; seconds < 60 && !silent(); seconds++) {
      await clock.advance(1_000)
      await turnEventLoop()
    }
    expect(silent()).toBe(true)
    emulator.control.say(session(), { content: 'Still here.' })
    await eventually(() => !silent())
    await leave(view, agent)
  })

  it('[VIEW-31] does not count for messages of another device', async () => {
    const { openView, emulator, clock, session } = setUpView()
    const { view, agent } = await openView()
    await say(view, 'hello', 2)
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    const record = emulator.world.sessions.get(session())
    record?.history.add({ persona: 'customer', role: 'human', content: 'from my phone', timestamp: clock.now() })
    await clock.advance(1)
    await eventually(() => linesOf(view.getSnapshot().messages).includes('user: from my phone'))
    await clock.advance(20_000)
    expect(view.getSnapshot().connection).toMatchObject({ state: 'connected', isSilent: false })
    await leave(view, agent)
  })
})

describe('a login that a view asks for', () => {
  it('[VIEW-36] is no longer needed when the host has passed a token, also in an open chat', async () => {
    const { make, show, emulator, clock } = setUpView()
    const token = () => emulator.control.issueToken({ subject: 'customer', lifeSeconds: 3_600 })
    const { agent } = make({ id: 'account', auth: { type: 'pre-auth', accessToken: token() } })
    const view = show(agent)
    await view.start()
    emulator.control.expireTokens()
    await view.send('Where is my parcel?')
    await passing(
      clock,
      eventually(() => view.getSnapshot().needsLogin),
    )
    // Only the host can supply the token: nothing has failed.
    expect(view.getSnapshot().error).toBeUndefined()
    await agent.updateAccessToken(token())
    await passing(
      clock,
      eventually(() => view.getSnapshot().messages.length === 2),
    )
    expect(view.getSnapshot()).toMatchObject({ needsLogin: false, error: undefined })
    await leave(view, agent)
  })
})

describe('what a view counts and freezes', () => {
  it('[VIEW-32] counts what the agent said during an outage as unread, and shows it in its place', async () => {
    const { openView, emulator, clock, session } = setUpView()
    const { view, agent } = await openView()
    await say(view, 'hello', 2)
    view.markRead()
    emulator.settings.replyDelayMs = 5
    await view.send('before')
    await turnEventLoop()
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await view.send('meanwhile')
    emulator.control.say(session(), { content: 'By the way' })
    await clock.advance(10)
    await passing(
      clock,
      eventually(() => view.getSnapshot().messages.length === 7),
    )
    const { history } = emulator.world.sessions.get(session()) ?? {}
    expect(view.getSnapshot().messages.map(({ content }) => content)).toEqual(
      history?.entries().map(({ content }) => content),
    )
    expect(linesOf(view.getSnapshot().messages)[3]).toBe('agent: By the way')
    expect(view.getSnapshot().unread).toBe(3)
    await leave(view, agent)
  })

  it('[VIEW-32] freezes every object of the snapshot: messages, sources, options, hand-over, gate', async () => {
    const reply = () => ({
      content: 'A colleague takes over.',
      messageData: {
        escalation: true,
        escalationData: { live: false, phone: true, phoneNumber: '+1 555 0100' },
        sources: [{ title: 'Manual', url: 'https://docs.example.test/' }],
      } as never,
    })
    const { openView, make, emulator, show } = setUpView({ reply })
    const { view, agent } = await openView()
    await say(view, 'human', 2)
    expect(view.getSnapshot().escalation?.options).toHaveLength(1)
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const desk = make({ id: 'desk', auth: { type: 'pre-auth', accessToken }, cache: { enabled: false } })
    const choosing = show(desk.agent)
    await choosing.start()
    expect(choosing.getSnapshot().gate?.choices.length).toBeGreaterThan(0)
    expect(objectsIn(view.getSnapshot()).filter(part => !Object.isFrozen(part))).toEqual([])
    // The records of a gate are those of the agent.
    const { gate } = choosing.getSnapshot()
    expect([gate, gate?.choices].map(Object.isFrozen)).toEqual([true, true])
    await leave(view, agent, choosing, desk.agent)
  })
})

describe('messages of the page before', () => {
  it('[REL-170] can be rated', async () => {
    const { openView, emulator, session } = setUpView()
    const first = await openView()
    await say(first.view, 'hello', 2)
    const { messageId } = lastOf(first.view)
    await leave(first.view, first.agent)

    const second = await openView()
    await eventually(() => second.view.getSnapshot().messages.length === 2)
    await second.view.rate(lastOf(second.view).id, 'down')
    expect(lastOf(second.view).rating).toBe('down')
    const { feedback } = emulator.world.sessions.get(session()) ?? { feedback: [] }
    await eventually(() => feedback.length === 1)
    expect(feedback).toEqual([{ rating: 'down', answerMessageId: messageId }])
    expect(await rejection(second.view.retry(second.view.getSnapshot().messages[0]?.id))).toMatchObject({
      reason: 'invalid',
    })
    await leave(second.view, second.agent)
  })

  it('[REL-170] cannot be rated in a later session, where another answer may have the same id', async () => {
    const { openView, emulator, session } = setUpView()
    const { view, agent } = await openView()
    await say(view, 'hello', 2)
    const old = lastOf(view)
    emulator.control.endSession(session())
    emulator.control.dropSockets(1000)
    await eventually(() => !agent.isConnected())
    // The first attempt finds out that the session has ended.
    await agent.connect().catch(() => agent.connect())
    expect(await rejection(view.rate(old.id, 'up'))).toMatchObject({ reason: 'invalid' })
    await say(view, 'again', 4)
    const [, first, , second] = view.getSnapshot().messages
    expect(second?.messageId).toBe(first?.messageId)
    expect([first?.canRate, second?.canRate]).toEqual([false, true])
    expect(await rejection(view.rate(old.id, 'up'))).toMatchObject({ reason: 'invalid' })
    await view.rate(second?.id ?? '', 'down')
    const feedback = () =>
      [...emulator.world.sessions.values()].map(record => record.feedback.map(({ rating }) => rating))
    await eventually(() => feedback()[1]?.length === 1)
    expect(feedback()).toEqual([[], ['down']])
    expect(view.getSnapshot().messages.map(({ rating }) => rating)).toEqual([undefined, undefined, undefined, 'down'])
    await leave(view, agent)
  })

  it('[REL-170] wait visibly, and can be taken back', async () => {
    const { clock, emulator, page, send } = setUpHost()
    const first = page()
    await first.agent.initialize()
    await send(first.agent, 'one', 'two', 'three')
    await first.agent.destroy()

    const { agent } = page()
    const view = createConversationView(agent, { platform: viewPlatform(clock).platform })
    await agent.initialize()
    const deliveries = () =>
      view
        .getSnapshot()
        .messages.flatMap(({ id, author, delivery }) => (author === 'user' ? [`${id} ${delivery}`] : []))
    expect(deliveries()).toEqual(['one queued', 'two queued', 'three queued'])
    expect([view.cancel('two'), view.cancel('two')]).toEqual([true, false])
    await agent.connect()
    await framesArrived(emulator, 2)
    expect(sentTo(emulator)).toEqual(['one', 'three'])
    await eventually(() => deliveries()[2] === 'three sent')
    expect(deliveries()).toEqual(['one sent', 'two cancelled', 'three sent'])
    await passing(clock, leave(view, agent))
  })
})

describe('a message that was written before initialize()', () => {
  it('[VIEW-01] stays visible as failed where it cannot be sent, until the transcript is cleared', async () => {
    const { clock, emulator, make } = setUp()
    const { platform } = viewPlatform(clock)
    emulator.faults.add({ kind: 'answer', route: 'GET *masking*', status: 503 })
    const { agent } = make({ id: MASKING_AGENT, masking: { required: true } })
    const view = createConversationView(agent, { platform })
    await view.send(CARD)
    const withdrawn = await view.send('never mind')
    view.cancel(withdrawn)
    await view.start()
    await turnEventLoop()
    expect(view.getSnapshot().messages).toMatchObject([{ content: CARD, delivery: 'failed' }])
    agent.clearTranscript()
    expect(view.getSnapshot().messages).toEqual([])
    await leave(view, agent)
  })

  it('[VIEW-01] is no longer queued once the agent is destroyed, nor is one that waited for the connection', async () => {
    const { load, show, openView, emulator } = setUpView()
    const { agent } = load()
    const early = show(agent)
    await early.send('early')
    await agent.destroy()
    await turnEventLoop()
    expect(lastOf(early).delivery).toBe('failed')

    const second = await openView()
    await say(second.view, 'hello', 2)
    emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
    emulator.control.dropSockets()
    await eventually(() => !second.agent.isConnected())
    await second.view.send('late')
    await second.agent.destroy()
    await turnEventLoop()
    const states = second.view.getSnapshot().messages.map(({ content, delivery }) => [content, delivery])
    expect(states).toEqual([
      ['hello', 'sent'],
      ['You said: hello', undefined],
      ['late', 'failed'],
    ])
  })
})

describe('a view while the user signs out', () => {
  it('[VIEW-01] [SEC-15] takes no draft, which would be shown to the next user', async () => {
    const { openView, clock } = setUpView()
    const { view, agent } = await openView()
    const leaving = agent.logout()
    view.setDraft('half a secret')
    await passing(clock, leaving)
    expect(view.getSnapshot().draft).toBe('')
    await view.start()
    await turnEventLoop()
    expect(view.getSnapshot().draft).toBe('')
    expect(`${JSON.stringify(await agent.getSessionData())}`).not.toContain('secret')
    await leave(view, agent)
  })
})

describe('odd data of the service', () => {
  it('[VIEW-01] offers no blank option', async () => {
    const { openView, emulator, session } = setUpView()
    const { view, agent } = await openView()
    const ask = (options: string[]) =>
      emulator.control.say(session(), { content: 'Which?', role: 'follow up question agent', messageData: { options } })
    ask(['', 'Red', ' \n'])
    ask([' '])
    await eventually(() => view.getSnapshot().messages.length === 2)
    expect(view.getSnapshot().messages).toMatchObject([{ options: ['Red'] }, { options: [], canChoose: false }])
    await leave(view, agent)
  })

  it('[VIEW-04] is exported as Markdown whose links lead where they say', async () => {
    const { openView, emulator, session } = setUpView()
    const { view, agent } = await openView()
    const sources = [{ title: 'a [b]', url: 'https://docs.example.test/a)(b' }]
    emulator.control.say(session(), { content: 'See there.', messageData: { sources } })
    await eventually(() => view.getSnapshot().messages.length === 1)
    expect(await view.export('markdown')).toContain('- [a \\[b\\]](https://docs.example.test/a\\)\\(b)')
    expect(await view.export('text')).toContain('- a [b]: https://docs.example.test/a)(b')
    await leave(view, agent)
  })
})

describe('the wait for the next attempt in a view', () => {
  const retrying = { retryInitialize: true, baseReconnectDelay: 8_000, maxReconnectDelay: 60_000 }
  const setUpWaiting = (fault?: Fault) => {
    const parts = setUpView()
    if (fault) parts.emulator.faults.add(fault)
    const { agent } = parts.load(retrying)
    const view = parts.show(agent)
    return { ...parts, agent, view, line: () => view.getSnapshot().connection }
  }

  it('[VIEW-60] ends with retry() before the first connection', async () => {
    const { view, agent, line, clock } = setUpWaiting({
      kind: 'answer',
      route: 'POST */session',
      status: 503,
      times: 1,
    })
    const started = view.start()
    await eventually(() => line().state === 'reconnecting')
    expect(line()).toMatchObject({ remedy: 'wait', isWaitAsked: false })
    expect(line().retryAt).toBeGreaterThan(clock.now() + 7_000)
    await Promise.all([view.retry(), started])
    expect(line()).toMatchObject({ state: 'connected', retryAt: undefined })
    await leave(view, agent)
  })

  it('[VIEW-60] ends with retry() after a lost connection', async () => {
    const { agent, view, emulator, line } = setUpWaiting()
    await view.start()
    emulator.control.dropSockets()
    await eventually(() => line().state === 'reconnecting')
    await view.retry()
    expect(line().state).toBe('connected')
    await leave(view, agent)
  })

  it('[VIEW-60] is one that the service has asked for, until the next attempt', async () => {
    const headers = { 'retry-after': '20' }
    const fault = { kind: 'answer', route: 'POST */session', status: 503, headers, times: 1 } as const
    const { view, agent, line, clock } = setUpWaiting(fault)
    const started = view.start()
    await eventually(() => line().state === 'reconnecting')
    expect(line()).toMatchObject({ retryAt: clock.now() + 20_000, isWaitAsked: true })
    await clock.advance(20_000)
    await started
    expect(line()).toMatchObject({ state: 'connected', isWaitAsked: false })
    await leave(view, agent)
  })

  it('[VIEW-60] is one that the service has asked for, also in the first attempt, and not for the next user', async () => {
    const fault = { kind: 'rate-limit', route: 'POST */session', retryAfterSeconds: 15, times: 1 } as const
    const { view, agent, line, clock } = setUpWaiting(fault)
    const ended = rejection(view.start())
    await eventually(() => line().isWaitAsked)
    expect(line()).toMatchObject({ state: 'initializing', retryAt: clock.now() + 15_000 })
    await passing(clock, agent.logout())
    expect(await ended).toMatchObject({ code: 'ABORTED' })
    const next = view.start()
    expect(line()).toMatchObject({ state: 'initializing', retryAt: undefined, isWaitAsked: false })
    await passing(clock, next)
    await leave(view, agent)
  })
})
