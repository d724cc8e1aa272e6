import { createEmulator } from '@aiagent/emulator'
import { ManualClock } from '@aiagent/test-support'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { AiAgentConfig } from '../src/config.ts'
import type { AgentEventType } from '../src/events.ts'
import type { Environment } from '../src/platform/environment.ts'
import { lastSession, rejection, requestsTo, sentTo } from './agent-harness.ts'
import { FakeIdentityClient } from './fake-identity-client.ts'
import { FakeStorage } from './fake-service.ts'

const PARTS = '../src/agent/build-agent.ts'

/** Creates an agent whose late parts load when `arrive()` is called, or fail to load with `fail()`. */
async function setUp(config: Partial<AiAgentConfig> = {}, replacements: Partial<Environment> = {}) {
  vi.resetModules()
  let arrive = () => {}
  let fail = (_: Error) => {}
  const gate = new Promise<void>((resolve, reject) => {
    arrive = resolve
    fail = reject
  })
  vi.doMock(PARTS, async importOriginal => {
    await gate
    return importOriginal()
  })
  const { AiAgent } = await import('../src/ai-agent.ts')
  const clock = new ManualClock()
  const emulator = createEmulator({ clock })
  const told: [type: AgentEventType, payload: unknown][] = []
  const environment = { fetch: emulator.fetch, WebSocket: emulator.WebSocket, clock, ...replacements }
  const agent = new AiAgent({ id: 'help', endpoint: emulator.origin, enableLogging: false, ...config }, environment)
  for (const type of ['phaseChanged', 'error', 'deliveryUpdate', 'transcriptCleared', 'stateChanged'] as const)
    agent.on(type, ({ payload }) => void told.push([type, payload]))
  const phases = () => told.flatMap(([, payload]) => (payload as { at?: string }).at ?? [])
  return { AiAgent, agent, arrive, fail, clock, emulator, environment, told, phases }
}

beforeEach(() => {
  vi.doUnmock(PARTS)
})

describe('an agent whose late parts are loading', () => {
  it('[REL-37] answers every synchronous call, and refuses a wrong configuration at once', async () => {
    const { AiAgent, agent, emulator, environment } = await setUp()
    expect(agent.getPhase()).toEqual({ at: 'idle' })
    expect(agent.getState()).toBe('IDLE')
    expect([agent.isConnected(), agent.isWorking, agent.getIsInitialized()]).toEqual([false, false, false])
    expect([agent.getTranscript(), agent.getTranscriptAsJSON(), agent.getTranscriptSize()]).toEqual([[], [], 0])
    expect(agent.getTranscript()).toBe(agent.getTranscript())
    expect([agent.getContext(), agent.getUserDetails(), agent.getCallerInfo(), agent.getConversationId()]).toEqual([
      null,
      null,
      null,
      null,
    ])
    expect(agent.delivery('unknown')).toBeUndefined()
    expect(agent.getMessageProcessor().getHandlers()).toHaveLength(6)
    expect(agent.maskContent('text')).toBe('text')
    expect(await agent.getAccessToken()).toBeNull()
    expect((await agent.explain()).code).toBe('not_initialized')
    await agent.setContext({ plan: 'gold' })
    expect(agent.getContext()).toEqual({ plan: 'gold' })
    const create = (auth: unknown) => () =>
      new AiAgent({ id: 'a', endpoint: emulator.origin, auth } as never, environment)
    expect(create({ type: 'unknown' })).toThrow(expect.objectContaining({ reason: 'invalid_input' }))
    expect(create({ type: 'pkce', config: {} })).toThrow(expect.objectContaining({ reason: 'browser_unsupported' }))
    expect(create({ type: 'client-credentials' })).toThrow(expect.objectContaining({ reason: 'invalid_input' }))
    await agent.destroy()
  })

  it('[REL-37] makes the first request of initialize() meanwhile, once, and sends what waited in its order', async () => {
    const { agent, arrive, emulator, phases } = await setUp()
    const initialized = agent.initialize({ context: { plan: 'gold' } })
    const answer = agent.ask('asked first')
    const note = { persona: 'customer', role: 'human', messageData: { note: 'as it was' } }
    const sent = [agent.send('first'), agent.send(note, { id: 'mine' })]
    note.messageData.note = 'as it became'
    agent.setLanguage('fr-CA')
    const streamed = agent.messages().next()
    expect(agent.getQueueSize()).toBe(3)
    expect(agent.delivery('mine')?.state).toBe('queued')
    expect(agent.getPhase()).toEqual({ at: 'preparing' })
    expect(await rejection(agent.connect())).toMatchObject({ code: 'NOT_INITIALIZED' })
    await vi.waitFor(() => expect(requestsTo(emulator)).toHaveLength(1))
    arrive()
    await initialized
    expect(await Promise.all(sent)).toEqual([expect.any(String), 'mine'])
    expect(requestsTo(emulator).filter(request => request === requestsTo(emulator)[0])).toHaveLength(1)
    await agent.connect()
    await vi.waitFor(() => expect(sentTo(emulator, lastSession(emulator))).toHaveLength(3))
    expect(sentTo(emulator, lastSession(emulator)).slice(0, 2)).toEqual(['asked first', 'first'])
    expect(agent.getTranscript().find(({ message }) => message.messageId === 'mine')?.message.messageData).toEqual({
      note: 'as it was',
    })
    expect((await answer).persona).toBe('agent')
    expect((await streamed).value).toMatchObject({ persona: 'agent' })
    expect(phases()).toEqual(['preparing', 'ready'])
    await agent.destroy()
  })

  it('[REL-37] reads a refusal of the first request with the code that came later, and repeats it', async () => {
    const emulator = createEmulator()
    const asked: string[] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      asked.push(String(input))
      return asked.length > 1
        ? emulator.fetch(String(input), init)
        : new Response('', { status: 429, headers: { 'Retry-After': '0' } })
    }
    const { agent, arrive, clock } = await setUp({ endpoint: emulator.origin }, { fetch })
    const limits: unknown[] = []
    agent.on('rateLimited', ({ payload }) => void limits.push(payload))
    const loading = agent.getDeploymentInfo()
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    arrive()
    await vi.waitFor(() => expect(limits).toHaveLength(1))
    await clock.advance(1)
    expect((await loading).apiDomain).toBeTruthy()
    expect(limits).toEqual([{ source: 'rest', operation: 'getDeploymentInfo', retryInMs: 0 }])
    expect(asked).toEqual([asked[0], asked[0]])
    await agent.destroy()
  })

  it.each([
    ['destroy()', ({ agent }) => void agent.destroy()],
    ['a chunk that does not load', ({ fail }) => fail(new Error('offline'))],
  ] as [string, (made: Awaited<ReturnType<typeof setUp>>) => void][])(
    '[REL-37] ends the first request with %s',
    async (_, end) => {
      const signals: (AbortSignal | null | undefined)[] = []
      const fetch: typeof globalThis.fetch = (_input, init) => {
        signals.push(init?.signal)
        return new Promise(() => {})
      }
      const made = await setUp({}, { fetch })
      const failed = rejection(made.agent.getDeploymentInfo())
      await vi.waitFor(() => expect(signals).toHaveLength(1))
      end(made)
      expect(await failed).toBeInstanceOf(Error)
      await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true))
      await made.agent.destroy()
    },
  )

  it('[REL-37] refuses at once what it always refuses: an invalid message, one too many, an aborted one', async () => {
    const { agent, emulator } = await setUp({ maxQueueSize: 2 })
    expect(await rejection(agent.send({ persona: '' }))).toMatchObject({ reason: 'invalid' })
    expect(await rejection(agent.ask(7 as never))).toMatchObject({ reason: 'invalid' })
    await agent.send('one', { id: 'one' })
    const asked = rejection(agent.ask('two'))
    expect(await rejection(agent.send('three'))).toMatchObject({ reason: 'queue_full' })
    expect(await rejection(agent.send('three', { signal: AbortSignal.abort() }))).toMatchObject({ code: 'ABORTED' })
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

  it('[REL-37] drops its queue at once, reports each message, and keeps what comes after', async () => {
    const { agent, arrive, emulator, told } = await setUp()
    const asked = rejection(agent.ask('asked'))
    void agent.send('dropped', { id: 'dropped' })
    agent.clearQueue()
    expect(agent.getQueueSize()).toBe(0)
    expect(told.map(([type]) => type)).toEqual(['deliveryUpdate', 'deliveryUpdate', 'error'])
    expect(await asked).toMatchObject({ reason: 'cleared' })
    expect(agent.delivery('dropped')?.retry()).toBe(true)
    const answer = agent.ask('asked again')
    arrive()
    await agent.initialize()
    await agent.connect()
    await answer
    expect(sentTo(emulator, lastSession(emulator))).toEqual(['dropped', 'asked again'])
    await agent.destroy()
  })

  it('[REL-37] uses the session and the token that the host sets meanwhile', async () => {
    const { agent, arrive, emulator } = await setUp()
    expect(() => agent.setSessionId(' ')).toThrow(expect.objectContaining({ code: 'SESSION_ID_INVALID' }))
    agent.setSessionId('mine')
    const token = emulator.control.issueToken({ subject: 'somebody', lifeSeconds: 600 })
    const updated = agent.updateAccessToken(token)
    const initialized = agent.initialize()
    arrive()
    await Promise.all([updated, initialized])
    expect(await agent.getAccessToken()).toBe(token)
    let sessionId: string | undefined
    agent.on('connected', event => {
      sessionId = event.sessionId
    })
    await agent.connect().catch(() => {})
    expect(sessionId ?? 'mine').toBe('mine')
    expect(requestsTo(emulator).some(request => request.includes('session'))).toBe(false)
    await agent.destroy()
  })

  it('[REL-37] can be aborted before its late parts are there, and starts clean afterwards', async () => {
    const { agent, arrive, phases } = await setUp()
    const controller = new AbortController()
    const aborted = rejection(agent.initialize({ signal: controller.signal }))
    controller.abort()
    expect(await aborted).toMatchObject({ code: 'ABORTED' })
    await vi.waitFor(() => expect(agent.getPhase().at).toBe('idle'))
    arrive()
    await agent.initialize()
    expect(phases()).toEqual(['preparing', 'idle', 'preparing', 'ready'])
    await agent.destroy()
  })

  it('[REL-37] reports MODULE_LOAD_FAILED when they cannot be loaded, and loads them again with the next call', async () => {
    const { agent, fail, emulator, phases } = await setUp()
    const sent = agent.send('hello')
    const failures = [agent.initialize(), agent.getAgentDetails()].map(rejection)
    fail(new Error('offline'))
    for (const failure of await Promise.all(failures)) expect(failure).toMatchObject({ code: 'MODULE_LOAD_FAILED' })
    await sent
    expect(agent.getQueueSize()).toBe(1)
    expect(agent.getPhase()).toMatchObject({ at: 'idle', error: { code: 'MODULE_LOAD_FAILED' } })
    expect((await agent.explain()).code).toBe('initialize_failed')
    vi.doUnmock(PARTS)
    expect(await agent.initialize()).toEqual({ status: 'ready' })
    expect(phases()).toEqual(['preparing', 'idle', 'preparing', 'ready'])
    await agent.connect()
    await vi.waitFor(() => expect(sentTo(emulator, lastSession(emulator))).toEqual(['hello']))
    await agent.destroy()
  })

  it('[REL-37] loads them again by itself with retryInitialize', async () => {
    const { agent, fail, clock, emulator, told } = await setUp({ retryInitialize: true })
    const initialized = agent.initialize()
    void agent.send('hello')
    fail(new Error('offline'))
    await vi.waitFor(() => expect(agent.getState()).toBe('RECONNECTING'))
    expect(agent.getQueueSize()).toBe(1)
    vi.doUnmock(PARTS)
    await clock.advance(2_000)
    expect(await initialized).toEqual({ status: 'ready' })
    await agent.connect()
    await vi.waitFor(() => expect(sentTo(emulator, lastSession(emulator))).toEqual(['hello']))
    const states = told.flatMap(([type, payload]) =>
      type === 'stateChanged' ? (payload as { state: string }).state : [],
    )
    expect(states.slice(0, 2)).toEqual(['RECONNECTING', 'CONNECTING'])
    await agent.destroy()
  })

  it('[REL-37] gives up after four failures in a row with retryInitialize, with an error that says to reload the page', async () => {
    const { agent, fail, clock, told } = await setUp({ retryInitialize: true })
    const failure = rejection(agent.initialize())
    fail(new Error('offline'))
    await vi.waitFor(() => expect(agent.getState()).toBe('RECONNECTING'))
    await clock.advance(120_000)
    const error = await failure
    expect(error).toMatchObject({ code: 'MODULE_LOAD_FAILED', message: expect.stringContaining('reload the page') })
    expect(told.filter(([type]) => type === 'stateChanged').length).toBeGreaterThan(3)
    expect(agent.getState()).toBe('IDLE')
    expect(agent.getPhase()).toMatchObject({ at: 'idle', error: { code: 'MODULE_LOAD_FAILED' } })
    vi.doUnmock(PARTS)
    expect(await agent.initialize()).toEqual({ status: 'ready' })
    await agent.destroy()
  })

  it('[REL-37] gives up the load when disconnect() is called, with retryInitialize', async () => {
    const { agent, fail, clock } = await setUp({ retryInitialize: true })
    const failure = rejection(agent.initialize())
    fail(new Error('offline'))
    await vi.waitFor(() => expect(agent.getState()).toBe('RECONNECTING'))
    await agent.disconnect()
    expect(await failure).toMatchObject({ code: 'ABORTED' })
    expect([agent.getPhase().at, agent.getState(), clock.pendingTimers]).toEqual(['idle', 'IDLE', 0])
    await agent.destroy()
  })

  it('[SEC-15] signs out before they are there: memory and stored tokens are empty when logout() returns', async () => {
    const sessionStorage = new FakeStorage()
    const provider = 'https://login.example'
    const key = `aiagent_oidc_user.${provider}:page`
    sessionStorage.setItem(key, JSON.stringify({ accessToken: 'access', idToken: 'id' }))
    const identityClient = undefined
    const auth = { type: 'pkce', config: { authorizationUrl: provider, clientId: 'page' }, identityClient } as never
    const page = { window: undefined } as never
    const { agent, told, phases } = await setUp({ auth }, { sessionStorage, page })
    await agent.setContext({ plan: 'gold' })
    void agent.send('waiting', { id: 'waiting' })
    const asked = rejection(agent.ask('waiting too'))
    const left = agent.logout().catch(() => {})
    expect(sessionStorage.getItem(key)).toBeNull()
    expect([agent.getQueueSize(), agent.getContext(), agent.delivery('waiting')]).toEqual([0, null, undefined])
    expect(phases()).toEqual(['leaving'])
    expect(told.map(([type]) => type)).toContain('transcriptCleared')
    expect(await rejection(agent.send('no'))).toMatchObject({ code: 'ABORTED' })
    expect(await asked).toMatchObject({ reason: 'closed' })
    await agent.destroy()
    await left
  })

  it('[AUTH-20] signs out with the strategy of the host as soon as they are there', async () => {
    const logout = vi.fn()
    const auth = { initialize() {}, authenticate() {}, getToken: () => null, logout }
    const { agent, arrive, phases } = await setUp({ auth: auth as never })
    const left = agent.logout()
    expect(logout).not.toHaveBeenCalled()
    arrive()
    await left
    expect(logout).toHaveBeenCalledTimes(1)
    expect(phases()).toEqual(['leaving', 'idle'])
    await agent.destroy()
  })

  it('[AUTH-20] ends the login of an earlier page at its provider as soon as they are there', async () => {
    const identity = new FakeIdentityClient()
    const config = { clientId: 'page', redirectUri: 'https://host.example/', knownAuthorities: ['login.example'] }
    const auth = { type: 'pkce', config, identityClient: identity.factory } as const
    const { agent, arrive } = await setUp({ auth }, { page: { window: undefined } as never })
    const left = agent.logout()
    arrive()
    await left
    expect(identity.calls.filter(call => call !== 'restore')).toEqual([expect.stringContaining('logout')])
    await agent.destroy()
  })

  it('[SEC-15] signs out an anonymous user without them', async () => {
    const { agent, fail, phases } = await setUp()
    fail(new Error('offline'))
    await agent.logout()
    expect(phases()).toEqual(['leaving', 'idle'])
    await agent.destroy()
  })

  it('[REL-03] releases the strategy of the host at destroy(), where it has something to release', async () => {
    const strategy = { initialize() {}, authenticate() {}, getToken: () => null }
    let finish = () => {}
    const cleanup = vi.fn(() => new Promise<void>(resolve => (finish = resolve)))
    const { agent } = await setUp({ auth: { ...strategy, cleanup } as never })
    let isDestroyed = false
    const destroyed = agent.destroy().then(() => (isDestroyed = true))
    await vi.waitFor(() => expect(cleanup).toHaveBeenCalledTimes(1))
    expect(isDestroyed).toBe(false)
    finish()
    await destroyed
    for (const auth of [undefined, { getToken: () => 'token' }, { type: 'pre-auth', accessToken: 'token' }, strategy]) {
      const warn = vi.fn()
      const console = { debug() {}, info() {}, warn, error: warn }
      const parts = await setUp({ enableLogging: true, ...(auth && { auth: auth as never }) }, { console })
      await parts.agent.destroy()
      expect(warn).not.toHaveBeenCalled()
    }
  })

  it('[REL-03] is destroyed at once: calls that wait are rejected, and nothing is built later', async () => {
    const { agent, arrive, clock, phases } = await setUp()
    void agent.send('hello', { id: 'hello' })
    const outcome = agent.delivery('hello')?.outcome
    const waiting = [agent.initialize(), agent.ask('question'), agent.updateAccessToken('token')].map(rejection)
    const stream = agent.messages().next()
    await agent.destroy()
    for (const failure of await Promise.all(waiting)) expect(failure).toMatchObject({ code: 'ABORTED' })
    expect(await outcome).toBe('failed')
    expect(await stream).toEqual({ done: true, value: undefined })
    arrive()
    await vi.dynamicImportSettled()
    expect(await rejection(agent.send('hello'))).toMatchObject({ code: 'ABORTED' })
    expect(() => agent.messages()).toThrow(expect.objectContaining({ code: 'ABORTED' }))
    expect(await agent.disconnect()).toBeUndefined()
    expect([phases(), clock.pendingTimers]).toEqual([['preparing', 'destroyed'], 0])
  })
})
