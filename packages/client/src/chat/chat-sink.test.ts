import { FakeWebSocket, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { type ChatSetUp, deferred, setUpChat, watch } from '../../test/chat-harness.ts'
import type { SessionKeeper } from './chat-session.ts'
import type { ChatObserver, ConnectionLoss } from './connection.ts'

const last = () => FakeWebSocket.last

/** An open chat whose messages are written by a recording sink. */
async function setUp(given: ChatSetUp = {}) {
  const parts = setUpChat(given)
  const calls: unknown[] = []
  const sink: ChatObserver = {
    handleConnected: () => void calls.push('connected'),
    handleReady: () => void calls.push('ready'),
    handleInterrupted: () => void calls.push('interrupted'),
    handleLost: (loss: ConnectionLoss) => void calls.push(loss),
    handleClosed: () => void calls.push('closed'),
  }
  parts.connection.observe(sink)
  const connecting = watch(parts.chat.connect())
  await turnEventLoop()
  const open = async () => {
    last().accept()
    await turnEventLoop()
  }
  const taken = () => calls.splice(0)
  return { ...parts, connecting, open, taken }
}

describe('what a chat tells the part that writes its messages', () => {
  it('is that it is open and ready, and that an outage ended it in disorder', async () => {
    const { open, taken, clock, connection } = await setUp()
    expect(taken()).toEqual([])
    await open()
    expect(taken()).toEqual(['connected', 'ready'])
    last().end(1006)
    expect(taken()).toEqual(['interrupted', { lastInboundAt: undefined, isAbnormal: true }])
    await clock.advance(1_000)
    await open()
    expect(taken()).toEqual(['connected', 'ready'])
    await clock.advance(70)
    last().receive('a frame')
    const inboundAt = clock.monotonic()
    expect(connection.lastInboundAt).toBe(inboundAt)
    await clock.advance(30)
    last().end(1006)
    expect(taken()).toEqual(['interrupted', { lastInboundAt: inboundAt, isAbnormal: true }])
    await clock.advance(2_000)
    await open()
    expect(connection.lastInboundAt).toBeUndefined()
  })

  it('is that the service closed it in order', async () => {
    const { open, taken } = await setUp()
    await open()
    taken()
    last().end(1000)
    expect(taken()).toEqual(['closed', 'interrupted', { lastInboundAt: undefined, isAbnormal: false }])
  })

  it('is that it was never open, when it is left before', async () => {
    const { chat, taken } = await setUp()
    await chat.disconnect()
    expect(taken()).toContain('closed')
    await chat.disconnect()
    expect(taken()).toEqual(['closed'])
  })

  it('is that it is closed only after its last frames have left', async () => {
    const { chat, connection, open, taken, clock } = await setUp()
    await open()
    taken()
    last().bufferedAmount = 5
    const left = watch(chat.disconnect())
    expect([taken(), connection.isLeft, connection.state === 'CONNECTED']).toEqual([['interrupted'], true, true])
    last().bufferedAmount = 0
    await clock.advance(5)
    expect(left.outcome).toBe('done')
    expect(taken()).toContain('closed')
    expect(connection.state).toBe('CLOSED')
  })

  it('is that the token could not be obtained: connected, and not ready', async () => {
    const { open, taken, connecting, told } = await setUp({
      token: { getToken: () => Promise.reject(new Error('no token')) },
    })
    await open()
    expect(taken()).toEqual(['interrupted', 'connected'])
    expect([connecting.outcome, told.at(-1)]).toEqual(['done', 'token needed: transport_request'])
  })
})

describe('what a chat says of itself', () => {
  it('is whether it owes the token', async () => {
    const token = deferred<string>()
    const { chat, open } = await setUp({ token: { getToken: () => token.promise } })
    expect(chat.isTokenMissing).toBe(false)
    await open()
    expect(chat.isTokenMissing).toBe(true)
    token.resolve('t')
    await turnEventLoop()
    expect(chat.isTokenMissing).toBe(false)
    const free = await setUp()
    await free.open()
    expect(free.chat.isTokenMissing).toBe(false)
  })

  it('is whether it was left', async () => {
    const { connection, open, clock } = await setUp()
    expect(connection.isLeft).toBe(false)
    await open()
    expect(connection.isLeft).toBe(false)
    last().end(1006)
    expect(connection.isLeft).toBe(false)
    await clock.advance(1_000)
    await open()
    last().end(1000)
    expect(connection.isLeft).toBe(true)
    expect(setUpChat().connection.isLeft).toBe(true)
  })

  it('is the number of its attempts, until the agent has answered', async () => {
    const { connection, open, clock } = await setUp()
    await open()
    expect(connection.retry.attempts).toBe(0)
    last().end(1006)
    await clock.advance(1_000)
    last().end(1006)
    await turnEventLoop()
    expect(connection.retry.attempts).toBe(2)
    await clock.advance(2_000)
    await open()
    connection.confirm()
    expect(connection.retry.attempts).toBe(0)
    last().end(1006)
    await clock.advance(1_000)
    expect(FakeWebSocket.made).toHaveLength(4)
  })
})

describe('a signal of the wire', () => {
  it('is written while the chat is open', async () => {
    const { connection, open } = await setUp()
    expect(() => connection.writeSignal('early')).not.toThrow()
    await open()
    connection.writeSignal('seen')
    last().failSend = new Error('closing')
    expect(() => connection.writeSignal('lost')).not.toThrow()
    expect(last().sent).toEqual(['seen'])
  })
})

describe('a connection that is probably broken', () => {
  it('[FLOW-02] is replaced at once, and what still arrives on it is dropped', async () => {
    const { connection, open, told, clock, taken } = await setUp()
    await open()
    const broken = last()
    const deliver = broken.onmessage
    taken()
    connection.replace()
    expect(broken.closedWith).toEqual({ code: 1000, reason: '' })
    expect(taken()).toEqual(['interrupted', expect.objectContaining({ isAbnormal: true })])
    await clock.advance(0)
    expect(FakeWebSocket.made).toHaveLength(2)
    await open()
    deliver?.({ data: 'late' })
    expect(told).not.toContain('received late')
    expect(connection.state).toBe('CONNECTED')
  })

  it('is not replaced without a socket, nor when the host is leaving', async () => {
    const { chat, connection, open, clock } = await setUp()
    connection.replace()
    await open()
    last().bufferedAmount = 5
    void chat.disconnect()
    connection.replace()
    await clock.advance(5_000)
    expect([FakeWebSocket.made.length, connection.state]).toEqual([1, 'CLOSED'])
    connection.replace()
    expect(connection.state).toBe('CLOSED')
  })
})

describe('the context of a session that the host has chosen', () => {
  const context = { plan: 'gold' }
  const frame = JSON.stringify({ persona: 'system', role: 'context', messageData: { context } })
  const idsOf = (socket: FakeWebSocket) => socket.frames.map(frame => frame['messageId'])

  it('[REL-108] is repeated under its id until the service confirms that id', async () => {
    const { open, clock, session } = await setUp({ sessionId: 'mine', context, hasReceipts: true })
    await open()
    const [id] = idsOf(last()) as string[]
    expect(id).toBe('id-0')
    const reopen = async () => {
      last().end(1006)
      await clock.advance(5_000)
      await open()
      return idsOf(last())
    }
    session.handleReceipt('another')
    expect(await reopen()).toEqual([id])
    session.handleReceipt(id as string)
    expect(await reopen()).toEqual([])
    session.supply('other')
    session.handleReceipt(id as string)
    expect(await reopen()).toHaveLength(1)
  })

  it('is sent once, where the service confirms nothing', async () => {
    const { open, clock } = await setUp({ sessionId: 'mine', context })
    await open()
    expect(last().sent).toEqual([frame])
    last().end(1006)
    await clock.advance(1_000)
    await open()
    expect(last().sent).toEqual([])
  })
})

describe('a session that the service ends while the chat is open', () => {
  it('is no longer kept for the next page', async () => {
    const kept: (string | undefined)[] = []
    const keep = (id: string | undefined) => void kept.push(id)
    const keeper = { keep, load: async () => undefined } as Partial<SessionKeeper> as SessionKeeper
    const { open } = await setUp({ keeper })
    await open()
    expect(kept.at(-1)).toBe('session-1')
    last().end(1000)
    expect(kept.at(-1)).toBeUndefined()
  })
})

describe('a failed attempt', () => {
  const refuse = (httpStatus: number | undefined) =>
    last().onclose?.(Object.assign({ code: 1006, reason: '', wasClean: false }, { httpStatus }))

  it.each([
    ['asks whether the session exists where the second one gives no reason either', undefined, ['mine']],
    ['asks nothing where the service gave a reason', 503, []],
  ])('%s', async (_case, status, expected) => {
    const asked: string[] = []
    const { clock } = await setUp({ sessionId: 'mine', isKnown: async id => asked.push(id) > 0 })
    refuse(status)
    await clock.advance(1_000)
    expect([asked, FakeWebSocket.made.length]).toEqual([[], 2])
    refuse(status)
    await clock.advance(0)
    expect([asked, FakeWebSocket.made.length]).toEqual([expected, 2])
  })

  it('[REL-14] is followed at once by one in a new session where the service has forgotten the present one', async () => {
    const { clock, session } = await setUp({ sessionId: 'mine', isKnown: async () => false })
    refuse(undefined)
    await clock.advance(1_000)
    refuse(undefined)
    await clock.advance(0)
    expect([session.id, FakeWebSocket.made.length]).toEqual(['session-1', 3])
  })
})

describe('an operation that another one ends', () => {
  it('names the call that was given up, and why', async () => {
    const { chat, open, clock } = await setUp()
    await open()
    last().bufferedAmount = 5
    void chat.disconnect()
    const connecting = watch(chat.connect())
    void chat.disconnect({ skipGracefulDisconnect: true })
    await clock.advance(5)
    expect(connecting.error).toMatchObject({
      code: 'ABORTED',
      message: expect.stringMatching(/^connect\(\) .*disconnect\(\)/),
    })
    const restarting = watch(chat.restart({ sessionId: undefined, signal: undefined, reset() {} }))
    void chat.disconnect()
    await turnEventLoop()
    expect(restarting.error).toMatchObject({
      code: 'ABORTED',
      message: expect.stringMatching(/^restartConnection\(\) .*disconnect\(\)/),
    })
  })

  it('names the call that its signal ended', async () => {
    const { chat } = setUpChat({ createSession: () => new Promise(() => {}) })
    const given = new AbortController()
    const connecting = watch(chat.connect(given.signal))
    given.abort()
    await turnEventLoop()
    expect(connecting.error).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('connect()') })
    const restarting = watch(chat.restart({ sessionId: undefined, signal: given.signal, reset() {} }))
    await turnEventLoop()
    expect(restarting.error).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('restartConnection()') })
  })

  it('says that the chat was closed when it ends before its token was sent', async () => {
    const { connecting, open } = await setUp({ token: { getToken: () => new Promise(() => {}) } })
    await open()
    last().end(1006)
    await turnEventLoop()
    expect(connecting.error).toMatchObject({ reason: 'closed', message: expect.stringContaining('closed') })
  })

  it('waits no longer for its last frames when the signal of the restart is aborted', async () => {
    const { chat, connection, open, clock } = await setUp()
    await open()
    last().bufferedAmount = 5
    const given = new AbortController()
    const restarting = watch(chat.restart({ sessionId: 'next', signal: given.signal, reset() {} }))
    await clock.advance(5)
    expect(connection.state).toBe('CONNECTED')
    given.abort()
    await turnEventLoop()
    expect([restarting.outcome, connection.state === 'CONNECTED']).toEqual(['ABORTED', false])
  })
})
