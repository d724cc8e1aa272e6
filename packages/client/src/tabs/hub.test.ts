import { encodeMessage, ROLE } from '@aiagent/protocol'
import { turnEventLoop } from '@aiagent/test-support'
import { expect, it } from 'vitest'
import { CAPABILITIES, linesOf, setUpTabs } from '../../test/set-up-tabs.ts'

/** A tab that leads, and another one that uses its socket. */
async function setUpHub(capabilities: readonly (typeof CAPABILITIES)[number][] = CAPABILITIES) {
  const settings = { heartbeatBeforeReply: false, capabilities: [...capabilities] }
  const tabs = setUpTabs({ settings })
  const { agent, tab } = await tabs.connected()
  const guest = tabs.scripted('guest')
  await guest.post({ kind: 'hello', isNew: false })
  const sessionId = String(agent.getSessionId())
  const push = async (frame: Parameters<typeof tabs.emulator.control.pushFrame>[1]) => {
    tabs.emulator.control.pushFrame(sessionId, frame)
    await tabs.clock.advance(10)
  }
  const open = async (socket: number, more: object = {}) => {
    await guest.post({ kind: 'open', socket, sessionId, isFirst: false, ...more })
    await turnEventLoop()
  }
  const write = (socket: number, text: string) => guest.post({ kind: 'write', socket, text })
  /** The frames of one virtual socket. */
  const framesOf = (socket: number | undefined) =>
    guest.heard('frame').flatMap(({ socket: to, text }) => (to === socket ? [JSON.parse(String(text))] : []))
  const written = () => tabs.browser.written.map(({ text }) => text)
  return { ...tabs, agent, tab, guest, sessionId, push, open, write, framesOf, written }
}

const frameOf = (persona: string, role: string, more: object = {}) =>
  encodeMessage({ persona, role, ...more } as Parameters<typeof encodeMessage>[0])

it('[REL-61] a socket is opened once, and what is written to another one is not sent', async () => {
  const { guest, open, write, written } = await setUpHub()
  await open(1)
  await open(1)
  expect(guest.heard('opened')).toMatchObject([{ socket: 1 }])
  const before = written().length
  await write(2, 'to no socket')
  await write(1, 'to the socket')
  await guest.post({ kind: 'close', socket: 1 })
  await write(1, 'to a closed socket')
  expect(written().slice(before)).toEqual(['to the socket'])
})

it('[REL-61] [REL-68] one token is sent for all tabs, then each new one, and one goodbye by the last tab', async () => {
  const { agent, clock, open, write, written } = await setUpHub()
  await open(1)
  await open(2)
  const before = written().length
  const token = (value: string) => frameOf('metadata', 'token', { messageData: { token: value } })
  await write(1, token('first'))
  await write(2, token('first'))
  await write(2, token('second'))
  const others = [frameOf('metadata', 'heartbeat'), frameOf('customer', 'token'), frameOf('customer', 'token')]
  for (const frame of others) await write(1, frame)
  const goodbye = frameOf('system', ROLE.GRACEFUL_DISCONNECT)
  await write(1, goodbye)
  await open(3)
  await open(4)
  // Another frame may come before the token.
  others.push(frameOf('metadata', ROLE.GRACEFUL_DISCONNECT), frameOf('system', 'token'))
  await write(3, others[3] as string)
  await write(4, others[4] as string)
  await write(1, frameOf('system', 'context'))
  await write(1, frameOf('customer', ROLE.GRACEFUL_DISCONNECT))
  const sent = [token('first'), token('second'), ...others]
  sent.push(frameOf('system', 'context'), frameOf('customer', ROLE.GRACEFUL_DISCONNECT))
  expect(written().slice(before)).toEqual(sent)
  await agent.disconnect()
  await clock.advance(100)
  expect(written().slice(before)).toEqual(sent)
})

it('[REL-68] the last tab says goodbye', async () => {
  const { agent, clock, guest, open, write, written } = await setUpHub()
  await open(1)
  await agent.disconnect()
  await clock.advance(100)
  const goodbye = frameOf('system', ROLE.GRACEFUL_DISCONNECT)
  expect(guest.heard('closed')).toEqual([])
  await write(1, goodbye)
  expect(written().at(-1)).toBe(goodbye)
})

it.each([
  ['closes it', ({ guest }: Awaited<ReturnType<typeof setUpHub>>) => guest.post({ kind: 'close', socket: 1 })],
  ['leaves', ({ guest }: Awaited<ReturnType<typeof setUpHub>>) => guest.post({ kind: 'bye' })],
  ['crashes', ({ guest }: Awaited<ReturnType<typeof setUpHub>>) => guest.tab.crash()],
])('[REL-68] the socket is closed once the last tab with one %s', async (_end, end) => {
  const hub = await setUpHub()
  const { agent, clock, open, push } = hub
  await open(1)
  await agent.disconnect()
  await clock.advance(100)
  await push('{}')
  await end(hub)
  await clock.advance(3_000)
  await expect(push('{}')).rejects.toThrow()
})

it('[REL-61] [REL-98] a tab that opens later gets the numbered frames that it has missed', async () => {
  const { agent, open, framesOf, push, passUntil } = await setUpHub()
  for (const text of ['one', 'two']) {
    await agent.send(text)
    await passUntil(() => agent.getTranscript().at(-1)?.message.content === `You said: ${text}`, 'the answer')
  }
  // A repetition of the service is not kept again.
  await push({ persona: 'agent', role: 'support', content: 'again', seq: 2 } as never)
  const shown = (socket: number) =>
    framesOf(socket).map(({ content, seq, messageData }) => content ?? seq ?? messageData.complete)
  await open(1, { lastSeq: 0 })
  expect(shown(1)).toEqual(['You said: one', 'You said: two', true])
  await open(2, { lastSeq: 1 })
  expect(shown(2)).toEqual(['You said: two', true])
  await open(3, { lastSeq: 2 })
  expect(shown(3)).toEqual([true])
  await open(4)
  expect(shown(4)).toEqual([])
  // What the service could not repeat, the leader does not have either.
  await push(frameOf('metadata', 'resumed', { messageData: { complete: true } }))
  await open(5, { lastSeq: 1 })
  expect(shown(5)).toEqual(['You said: two', true])
  await push(frameOf('metadata', 'other', { messageData: { complete: false } }))
  await push(frameOf('agent', 'resumed', { messageData: { complete: false } }))
  await open(6, { lastSeq: 1 })
  expect(shown(6)).toEqual(['You said: two', true])
  await push(frameOf('metadata', 'resumed', { messageData: { complete: false } }))
  await open(7, { lastSeq: 1 })
  expect(shown(7)).toEqual([false])
})

it('[REL-61] [REL-98] nothing is repeated of which the leader does not have all: only the last 500 frames', async () => {
  const { open, framesOf, push } = await setUpHub()
  const frames = Array.from({ length: 501 }, (_, index) => frameOf('agent', 'support', { seq: index + 1 }))
  for (const frame of frames) void push(frame)
  await push('{}')
  await open(1, { lastSeq: 0 })
  expect(framesOf(1)).toMatchObject([{ messageData: { complete: false } }])
  await open(2, { lastSeq: 1 })
  expect(framesOf(2)).toHaveLength(501)
  expect(framesOf(2)[0]).toMatchObject({ seq: 2 })
  expect(framesOf(2).at(-1)).toMatchObject({ messageData: { complete: true } })
})

it('[REL-61] [REL-155] a tab that is new in the session is told what the agent has said', async () => {
  const { agent, open, framesOf, passUntil } = await setUpHub()
  await open(1, { isFirst: true })
  expect(framesOf(1)).toEqual([])
  await agent.send('one')
  await passUntil(() => linesOf({ agent }).length === 2, 'the answer')
  await open(2, { isFirst: true })
  const [answer] = agent.getTranscript().filter(({ direction }) => direction === 'received')
  const { persona, role, content, messageId, timestamp } = answer?.message ?? {}
  expect(framesOf(2)).toMatchObject([
    {
      persona: 'system',
      role: ROLE.CHAT_HISTORY,
      messageData: { chat_history: [{ persona, role, content, messageId, timestamp }] },
    },
  ])
  await open(3)
  expect(framesOf(3)).toEqual([])
})

it.each(['stale_token', 'expired_token'])('[REL-61] the request for another token (%s) reaches one tab', async role => {
  const { agent, clock, open, push, framesOf } = await setUpHub()
  await open(1)
  await open(2)
  await push(frameOf('metadata', role))
  expect([undefined, 1, 2].map(socket => framesOf(socket).filter(frame => frame.role === role).length)).toEqual([
    0, 0, 0,
  ])
  await agent.disconnect()
  await clock.advance(100)
  await push(frameOf('metadata', role))
  expect([undefined, 1, 2].map(socket => framesOf(socket).filter(frame => frame.role === role).length)).toEqual([
    0, 1, 0,
  ])
  // The leader itself renews the token, also where it has connected after the others.
  await agent.connect()
  await clock.advance(100)
  await push(frameOf('metadata', role))
  expect(framesOf(1).filter(frame => frame.role === role)).toHaveLength(1)
  // Of another author it is a message like any other.
  await push(frameOf('agent', role))
  expect(framesOf(undefined).filter(frame => frame.role === role)).toHaveLength(1)
})

it('[REL-62] each tab learns how the socket was closed', async () => {
  const { emulator, guest, open, clock } = await setUpHub()
  await open(1)
  emulator.control.dropSockets(4321)
  await clock.advance(10)
  expect(guest.heard('closed')).toMatchObject([{ socket: 1, code: 4321 }])
  emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
  await open(2)
  await clock.advance(5_000)
  expect(guest.heard('closed').slice(1)).toMatchObject([{ socket: 2, code: 1006 }])
  emulator.faults.lift()
  await open(3)
  await clock.advance(100)
  emulator.control.dropSockets(1000)
  await clock.advance(100)
  expect(guest.heard('closed').slice(2)).toMatchObject([{ socket: 3, code: 1000 }])
  await open(4)
  await clock.advance(100)
  expect(guest.heard('opened').at(-1)).toMatchObject({ socket: 4 })
})

it('[REL-61] [REL-98] a tab gets each frame once, and one end of the replay, from a socket that follows a broken one', async () => {
  const { agent, clock, emulator, open, framesOf, passUntil } = await setUpHub()
  for (const text of ['one', 'two', 'three']) {
    await agent.send(text)
    await passUntil(() => agent.getTranscript().at(-1)?.message.content === `You said: ${text}`, 'the answer')
  }
  emulator.control.dropSockets()
  await turnEventLoop()
  await open(1, { lastSeq: 1 })
  await clock.advance(100)
  const shown = (socket: number) => framesOf(socket).map(({ content, messageData }) => content ?? messageData.complete)
  expect(shown(1)).toEqual(['You said: two', 'You said: three'])
  expect(framesOf(undefined).filter(({ role }) => role === 'resumed')).toMatchObject([
    { messageData: { complete: true } },
  ])
  await open(2, { lastSeq: 0 })
  expect(shown(2)).toEqual(['You said: one', 'You said: two', 'You said: three', true])
})

it('[REL-61] [REL-98] a socket that repeats what its first tab has missed has all for another one', async () => {
  const { clock, emulator, open, framesOf } = await setUpHub()
  emulator.control.dropSockets()
  await turnEventLoop()
  await open(1, { lastSeq: 0 })
  await clock.advance(100)
  await open(2, { lastSeq: 0 })
  expect(framesOf(2)).toMatchObject([{ messageData: { complete: true } }])
})

it('[REL-155] a tab of whose messages one was lost opens again', async () => {
  const { guest, open, write, written } = await setUpHub()
  await open(1)
  guest.skip()
  const before = written().length
  await write(1, 'after the gap')
  expect(guest.heard('closed')).toMatchObject([{ socket: undefined, code: 1006 }])
  expect(written().slice(before)).toEqual([])
  await open(2)
  await write(2, 'again')
  expect(written().at(-1)).toBe('again')
})

it('[REL-66] a tab that opens a socket in another session is told the present one', async () => {
  const { guest, open, sessionId, agent } = await setUpHub()
  const before = guest.heard('state').length
  await open(1, { sessionId: 'another' })
  expect(guest.heard('opened')).toEqual([])
  expect(guest.heard('state').slice(before)).toMatchObject([{ sessionId }])
  expect(agent.isConnected()).toBe(true)
})
