import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it, vi } from 'vitest'
import { framesArrived, lastSession, rejection, requestsTo, sentTo, setUp } from '../../test/agent-harness.ts'
import { FakeProvider } from '../../test/fake-login.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { storedText } from '../../test/stored-text.ts'
import { AiAgent } from '../ai-agent.ts'
import { userKey } from '../auth/stored-login.ts'
import type { AiAgentConfig } from '../config.ts'

/** An agent that was never initialized, with a strategy of the host. */
function setUpStrategy(more: object = {}) {
  const parts = setUp()
  const strategy = { initialize: vi.fn(), authenticate: vi.fn(), getToken: vi.fn(() => null), ...more }
  const { agent } = parts.make({ auth: strategy as never })
  return { ...parts, strategy, agent }
}

describe('before initialize()', () => {
  it('every synchronous call answers', async () => {
    const { emulator, make } = setUp()
    const { agent } = make()
    expect(agent.status.phase).toEqual({ at: 'idle' })
    expect(agent.getState()).toBe('IDLE')
    expect([agent.isConnected(), agent.status.working, agent.getIsInitialized()]).toEqual([false, false, false])
    expect([agent.getTranscript(), agent.getTranscriptAsJSON(), agent.getTranscriptSize()]).toEqual([[], [], 0])
    expect(agent.getTranscript()).toBe(agent.getTranscript())
    expect([
      agent.getContext(),
      agent.getUserDetails(),
      agent.getCallerInfo(),
      agent.getConversationId(),
      await agent.getAccessToken(),
    ]).toEqual([null, null, null, null, null])
    expect(agent.delivery('unknown')).toBeUndefined()
    expect(agent.getMessageProcessor().getHandlers()).toHaveLength(6)
    expect(agent.maskContent('text')).toBe('text')
    await agent.setContext({ plan: 'gold' })
    expect(agent.getContext()).toEqual({ plan: 'gold' })
    expect(requestsTo(emulator)).toEqual([])
    await agent.destroy()
  })

  it.each([
    [{ type: 'unknown' }, 'invalid_input'],
    [{ type: 'pkce', config: {} }, 'browser_unsupported'],
    [{ type: 'client-credentials' }, 'invalid_input'],
  ])('the constructor refuses the login %j', (auth, reason) => {
    const { emulator, environment } = setUp()
    const config = { id: 'help', endpoint: emulator.origin, auth } as never
    expect(() => new AiAgent(config, environment)).toThrow(expect.objectContaining({ reason }))
  })

  it('an invalid message is refused, and a valid one keeps the content that it was sent with', async () => {
    const { emulator, make } = setUp()
    const { agent } = make()
    expect(await rejection(agent.send({ persona: '' }))).toMatchObject({ reason: 'invalid' })
    expect(await rejection(agent.ask(7 as never))).toMatchObject({ reason: 'invalid' })
    const note = { persona: 'customer', role: 'human', messageData: { note: 'as it was' } }
    await agent.send(note, { id: 'mine' })
    note.messageData.note = 'as it became'
    await agent.initialize()
    expect(agent.getTranscript().map(({ message }) => message.messageData)).toEqual([{ note: 'as it was' }])
    await agent.connect()
    await framesArrived(emulator, 1)
    await agent.destroy()
  })

  it('a full queue refuses context to send, a cancelled message leaves it, and disconnect() rejects its question', async () => {
    const { emulator, make } = setUp()
    const { agent } = make({ maxQueueSize: 2 })
    await agent.send('one', { id: 'one' })
    const asked = rejection(agent.ask('two'))
    expect(await rejection(agent.setContext({ plan: 'gold' }, { sendImmediately: true }))).toMatchObject({
      reason: 'queue_full',
    })
    expect([agent.getQueueSize(), agent.getContext()]).toEqual([2, null])
    expect(agent.delivery('one')?.cancel()).toBe(true)
    expect([agent.getQueueSize(), agent.delivery('one')?.state]).toEqual([1, 'cancelled'])
    void agent.disconnect()
    expect(agent.getQueueSize()).toBe(0)
    expect(await asked).toMatchObject({ reason: 'closed' })
    expect(requestsTo(emulator)).toEqual([])
    await agent.destroy()
  })

  it('clearQueue() drops and reports each message, and what is sent again or later is delivered', async () => {
    const { emulator, make } = setUp()
    const { agent } = make()
    const told: string[] = []
    for (const type of ['deliveryUpdate', 'error'] as const) agent.on(type, () => void told.push(type))
    const asked = rejection(agent.ask('asked'))
    void agent.send('dropped', { id: 'dropped' })
    agent.clearQueue()
    expect(agent.getQueueSize()).toBe(0)
    expect(told).toEqual(['deliveryUpdate', 'deliveryUpdate', 'error'])
    expect(await asked).toMatchObject({ reason: 'cleared' })
    expect(agent.delivery('dropped')?.retry()).toBe(true)
    const answer = agent.ask('asked again')
    await agent.initialize()
    await agent.connect()
    await answer
    expect(sentTo(emulator)).toEqual(['dropped', 'asked again'])
    await agent.destroy()
  })

  it('the host sets the session and the token that are used', async () => {
    const { emulator, make } = setUp()
    const { agent, told } = make()
    await make().agent.initialize()
    const sessionId = lastSession(emulator)
    const requests = requestsTo(emulator).length
    agent.setSessionId(sessionId)
    const token = emulator.control.issueToken({ subject: 'somebody', lifeSeconds: 600 })
    await Promise.all([agent.updateAccessToken(token), agent.initialize()])
    expect(await agent.getAccessToken()).toBe(token)
    await agent.connect()
    expect(told.find(({ name }) => name === 'connected')?.event.sessionId).toBe(sessionId)
    expect(requestsTo(emulator).slice(requests)).not.toContain('POST session')
    await agent.destroy()
  })

  it('[SEC-15] logout() empties memory and stored tokens before it returns', async () => {
    const sessionStorage = new FakeStorage()
    const key = userKey('https://login.example', 'page')
    sessionStorage.setItem(key, storedText({ accessToken: 'access', idToken: 'id' }))
    const { agent } = setUp({}, { sessionStorage, page: { window: undefined } as never }).make({
      auth: { type: 'pkce', config: { authorizationUrl: 'https://login.example', clientId: 'page' } } as never,
    })
    let isCleared = false
    agent.on('transcriptCleared', () => {
      isCleared = true
    })
    await agent.setContext({ plan: 'gold' })
    void agent.send('waiting', { id: 'waiting' })
    const asked = rejection(agent.ask('waiting too'))
    const left = agent.logout().catch(() => {})
    expect(sessionStorage.getItem(key)).toBeNull()
    expect([agent.getQueueSize(), agent.getContext(), agent.delivery('waiting')]).toEqual([0, null, undefined])
    expect([agent.status.phase.at, isCleared]).toEqual(['leaving', true])
    expect(await rejection(agent.send('no'))).toMatchObject({ code: 'ABORTED' })
    expect(await asked).toMatchObject({ reason: 'closed' })
    await agent.destroy()
    await left
  })

  it('[AUTH-20] logout() signs out with the strategy of the host', async () => {
    const logout = vi.fn()
    const { agent } = setUpStrategy({ logout })
    await agent.logout()
    expect(logout).toHaveBeenCalledTimes(1)
    expect(agent.status.phase).toEqual({ at: 'idle' })
    await agent.destroy()
  })

  it('[AUTH-20] logout() ends the login of an earlier page at its provider', async () => {
    const identity = new FakeProvider()
    const config = { clientId: 'page', redirectUri: 'https://host.example/', knownAuthorities: ['login.example'] }
    const auth = identity.login(config)
    const { agent } = setUp({}, { page: { window: undefined } as never }).make({ auth })
    await agent.logout()
    expect(identity.calls.filter(call => call !== 'restore')).toEqual([expect.stringContaining('logout')])
    await agent.destroy()
  })

  it('[REL-03] destroy() releases the strategy of the host, and waits for it', async () => {
    let finish = () => {}
    const cleanup = vi.fn(() => new Promise<void>(resolve => (finish = resolve)))
    const { agent, emulator } = setUpStrategy({ cleanup })
    let isDestroyed = false
    const destroyed = agent.destroy().then(() => (isDestroyed = true))
    await eventually(() => cleanup.mock.calls.length > 0, 'the call')
    await turnEventLoop()
    expect(cleanup).toHaveBeenCalledTimes(1)
    expect(isDestroyed).toBe(false)
    finish()
    await destroyed
    expect(emulator.control.requests()).toEqual([])
  })

  it.each<[string, AiAgentConfig['auth']]>([
    ['no login', undefined],
    ['a function of the host', { getToken: () => 'token' }],
    ['a token of the host', { type: 'pre-auth', accessToken: 'token' }],
    ['a strategy without an end', { initialize() {}, authenticate() {}, getToken: () => null } as never],
  ])('[REL-03] destroy() and logout() have nothing to release with %s', async (_what, auth) => {
    for (const end of ['destroy', 'logout'] as const) {
      const { make, emulator, printed } = setUp()
      const { agent } = make(auth === undefined ? {} : { auth })
      await agent[end]()
      expect(agent.status.phase).toEqual({ at: end === 'destroy' ? 'destroyed' : 'idle' })
      expect([emulator.control.requests(), printed]).toEqual([[], []])
    }
  })

  it('[REL-12] disconnect() rejects a question, and keeps a message', async () => {
    const { agent } = setUp().make()
    const id = await agent.send('one')
    const asked = rejection(agent.ask('two'))
    await agent.disconnect()
    expect(await asked).toMatchObject({ reason: 'closed' })
    expect([agent.getQueueSize(), agent.delivery(id)?.state]).toEqual([1, 'queued'])
    await agent.destroy()
  })
})

describe('a call that another one ends', () => {
  it('[REL-03] destroy() at once rejects every call that waits, and leaves nothing', async () => {
    const { clock, make } = setUp()
    const { agent } = make()
    void agent.send('hello', { id: 'hello' })
    const outcome = agent.delivery('hello')?.outcome
    const waiting = [agent.initialize(), agent.ask('question'), agent.updateAccessToken('token')].map(rejection)
    const stream = agent.messages().next()
    await agent.destroy()
    for (const failure of await Promise.all(waiting)) expect(failure).toMatchObject({ code: 'ABORTED' })
    expect(await outcome).toBe('failed')
    expect(await stream).toEqual({ done: true, value: undefined })
    expect(await rejection(agent.send('hello'))).toMatchObject({ code: 'ABORTED' })
    expect(() => agent.messages()).toThrow(expect.objectContaining({ code: 'ABORTED' }))
    expect(await agent.disconnect()).toBeUndefined()
    expect([agent.status.phase, clock.pendingTimers]).toEqual([{ at: 'destroyed' }, 0])
  })

  it.each([
    ['initialize', 'logout', 'logout()', {}],
    ['initialize', 'disconnect', 'disconnect()', { retryInitialize: true }],
    ['initialize', 'destroy', 'destroyed', {}],
    ['getDeploymentInfo', 'logout', 'logout()', {}],
    ['getDeploymentInfo', 'destroy', 'destroyed', {}],
    ['getAgentDetails', 'logout', 'logout()', {}],
    ['getAgentDetails', 'destroy', 'destroyed', {}],
  ] as const)('[REL-03] %s() names %s()', async (call, end, name, config) => {
    const { agent } = setUp().make(config)
    const failed = rejection(agent[call]())
    const ended = agent[end]()
    expect(await failed).toMatchObject({ code: 'ABORTED', message: expect.stringContaining(name) })
    await ended
    await agent.destroy()
  })

  it('ask() names destroy()', async () => {
    const { agent } = setUp().make()
    const asked = rejection(agent.ask('one'))
    await agent.destroy()
    expect(await asked).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('destroy()') })
  })

  it('connect() names initialize() again when a choice has ended with logout()', async () => {
    const { make, emulator } = setUp()
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const { agent } = make({ id: 'desk', auth: { type: 'pre-auth', accessToken } })
    expect(await agent.initialize()).toMatchObject({ status: 'choose' })
    await agent.logout()
    const error = await rejection(agent.connect())
    expect(error).toMatchObject({ code: 'NOT_INITIALIZED', message: expect.stringContaining('initialize()') })
    expect(error.message).not.toContain('select')
    await agent.destroy()
  })
})
