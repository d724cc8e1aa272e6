import { eventually, turnEventLoop, waitForEvent } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import {
  framesArrived,
  lastSession,
  namesOf,
  passing,
  payloadsOf,
  rejection,
  requestsTo,
  SlowHandler,
  sentTo,
  sessionBodies,
  setUp,
} from '../../test/agent-harness.ts'
import { BaseMessageHandler, type HandlerResult } from '../conversation/message-handler.ts'
import { createFeedbackMessage } from '../conversation/message-helpers.ts'
import type { AgentEvent } from '../events.ts'
import type { Message } from '../log/message.ts'

async function connected(...[config, options, replacements]: [object?, object?, object?]) {
  const all = setUp(options, replacements)
  const made = all.make(config)
  await made.agent.initialize()
  await made.agent.connect()
  return { ...all, ...made }
}

const contents = (agent: { getTranscript(): readonly { message: { content: string | undefined } }[] }) =>
  agent.getTranscript().map(({ message }) => message.content)

describe('send()', () => {
  it('returns the id, and the agent answers', async () => {
    const { agent, emulator } = await connected()
    const answer = waitForEvent<{ agentMessage: AgentEvent<'agentMessage'> }, 'agentMessage'>(agent, 'agentMessage')
    expect(await agent.send('Hello', { id: 'mine' })).toBe('mine')
    expect(await agent.send('Again')).toMatch(/^[0-9a-f-]{36}$/)
    expect((await answer).payload.message.content).toBe('You said: Hello')
    expect(sentTo(emulator)).toEqual(['Hello', 'Again'])
  })

  it('before initialize() it waits, and everything is sent in order', async () => {
    const { emulator, make } = setUp()
    const { agent, told } = make({ maxQueueSize: 3 })
    const ids = [await agent.send('one'), await agent.send('two')]
    expect(agent.getQueueSize()).toBe(2)
    expect(agent.getTranscriptSize()).toBe(0)
    await agent.initialize()
    expect(agent.getQueueSize()).toBe(2)
    expect(contents(agent)).toEqual(['one', 'two'])
    expect(agent.getTranscript()[0]).toMatchObject({
      direction: 'sent',
      sessionId: lastSession(emulator),
      agentId: 'help',
      message: { messageId: ids[0], to: 'Help Centre' },
    })
    await agent.send('three')
    await agent.connect()
    await agent.send('four')
    await framesArrived(emulator, 4)
    expect(sentTo(emulator)).toEqual(['one', 'two', 'three', 'four'])
    expect(payloadsOf(told, 'queueFlushed')).toEqual([{ count: 3 }])
    expect(agent.getQueueSize()).toBe(0)
  })

  it('[FLOW-04] [CFG-04] beyond maxQueueSize it rejects and records nothing, before initialize() and after', async () => {
    const { emulator, make } = setUp()
    const { agent, told } = make({ maxQueueSize: 2 })
    await agent.send('one')
    await agent.send('two')
    expect(await rejection(agent.send('three', { id: 'm-3' }))).toMatchObject({
      name: 'MessageError',
      code: 'MESSAGE_ERROR',
      reason: 'queue_full',
      messageId: 'm-3',
      message: expect.stringContaining('maxQueueSize'),
    })
    await agent.initialize()
    expect((await rejection(agent.send('four'))).reason).toBe('queue_full')
    expect(contents(agent)).toEqual(['one', 'two'])
    expect(payloadsOf(told, 'transcriptUpdate')).toHaveLength(2)
    expect(payloadsOf(told, 'error')).toEqual([])
    await agent.connect()
    await framesArrived(emulator, 2)
    expect(sentTo(emulator)).toEqual(['one', 'two'])
  })

  it('with an aborted signal it does nothing', async () => {
    const { make } = setUp()
    const { agent } = make()
    expect(await rejection(agent.send('x', { signal: AbortSignal.abort() }))).toMatchObject({
      name: 'SDKError',
      code: 'ABORTED',
    })
    expect(agent.getQueueSize()).toBe(0)
  })

  it('clearQueue() reports each dropped message', async () => {
    const { make } = setUp()
    const { agent, told } = make()
    const ids = [await agent.send('one')]
    await agent.initialize()
    ids.push(await agent.send('two'))
    agent.clearQueue()
    expect(agent.getQueueSize()).toBe(0)
    expect(payloadsOf(told, 'error').map(({ error }) => error)).toMatchObject(
      ids.map(messageId => ({ code: 'MESSAGE_ERROR', reason: 'cleared', messageId })),
    )
  })

  it('a message with data reaches the service unchanged', async () => {
    const { agent, emulator } = await connected()
    await agent.send(createFeedbackMessage({ rating: 'up', answerMessageId: 'a-1' }))
    const { feedback } = emulator.world.sessions.get(lastSession(emulator)) ?? { feedback: [] }
    await eventually(() => feedback.length)
    expect(feedback).toEqual([{ rating: 'up', answerMessageId: 'a-1' }])
  })
})

describe('sessions', () => {
  it("[CFG-10] the host's session is used unchanged, and its context is sent over the chat once", async () => {
    const { make, emulator, clock } = setUp()
    await make().agent.initialize()
    const sessionId = lastSession(emulator)
    const before = sessionBodies(emulator).length
    const { agent } = make({ sessionId, context: { plan: 'gold' } })
    await agent.send('held')
    await agent.initialize()
    await agent.connect()
    await framesArrived(emulator, 2, sessionId)
    expect(sentTo(emulator, sessionId)).toEqual(['context', 'held'])
    emulator.control.dropSockets()
    await eventually(() => agent.getState() === 'RECONNECTING')
    await clock.advance(5_000)
    await agent.send('again')
    await framesArrived(emulator, 3, sessionId)
    expect(sentTo(emulator, sessionId)).toEqual(['context', 'held', 'again'])
    expect(emulator.world.sessions.get(sessionId)?.context).toEqual({ plan: 'gold' })
    expect(sessionBodies(emulator)).toHaveLength(before)
  })

  it('[FLOW-09] restartConnection() creates a new session with the context in its call', async () => {
    const { agent, clock, emulator, told } = await connected({ context: { plan: 'gold' } })
    const old = lastSession(emulator)
    await agent.send('Hello')
    await framesArrived(emulator, 1)
    await passing(clock, agent.restartConnection())
    const present = lastSession(emulator)
    expect(present).not.toBe(old)
    expect(agent.isConnected()).toBe(true)
    expect(agent.getTranscript()).toEqual([])
    expect(sessionBodies(emulator)).toEqual([{ context: { plan: 'gold' } }, { context: { plan: 'gold' } }])
    await agent.send('new')
    await framesArrived(emulator, 1)
    expect(sentTo(emulator)).toEqual(['new'])
    expect(sentTo(emulator, old)).toEqual(['Hello', 'graceful disconnect'])
    expect(told.at(-1)?.event.sessionId).toBe(present)
    expect(payloadsOf(told, 'error')).toEqual([])
  })

  it('[FLOW-09] restartConnection({ sessionId }) sends the context over the chat before anything else', async () => {
    const { agent, clock, emulator, make } = await connected({ context: { plan: 'gold' } })
    const sessionId = lastSession(emulator)
    await make().agent.initialize()
    const other = lastSession(emulator)
    const calls = sessionBodies(emulator).length
    expect(other).not.toBe(sessionId)
    await passing(clock, agent.restartConnection({ sessionId: other }))
    await agent.send('new')
    await framesArrived(emulator, 2, other)
    expect(sentTo(emulator, other)).toEqual(['context', 'new'])
    expect(sessionBodies(emulator)).toHaveLength(calls)
  })

  it('a restart discards frames that wait for a handler that never answers', async () => {
    const { agent, clock, emulator, told } = await connected()
    class Never extends BaseMessageHandler {
      canHandle({ content }: Message): boolean {
        return content === 'never'
      }
      handle(): Promise<HandlerResult> {
        return new Promise(() => {})
      }
    }
    agent.getMessageProcessor().addHandler(new Never(), 0)
    for (const content of ['never', 'behind it'])
      emulator.control.pushFrame(lastSession(emulator), { persona: 'agent', role: 'x', content })
    await turnEventLoop()
    expect(payloadsOf(told, 'message')).toEqual([])
    await passing(clock, agent.restartConnection())
    emulator.control.pushFrame(lastSession(emulator), { persona: 'agent', role: 'x', content: 'new' })
    await eventually(() => payloadsOf(told, 'agentMessage').length)
    expect(payloadsOf(told, 'message').map(({ data }) => (data as Message).content)).toEqual(['new'])
  })

  it('an answer of the agent resets the backoff: the next outage starts with the shortest wait', async () => {
    for (const [speaks, wait] of [
      [true, 2_000],
      [false, 4_000],
    ] as const) {
      const { agent, clock, emulator } = await connected()
      const drop = async () => {
        emulator.control.dropSockets()
        await eventually(() => agent.getState() === 'RECONNECTING')
      }
      await drop()
      await clock.advance(2_000)
      expect(agent.isConnected()).toBe(true)
      if (speaks) {
        await agent.send('Hello')
        await eventually(() => agent.getTranscript({ persona: 'agent' }).length)
      }
      await drop()
      await clock.advance(wait / 2)
      expect(agent.isConnected()).toBe(false)
      await clock.advance(wait / 2)
      expect(agent.isConnected()).toBe(true)
    }
  })

  it('a restart drops queued messages and reports them', async () => {
    const { make } = setUp()
    const { agent, told } = make()
    await agent.initialize()
    const id = await agent.send('waits')
    await agent.restartConnection()
    expect(payloadsOf(told, 'error').map(({ error }) => error)).toMatchObject([{ reason: 'cleared', messageId: id }])
    expect(agent.getQueueSize()).toBe(0)
  })

  it('a restart without a session is one error event for all its callers, and the old chat stays', async () => {
    const { agent, emulator, told } = await connected()
    emulator.settings.tokenLifeSeconds = 100
    emulator.control.expireTokens(100)
    await agent.send('Hello')
    const failures = await Promise.all([rejection(agent.restartConnection()), rejection(agent.restartConnection())])
    expect(failures.map(({ code }) => code)).toEqual(['SESSION_UNAUTHORIZED', 'SESSION_UNAUTHORIZED'])
    expect(payloadsOf(told, 'error').map(({ error }) => error.code)).toEqual(['SESSION_UNAUTHORIZED'])
    expect(agent.isConnected()).toBe(true)
    expect(contents(agent)).toContain('Hello')
  })

  it('setSessionId() takes effect with the next connection', async () => {
    const { agent, clock, emulator, make, printed } = await connected({ context: { a: 1 } })
    const first = lastSession(emulator)
    await make().agent.initialize()
    const second = lastSession(emulator)
    agent.setSessionId(second)
    expect(printed.some(([line]) => String(line).startsWith('[WARN]'))).toBe(true)
    await agent.send('to the first')
    await framesArrived(emulator, 1, first)
    await passing(clock, agent.disconnect())
    await agent.connect()
    await agent.send('to the second')
    await framesArrived(emulator, 2, second)
    expect(sentTo(emulator, second)).toEqual(['context', 'to the second'])
  })

  it('[FLOW-24] what is said after setSessionId() on an open chat belongs to the session of that chat', async () => {
    const { agent, clock, emulator, told } = await connected()
    const first = lastSession(emulator)
    agent.setSessionId('another')
    const answer = waitForEvent<{ agentMessage: AgentEvent<'agentMessage'> }, 'agentMessage'>(agent, 'agentMessage')
    await agent.send('Hello')
    expect((await answer).sessionId).toBe(first)
    await passing(clock, agent.disconnect())
    await agent.send('to the next one')
    const sent = agent.getTranscript({ direction: 'sent' })
    expect(sent.map(({ message, sessionId }) => [message.content ?? message.role, sessionId])).toEqual([
      ['Hello', first],
      ['graceful disconnect', first],
      ['to the next one', 'another'],
    ])
    expect(new Set(agent.getTranscript({ direction: 'received' }).map(({ sessionId }) => sessionId))).toEqual(
      new Set([first]),
    )
    expect(told.find(({ name }) => name === 'closed')?.event.sessionId).toBe(first)
  })

  it.each(['', ' ', 'undefined', 'null', Number.NaN, undefined, null])(
    '[REST-10] the session id %j is rejected before any request or address is created',
    async id => {
      const { agent, emulator } = await connected()
      const before = requestsTo(emulator)
      expect(() => agent.setSessionId(id as never)).toThrowError(
        expect.objectContaining({ code: 'SESSION_ID_INVALID' }),
      )
      if (id !== undefined)
        expect((await rejection(agent.restartConnection({ sessionId: id as never }))).code).toBe('SESSION_ID_INVALID')
      expect(requestsTo(emulator)).toEqual(before)
      expect(agent.isConnected()).toBe(true)
    },
  )
})

describe('destroy()', () => {
  it('leaves no timer, even with a pending answer, reconnect or token renewal', async () => {
    for (const drop of [false, true]) {
      const { agent, clock, emulator, told } = await connected()
      await agent.send('Hello')
      if (drop) {
        emulator.control.dropSockets()
        await eventually(() => agent.getState() === 'RECONNECTING')
      }
      await agent.destroy()
      await turnEventLoop()
      expect(agent.getState()).toBe('CLOSED')
      expect(clock.pendingTimers).toBe(0)
      const before = told.length
      await clock.advance(3_600_000)
      expect(told).toHaveLength(before)
    }
  })

  it('later calls reject clearly and do nothing', async () => {
    const { agent, clock, emulator } = await connected()
    await agent.destroy()
    const before = requestsTo(emulator).length
    const token = emulator.control.issueToken()
    for (const call of [
      () => agent.initialize(),
      () => agent.connect(),
      () => agent.restartConnection(),
      () => agent.send('Hello'),
      () => agent.setContext({ a: 1 }),
      () => agent.updateAccessToken(token),
      () => agent.getAgentDetails(),
      () => agent.getDeploymentInfo(),
    ])
      expect(await rejection(call())).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('destroyed') })
    expect(() => agent.setSessionId('s')).toThrowError(expect.objectContaining({ code: 'ABORTED' }))
    await agent.disconnect()
    await agent.destroy()
    await turnEventLoop()
    expect(requestsTo(emulator)).toHaveLength(before)
    expect([agent.getQueueSize(), clock.pendingTimers, agent.listenerCount('error')]).toEqual([0, 0, 0])
  })

  it('drops pending messages in both directions', async () => {
    const { make } = setUp()
    const idle = make().agent
    await idle.send('held')
    await idle.destroy()
    expect(idle.getQueueSize()).toBe(0)

    const { agent, emulator } = await connected()
    const slow = new SlowHandler()
    agent.getMessageProcessor().addHandler(slow, 0)
    for (const content of ['slow', 'behind it'])
      emulator.control.pushFrame(lastSession(emulator), { persona: 'agent', role: 'x', content })
    await turnEventLoop()
    await agent.destroy()
    slow.fail()
    await turnEventLoop()
    expect(contents(agent)).toEqual(['slow'])
  })

  it('ends a restart in progress', async () => {
    const { agent, clock, emulator } = await connected()
    const failed = rejection(agent.restartConnection())
    await agent.destroy()
    expect((await failed).code).toBe('ABORTED')
    await turnEventLoop()
    await clock.advance(60_000)
    expect(agent.getState()).toBe('CLOSED')
    expect(clock.pendingTimers).toBe(0)
    expect(requestsTo(emulator).filter(request => request === 'GET ')).toHaveLength(1)
  })

  it('ends a connect() that waits for a graceful disconnect', async () => {
    const { agent, clock } = await connected()
    const leaving = agent.disconnect()
    const failed = rejection(agent.connect())
    await passing(clock, agent.destroy())
    expect((await failed).code).toBe('ABORTED')
    await leaving
    await clock.advance(60_000)
    expect([agent.getState(), clock.pendingTimers]).toEqual(['CLOSED', 0])
  })

  it('reports the end of the chat to the remaining listeners', async () => {
    const { agent, told } = await connected()
    told.length = 0
    await agent.destroy()
    expect(namesOf(told)).toEqual(['stateChanged', 'closed'])
  })
})
