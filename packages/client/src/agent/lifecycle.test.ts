import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import {
  framesArrived,
  lastSession,
  namesOf,
  payloadsOf,
  rejection,
  requestsTo,
  sentTo,
  sessionBodies,
  setUp,
} from '../../test/agent-harness.ts'
import { AuthError, SDKError } from '../errors.ts'

/** A `fetch` that lets calls through when the test says so, and answers aborts as the platform does. */
function heldFetch(fetch: (input: string, init?: RequestInit) => Promise<Response>, hold: (url: string) => boolean) {
  const held: Array<() => void> = []
  const urls: string[] = []
  const aborted: string[] = []
  return {
    held,
    urls,
    aborted,
    fetch: (url: string, init: RequestInit = {}) => {
      urls.push(url)
      if (!hold(url)) return fetch(url, init)
      return new Promise<Response>((resolve, reject) => {
        init.signal?.addEventListener('abort', () => {
          aborted.push(url)
          reject(init.signal?.reason)
        })
        held.push(() => fetch(url, init).then(resolve, reject))
      })
    },
  }
}

const STAGES: Array<[string, string]> = [
  ['deployment information', '/system/deploymentInfo'],
  ['authentication metadata', '/metadata/'],
  ['the token', 'token'],
  ['agent details', '/details/agent/'],
  ['the session', '/session'],
]

describe('initialize()', () => {
  it('learns where the service is and who the agent is, and opens a session', async () => {
    const { emulator, make } = setUp()
    const { agent, told } = make({ context: { a: 1, b: 1 } })
    expect(agent.getIsInitialized()).toBe(false)
    await agent.initialize({ context: { b: 2 } })
    expect(agent.getIsInitialized()).toBe(true)
    expect(agent.getState()).toBe('IDLE')
    expect(agent.isConnected()).toBe(false)
    expect(namesOf(told)).toEqual(['initialized'])
    expect(payloadsOf(told, 'initialized')[0]?.agent).toMatchObject({ agentId: 'help', name: 'Help Centre' })
    expect(sessionBodies(emulator)).toEqual([{ context: { a: 1, b: 2 } }])
    expect(told[0]?.event).toMatchObject({ agentId: 'help', sessionId: lastSession(emulator) })
  })

  it('does nothing when called again', async () => {
    const { emulator, make } = setUp()
    const { agent, told } = make()
    await agent.initialize()
    const requests = requestsTo(emulator).length
    await agent.initialize()
    expect(requestsTo(emulator)).toHaveLength(requests)
    expect(namesOf(told)).toEqual(['initialized'])
  })

  it('twice at once is one run', async () => {
    const { emulator, make } = setUp()
    const { agent, told } = make()
    await Promise.all([agent.initialize(), agent.initialize(), agent.initialize()])
    expect(namesOf(told)).toEqual(['initialized'])
    expect(sessionBodies(emulator)).toHaveLength(1)
  })

  it('[OPS-08] getAgentDetails() and getDeploymentInfo() work before it, and it reuses what they brought', async () => {
    const { emulator, make } = setUp()
    const { agent, told } = make({ cache: { enabled: false } })
    expect(await agent.getDeploymentInfo()).toMatchObject({ aiAgentDomain: 'agent.local.test', tenantId: 'TEN0001' })
    expect(requestsTo(emulator)).toEqual(['GET deploymentInfo'])
    const details = await agent.getAgentDetails()
    expect(details).toMatchObject({ agentId: 'help', isAuthenticated: false })
    expect(agent.getIsInitialized()).toBe(false)
    expect(told).toEqual([])
    const before = requestsTo(emulator)
    await agent.initialize()
    // The token that is good for this agent, now that it is known, and the session.
    expect(requestsTo(emulator).slice(before.length)).toEqual(['POST token', 'POST session'])
    expect(await agent.getAgentDetails()).toBe(details)
  })

  it('what it learned is not for the host to change', async () => {
    const { make } = setUp()
    const { agent } = make()
    const info = await agent.getDeploymentInfo()
    expect(() => Object.assign(info, { aiAgentDomain: 'elsewhere.test' })).toThrow(TypeError)
    const details = await agent.getAgentDetails()
    expect(() => Object.assign(details, { isAuthenticated: true })).toThrow(TypeError)
  })

  it.each(['text', 7, ['a'], { n: 1n }])(
    'a context of %o is a MessageError, and the next run starts clean',
    async context => {
      const { make } = setUp()
      const { agent } = make({ context: { a: 1 } })
      expect(await rejection(agent.initialize({ context: context as never }))).toMatchObject({
        name: 'MessageError',
        reason: 'invalid',
      })
      await agent.initialize()
      expect(agent.getContext()).toEqual({ a: 1 })
    },
  )

  it('[OPS-08] calls for the same thing at the same time share one request', async () => {
    const { emulator, make } = setUp()
    // With scopes from the host, one token is sufficient.
    const { agent } = make({ initParams: { scopes: 'core.aiservices.read' } })
    await Promise.all([agent.getAgentDetails(), agent.getDeploymentInfo(), agent.initialize(), agent.getAgentDetails()])
    expect(new Set(requestsTo(emulator)).size).toBe(requestsTo(emulator).length)
  })

  it('a second agent of the process asks for nothing but its session', async () => {
    const { emulator, make } = setUp()
    await make().agent.initialize({ context: { name: 'of somebody else' } })
    const before = requestsTo(emulator).length
    const { agent } = make()
    await agent.initialize()
    expect(requestsTo(emulator).slice(before)).toEqual(['POST session'])
    await agent.connect()
    await agent.send('Hello')
    await framesArrived(emulator, 1)
    expect(agent.getContext()).toBeNull()
  })

  it('connects by itself with autoConnect, after initialized', async () => {
    const { make } = setUp()
    const { agent, told } = make({ autoConnect: true })
    await agent.initialize()
    await eventually(() => agent.isConnected())
    expect(namesOf(told)).toEqual(['initialized', 'stateChanged', 'stateChanged', 'connected'])
  })

  it('a connection that autoConnect cannot make is one error event, and initialize() resolves', async () => {
    const { emulator, make } = setUp()
    const { agent, told } = make({ autoConnect: true, maxReconnectAttempts: 0 })
    agent.on('initialized', () => emulator.close())
    await agent.initialize()
    await eventually(() => agent.getState() === 'CLOSED')
    await turnEventLoop()
    expect(payloadsOf(told, 'error').map(({ error }) => error.code)).toEqual(['CONNECTION_ERROR', 'CONNECTION_ERROR'])
    expect(payloadsOf(told, 'error').map(({ error }) => (error as unknown as { reason: string }).reason)).toEqual([
      'refused',
      'attempts_used_up',
    ])
  })
})

describe('failure', () => {
  it.each(STAGES)('after one at %s the next run starts clean and succeeds', async (_stage, part) => {
    const { emulator, environment, make } = setUp()
    let broken = true
    const fetch = (url: string, init?: RequestInit) =>
      broken && url.includes(part) ? Promise.reject(new TypeError('fetch failed')) : emulator.fetch(url, init)
    const { agent, told } = make({}, { ...environment, fetch })
    const error = await rejection(agent.initialize())
    expect(error).toBeInstanceOf(SDKError)
    expect(agent.getIsInitialized()).toBe(false)
    expect(agent.getState()).toBe('IDLE')
    expect((await rejection(agent.connect())).code).toBe('NOT_INITIALIZED')
    expect(told).toEqual([])
    broken = false
    await agent.initialize()
    await agent.connect()
    expect(agent.isConnected()).toBe(true)
    expect(namesOf(told).filter(name => name === 'initialized' || name === 'error')).toEqual(['initialized'])
  })

  it('[ERR-04] distinguishes a session refused for its token from other failures', async () => {
    const { emulator, make } = setUp({ settings: { tokenLifeSeconds: 200 } })
    const refused = await rejection(make().agent.initialize())
    expect(refused).toMatchObject({ name: 'ApiError', code: 'SESSION_UNAUTHORIZED', status: 401 })
    emulator.settings.tokenLifeSeconds = 3600
    const unknown = await rejection(make({ id: 'nobody' }).agent.initialize())
    expect(unknown).toMatchObject({ name: 'ApiError', code: 'API_ERROR', status: 404 })
  })

  it.each(['""', '" "', '"undefined"', '"NULL"', 'null', '{}', 'true'])(
    '[ERR-04] a session call that answers with the id %s is refused by code',
    async id => {
      const { emulator, environment, make } = setUp()
      const fetch = async (url: string, init?: RequestInit) =>
        url.endsWith('/session') ? new Response(`{"sessionId":${id}}`) : emulator.fetch(url, init)
      const { agent } = make({}, { ...environment, fetch })
      expect(await rejection(agent.initialize())).toMatchObject({ name: 'SDKError', code: 'SESSION_ID_INVALID' })
      expect(agent.getIsInitialized()).toBe(false)
    },
  )
})

describe('giving up', () => {
  it.each(STAGES)('an abort at %s rejects at once, and the next run succeeds', async (_stage, part) => {
    const { clock, emulator, environment, make } = setUp()
    let holding = true
    const http = heldFetch(emulator.fetch, url => holding && url.includes(part))
    const { agent, told } = make({}, { ...environment, fetch: http.fetch })
    const controller = new AbortController()
    const failed = rejection(agent.initialize({ signal: controller.signal }))
    await eventually(() => http.held.length === 1)
    controller.abort(new Error('enough'))
    expect(await failed).toMatchObject({ name: 'SDKError', code: 'ABORTED', cause: { message: 'enough' } })
    expect(told).toEqual([])
    holding = false
    for (const go of http.held) go()
    await agent.initialize()
    expect(agent.getIsInitialized()).toBe(true)
    // Only the token's expiry is watched.
    expect(clock.pendingTimers).toBe(1)
  })

  it('one of two callers who gives up does not stop the other', async () => {
    const { emulator, environment, make } = setUp()
    const http = heldFetch(emulator.fetch, url => url.endsWith('/session'))
    const { agent } = make({}, { ...environment, fetch: http.fetch })
    const controller = new AbortController()
    const first = rejection(agent.initialize({ signal: controller.signal }))
    const second = agent.initialize()
    await eventually(() => http.held.length === 1)
    controller.abort()
    expect((await first).code).toBe('ABORTED')
    for (const go of http.held) go()
    await second
    expect(http.aborted).toEqual([])
    expect(sessionBodies(emulator)).toHaveLength(1)
  })

  it('all callers who give up stop the run', async () => {
    const { emulator, environment, make } = setUp()
    const http = heldFetch(emulator.fetch, url => url.endsWith('/session'))
    const { agent } = make({}, { ...environment, fetch: http.fetch })
    const controllers = [new AbortController(), new AbortController()]
    const failed = controllers.map(({ signal }) => rejection(agent.initialize({ signal })))
    await eventually(() => http.held.length === 1)
    for (const controller of controllers) controller.abort()
    for (const error of await Promise.all(failed)) expect(error.code).toBe('ABORTED')
    expect(http.aborted).toHaveLength(1)
    expect(agent.getIsInitialized()).toBe(false)
  })

  it('a signal that is aborted already starts nothing', async () => {
    const { emulator, make } = setUp()
    const { agent } = make()
    const signal = AbortSignal.abort()
    for (const call of [
      agent.initialize({ signal }),
      agent.getAgentDetails({ signal }),
      agent.getDeploymentInfo({ signal }),
    ])
      expect((await rejection(call)).code).toBe('ABORTED')
    expect(requestsTo(emulator)).toEqual([])
  })

  it("ends a wait for the host's own parts too", async () => {
    const never = new Promise<never>(() => {})
    const adapter = { get: () => never, set: () => never, delete: () => never, clear: () => never, keys: () => never }
    const { make } = setUp()
    for (const config of [{ auth: { getToken: () => never } }, { id: 'account', auth: { getToken: () => never } }]) {
      const { agent } = make(config)
      const controller = new AbortController()
      const failed = rejection(agent.initialize({ signal: controller.signal }))
      const destroyed = rejection(agent.initialize())
      await turnEventLoop()
      controller.abort()
      expect((await failed).code).toBe('ABORTED')
      await agent.destroy()
      expect((await destroyed).code).toBe('ABORTED')
    }
    const { agent } = make({ cache: { adapter } })
    const destroyed = rejection(agent.initialize())
    await agent.destroy()
    expect((await destroyed).code).toBe('ABORTED')
  })
})

describe('destroy()', () => {
  it.each(STAGES)('at %s ends the call, rejects, and leaves no timer', async (_stage, part) => {
    const { clock, emulator, environment, make } = setUp()
    const http = heldFetch(emulator.fetch, url => url.includes(part))
    const { agent, told } = make({}, { ...environment, fetch: http.fetch })
    const failed = [rejection(agent.initialize()), rejection(agent.initialize())]
    await eventually(() => http.held.length === 1)
    await agent.destroy()
    for (const error of await Promise.all(failed)) expect(error).toMatchObject({ code: 'ABORTED' })
    for (const go of http.held) go()
    await turnEventLoop()
    expect(told).toEqual([])
    expect(clock.pendingTimers).toBe(0)
    expect(agent.getIsInitialized()).toBe(false)
    expect((await rejection(agent.initialize())).message).toContain('destroyed')
  })
})

describe('destroy() and what comes late', () => {
  it('a token of client credentials keeps no timer', async () => {
    const { clock, emulator, make } = setUp()
    const http = heldFetch(emulator.fetch, url => url.includes('login.test'))
    const config = { tokenUrl: 'https://login.test/token', clientId: 'me', clientSecret: 'secret' }
    const { agent } = make({ auth: { type: 'client-credentials', config } }, { fetch: http.fetch })
    const failed = rejection(agent.initialize())
    await eventually(() => http.held.length === 1)
    await agent.destroy()
    expect(await failed).toMatchObject({ code: 'ABORTED' })
    expect(clock.pendingTimers).toBe(0)
  })

  it.each(['help', 'account'])('a token of a host function does not start the agent %s', async id => {
    const { clock, emulator, make } = setUp()
    for (const calls of [1, 2]) {
      const waiting: Array<(token: string) => void> = []
      let asked = 0
      const getToken = () => {
        if (++asked < calls) return Promise.resolve(emulator.control.issueToken())
        return new Promise<string>(resolve => waiting.push(resolve))
      }
      const { agent, told } = make({ id, auth: { getToken } })
      const failed = rejection(agent.initialize())
      await eventually(() => waiting.length || agent.getIsInitialized())
      await agent.destroy()
      for (const resolve of waiting) resolve(emulator.control.issueToken())
      if (waiting.length) expect((await failed).code).toBe('ABORTED')
      await turnEventLoop()
      expect(clock.pendingTimers).toBe(0)
      expect(namesOf(told).filter(name => name !== 'initialized')).toEqual([])
    }
  })

  it('within `initialized` keeps autoConnect from connecting', async () => {
    const { clock, emulator, make } = setUp()
    const { agent } = make({ autoConnect: true })
    agent.on('initialized', () => void agent.destroy())
    expect((await rejection(agent.initialize())).code).toBe('ABORTED')
    await turnEventLoop()
    await clock.advance(60_000)
    expect([agent.getState(), clock.pendingTimers]).toEqual(['IDLE', 0])
    expect(emulator.control.requests().some(({ status }) => status === 101)).toBe(false)
  })

  it("a host's strategy that cannot clean up does not keep the rest from being released", async () => {
    const { clock, emulator, make } = setUp()
    const auth = {
      initialize: () => {},
      authenticate: async () => {},
      getToken: async () => emulator.control.issueToken(),
      cleanup: () => Promise.reject(new Error('no')),
    }
    const { agent } = make({ auth, autoConnect: true })
    await agent.initialize()
    await eventually(() => agent.isConnected())
    await agent.destroy()
    await turnEventLoop()
    expect([agent.listenerCount('error'), clock.pendingTimers]).toEqual([0, 0])
  })
})

describe('an agent that wants to know who talks to it', () => {
  it('gets the token as the first frame, on every opening', async () => {
    const { clock, emulator, make } = setUp()
    const accessToken = emulator.control.issueToken()
    const { agent, told } = make({ id: 'account', auth: { type: 'pre-auth', accessToken } })
    await agent.send('before anything')
    await agent.initialize()
    await agent.connect()
    await agent.send('after')
    await framesArrived(emulator, 3)
    expect(sentTo(emulator)).toEqual(['token', 'before anything', 'after'])
    emulator.control.dropSockets()
    await eventually(() => agent.getState() === 'RECONNECTING')
    await agent.send('meanwhile')
    await clock.advance(5_000)
    await framesArrived(emulator, 5)
    expect(sentTo(emulator).slice(3)).toEqual(['token', 'meanwhile'])
    expect(payloadsOf(told, 'error')).toEqual([])
    expect(agent.getTranscript().some(({ message }) => message.role === 'token')).toBe(false)
  })

  it('is refused clearly where only the anonymous token is at hand, before any session', async () => {
    const { emulator, make } = setUp()
    const error = await rejection(make({ id: 'account' }).agent.initialize())
    expect(error).toBeInstanceOf(AuthError)
    expect(error).toMatchObject({ code: 'AUTH_ERROR', reason: 'interaction_required' })
    expect(error.message).toContain('auth')
    expect(sessionBodies(emulator)).toEqual([])
  })

  it("fails with an AuthError where the host's provider fails", async () => {
    const { make } = setUp()
    const cause = new Error('no network')
    const provider = { getToken: () => Promise.reject(cause) }
    for (const id of ['help', 'account'])
      expect(await rejection(make({ id, auth: provider }).agent.initialize())).toMatchObject({
        name: 'AuthError',
        code: 'AUTH_ERROR',
        cause,
      })
  })
})
