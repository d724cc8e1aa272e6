import { inspect } from 'node:util'
import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import {
  framesArrived,
  lastSession,
  namesOf,
  passing,
  payloadsOf,
  rejection,
  SlowHandler,
  setUp,
  type ToldEvent,
} from '../test/agent-harness.ts'
import type { Message } from './log/message.ts'
import { type LogEntry, LogLevel } from './logger.ts'

async function connected(config: object = {}) {
  const all = setUp()
  const made = all.make(config)
  await made.agent.initialize()
  await made.agent.connect()
  const sessionId = lastSession(all.emulator)
  const push = async (frame: object | string, told: ToldEvent[] = made.told) => {
    const before = told.length
    const text = typeof frame === 'string' ? frame : JSON.stringify(frame)
    all.emulator.control.pushFrame(sessionId, text)
    await eventually(() => told.length > before)
    return told.slice(before)
  }
  return { ...all, ...made, sessionId, push }
}

const ANSWER = { messageId: 'm-1', persona: 'agent', role: 'customer support agent', content: 'Yes', timestamp: 7 }

const ESCALATION = {
  ...ANSWER,
  messageData: { escalation: true, escalationData: { live: true, liveDomain: 'live.test' } },
}

describe('one inbound frame', () => {
  it.each<[string, object, string[]]>([
    ['an answer', ANSWER, ['agentMessage']],
    ['an escalation', ESCALATION, ['agentMessage', 'escalation']],
    ['a heartbeat', { persona: 'system', role: 'heartbeat' }, ['heartbeat', 'workingChanged']],
    ['history', { persona: 'system', role: 'chat history', messageData: { chat_history: [1] } }, ['chatHistory']],
    ['an error', { persona: 'metadata', role: 'error', content: 'No' }, ['errorMessage']],
    ['rejected attributes', { persona: 'system', role: 'context validation', content: 'No' }, ['contextValidation']],
    ['an unknown frame', { persona: 'robot', role: 'beep' }, []],
  ])('%s: emits transcriptUpdate, message, then the typed event', async (_case, frame, own) => {
    const { agent, push, sessionId } = await connected()
    const told = await push(frame)
    expect(namesOf(told)).toEqual(['transcriptUpdate', 'message', ...own])
    expect(agent.getTranscriptSize()).toBe(1)
    const [update, message] = told as [ToldEvent, ToldEvent]
    expect((update.event.payload as { entry: unknown }).entry).toBe(agent.getTranscript()[0])
    expect((message.event.payload as { data: unknown }).data).toBe(agent.getTranscript()[0]?.message)
    for (const { name, event } of told)
      expect(event).toMatchObject({ type: name, agentId: 'help', sessionId, timestamp: expect.any(Number) })
  })

  it('agentMessage carries the result without the fields of the envelope', async () => {
    const { push } = await connected()
    const [, , { event } = {} as ToldEvent] = await push(ANSWER)
    expect(event.payload).toEqual({
      type: 'agent_message',
      messageId: 'm-1',
      from: { name: 'Help Centre', isAi: true },
      to: { name: 'Customer', isAi: false },
      message: {
        persona: 'agent',
        role: 'customer support agent',
        content: 'Yes',
        raw: {},
        showReasoning: false,
        showFeedback: true,
        showOptions: false,
      },
    })
  })

  it('escalation carries its data and the message it came with', async () => {
    const { told, push } = await connected()
    await push(ESCALATION)
    expect(payloadsOf(told, 'escalation')).toEqual([
      {
        escalationType: 'live',
        escalationData: { live: true, liveDomain: 'live.test' },
        messageId: 'm-1',
        message: payloadsOf(told, 'agentMessage')[0]?.message,
      },
    ])
  })

  it('[EVT-04] transcriptUpdate carries the fields of the entry, and the entry', async () => {
    const { agent, told, push, sessionId } = await connected({ transcriptConfig: { excludeRoles: ['heartbeat'] } })
    expect(namesOf(await push({ persona: 'system', role: 'heartbeat' }))).toEqual([
      'message',
      'heartbeat',
      'workingChanged',
    ])
    await push(ANSWER)
    const [payload] = payloadsOf(told, 'transcriptUpdate')
    expect(payload).toEqual({
      id: agent.getTranscript()[0]?.id,
      message: agent.getTranscript()[0]?.message,
      direction: 'received',
      timestamp: 7,
      sessionId,
      agentId: 'help',
      entry: agent.getTranscript()[0],
    })
  })

  it('[EVT-04] [CFG-08] transcriptUpdate is emitted for sent and received messages also when storing is off', async () => {
    const { agent, told, push, emulator } = await connected({ transcriptConfig: { enabled: false } })
    await agent.send('Hello')
    await framesArrived(emulator, 1)
    await push(ANSWER)
    await push({ persona: 'metadata', role: 'token', messageData: { token: 't' } })
    expect(payloadsOf(told, 'transcriptUpdate').filter(({ message }) => message.content).length).toBeGreaterThan(1)
    expect(payloadsOf(told, 'transcriptUpdate').some(({ message }) => message.role === 'token')).toBe(false)
    expect(agent.getTranscript()).toEqual([])
  })

  it('an unreadable frame emits one error and its raw data, and adds no entry', async () => {
    const { agent, push } = await connected()
    const told = await push('{"persona":')
    expect(namesOf(told)).toEqual(['error', 'message'])
    expect(payloadsOf(told, 'error')[0]?.error).toMatchObject({
      name: 'MessageError',
      code: 'MESSAGE_ERROR',
      reason: 'unreadable',
      cause: { name: 'ProtocolError' },
    })
    expect(payloadsOf(told, 'message')).toEqual([{ data: '{"persona":' }])
    expect(agent.getTranscriptSize()).toBe(0)
    expect(namesOf(await push(ANSWER))).toContain('agentMessage')
  })

  it('keeps the order of the wire behind a slow handler', async () => {
    const { agent, emulator, sessionId, told } = await connected()
    const slow = new SlowHandler()
    agent.getMessageProcessor().addHandler(slow, 0)
    for (const content of ['slow', 'next'])
      emulator.control.pushFrame(sessionId, { persona: 'agent', role: 'x', content })
    await turnEventLoop()
    expect(payloadsOf(told, 'message')).toEqual([])
    slow.fail()
    await eventually(() => payloadsOf(told, 'agentMessage').length)
    expect(payloadsOf(told, 'message').map(({ data }) => (data as Message).content)).toEqual(['slow', 'next'])
  })
})

describe('listeners', () => {
  it('[EVT-09] one that throws or rejects is logged at ERROR and does not affect the others', async () => {
    const { emulator, make } = setUp()
    const { agent, told } = make({ enableLogging: false })
    const logged: LogEntry[] = []
    agent.logger.on('log', entry => void logged.push(entry))
    const failure = new Error('listener failed')
    const names = [
      'initialized',
      'stateChanged',
      'connected',
      'transcriptUpdate',
      'message',
      'agentMessage',
      'closed',
    ] as const
    for (const name of names) {
      agent.on(name, () => {
        throw failure
      })
      agent.on(name, () => Promise.reject(failure))
      agent.once(name, () => {
        throw failure
      })
    }
    const after: string[] = []
    for (const name of names) agent.on(name, () => void after.push(name))
    await agent.initialize()
    await agent.connect()
    await agent.send('Hello')
    await eventually(() => payloadsOf(told, 'agentMessage').length)
    emulator.control.dropSockets(1000)
    await eventually(() => after.includes('closed'))
    expect(new Set(after)).toEqual(new Set(names))
    expect(payloadsOf(told, 'error')).toEqual([])
    const errors = logged.filter(({ level }) => level >= LogLevel.WARN)
    expect(errors.every(({ level, error }) => level === LogLevel.ERROR && error === failure)).toBe(true)
    for (const name of names) expect(errors.some(({ message }) => message.includes(`'${name}'`))).toBe(true)
  })

  it('may send from within an event, and messages keep their order', async () => {
    const { emulator, make } = setUp()
    const { agent } = make()
    for (const text of ['one', 'two', 'three']) await agent.send(text)
    const sent: Array<Promise<string>> = []
    agent.once('transcriptUpdate', () => void sent.push(agent.send('at the first entry')))
    agent.once('initialized', () => void sent.push(agent.send('at initialized')))
    agent.once('connected', () => void sent.push(agent.send('at connected')))
    await agent.initialize()
    await agent.connect()
    await Promise.all(sent)
    await framesArrived(emulator, 6)
    expect(emulator.control.frames(lastSession(emulator)).map(({ message }) => message?.content)).toEqual([
      'one',
      'two',
      'three',
      'at the first entry',
      'at initialized',
      'at connected',
    ])
  })
})

describe('errors', () => {
  it('[ERR-03] carry a stable code and their cause', async () => {
    const { agent, emulator, make, told } = await connected({ maxReconnectAttempts: 0 })
    expect(await rejection(make({ id: 'account' }).agent.initialize())).toMatchObject({
      name: 'AuthError',
      code: 'AUTH_ERROR',
    })
    const broken = await rejection(agent.send({ messageData: { n: 1n } as never }))
    expect(broken).toMatchObject({ name: 'MessageError', code: 'MESSAGE_ERROR', reason: 'encoding_failed' })
    expect(broken.cause).toBeInstanceOf(Error)
    expect(await rejection(make().agent.connect())).toMatchObject({ name: 'SDKError', code: 'NOT_INITIALIZED' })
    emulator.control.dropSockets()
    await eventually(() => agent.getState() === 'CLOSED')
    expect(payloadsOf(told, 'error').map(({ error }) => error)).toMatchObject([
      { name: 'ConnectionError', code: 'CONNECTION_ERROR', reason: 'attempts_used_up' },
    ])
    emulator.close()
    expect(await rejection(make({}, { fetch: emulator.fetch }).agent.restartConnection())).toMatchObject({
      code: 'NOT_INITIALIZED',
    })
    expect(await rejection(agent.restartConnection())).toMatchObject({
      name: 'ApiError',
      code: 'API_ERROR',
      reason: 'network',
      cause: expect.any(TypeError),
    })
  })

  it('one failure emits one error event and rejects its promise with the same error', async () => {
    const { agent, emulator, told } = await connected({ maxReconnectAttempts: 3 })
    await agent.disconnect({ skipGracefulDisconnect: true })
    emulator.close()
    const error = await rejection(agent.connect())
    expect(payloadsOf(told, 'error')).toEqual([{ error }])
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'refused' })
    await agent.destroy()
  })
})

describe('the log', () => {
  it('contains no token, content, context value or session id, at any level', async () => {
    const { clock, emulator, make, printed } = setUp()
    const accessToken = emulator.control.issueToken()
    const { agent, told } = make({
      id: 'account',
      auth: { type: 'pre-auth', accessToken },
      context: { plan: 'SECRET context' },
      logLevel: LogLevel.TRACE,
    })
    const logged: LogEntry[] = []
    agent.logger.on('log', entry => void logged.push(entry))
    await agent.send('SECRET held')
    await agent.initialize()
    await agent.connect()
    const ids = [lastSession(emulator)]
    await agent.send('SECRET sent')
    await eventually(() => payloadsOf(told, 'agentMessage').length)
    for (const frame of ['SECRET {', '{"persona":"robot","role":"beep","content":"SECRET"}'])
      emulator.control.pushFrame(ids[0] ?? '', frame)
    await rejection(agent.send({ content: 'SECRET', messageData: { a: 'SECRET', n: 1n } as never }))
    await rejection(agent.setContext({ a: 'SECRET', n: 1n }))
    agent.setSessionId(`${ids[0]}`)
    emulator.control.forgetSession(ids[0] ?? '')
    await passing(
      clock,
      eventually(() => payloadsOf(told, 'error').length > 1),
    )
    await clock.advance(10_000)
    await eventually(() => agent.isConnected())
    ids.push(lastSession(emulator))
    await passing(
      clock,
      agent.restartConnection({ sessionId: 'no-such-session' }).catch(() => {}),
    )
    ids.push('no-such-session')
    await clock.advance(10_000)
    await agent.updateAccessToken(emulator.control.issueToken({ lifeSeconds: 7_200 }))
    const token = (await agent.getAccessToken()) ?? ''
    emulator.close()
    await rejection(agent.restartConnection())
    await clock.advance(60_000)
    await agent.destroy()
    expect(logged.length).toBeGreaterThan(10)
    expect(logged.some(({ sessionId }) => sessionId === ids[0])).toBe(true)
    const text = inspect([printed, logged.map(({ message, context, error }) => [message, context, error])], {
      depth: Number.POSITIVE_INFINITY,
      maxArrayLength: null,
      maxStringLength: null,
    })
    for (const secret of ['SECRET', accessToken, token, ...ids]) expect(text).not.toContain(secret)
  })
})
