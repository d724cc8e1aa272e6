import { eventually, turnEventLoop } from '@aiagent/test-support'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AiAgent } from '../src/ai-agent.ts'
import type { AiAgentConfig } from '../src/config.ts'
import { framesArrived, payloadsOf, rejection } from './agent-harness.ts'
import { deferred } from './chat-harness.ts'
import { FakeStorage } from './fake-service.ts'

const CONTACT_CENTER = '../src/agent/portal-lifecycle.ts'

/** Makes the file of a feature one that cannot be loaded, until the end of the test or {@link vi.doUnmock}. */
function withhold(file: string): void {
  mocked.push(file)
  vi.doMock(file, () => {
    throw new Error('offline')
  })
}

/** Makes the file of a feature one that is still loading: `isAsked` settles when it is asked for, and `arrive` lets it arrive. */
function delayed(file: string): { isAsked: Promise<void>; arrive: () => void } {
  mocked.push(file)
  const asked = deferred<void>()
  const arrived = deferred<void>()
  arrivals.push(arrived.resolve)
  vi.doMock(file, async () => {
    asked.resolve()
    await arrived.promise
    return vi.importActual(file)
  })
  return { isAsked: asked.promise, arrive: arrived.resolve }
}

const mocked: string[] = []
const arrivals: (() => void)[] = []

beforeEach(() => {
  vi.resetModules()
  // As in a page, where each feature loads when it is first used.
  vi.doMock('#features', () => vi.importActual('../src/agent/features.ts'))
  vi.doMock('#strategies', () => vi.importActual('../src/auth/strategies.ts'))
})
afterEach(async () => {
  for (const arrive of arrivals.splice(0)) arrive()
  // A module that is still loading would drop what the next test mocks.
  await vi.dynamicImportSettled()
  for (const file of mocked.splice(0)) vi.doUnmock(file)
  vi.doUnmock('#features')
  vi.doUnmock('#strategies')
  vi.resetModules()
})

describe('the contact center that cannot be loaded', () => {
  /** An agent with portals, of a client whose modules are loaded for this test. */
  const setUpDesk = async (config: Partial<AiAgentConfig> = {}) => {
    withhold(CONTACT_CENTER)
    const { setUp } = await import('./agent-harness.ts')
    const parts = setUp()
    const accessToken = parts.emulator.control.issueToken({ subject: 'desk-agent' })
    const { agent, told } = parts.make({ id: 'desk', auth: { type: 'pre-auth', accessToken }, ...config })
    const waits = () => payloadsOf(told, 'stateChanged').filter(({ retryInMs }) => retryInMs !== undefined).length
    return { ...parts, agent, waits }
  }

  it('[REL-37] rejects initialize() with MODULE_LOAD_FAILED and its name, and the next call loads it', async () => {
    const { agent } = await setUpDesk()
    const error = { code: 'MODULE_LOAD_FAILED', message: expect.stringMatching(/"contact center".*reload the page/) }
    expect(await rejection(agent.initialize())).toMatchObject(error)
    expect(agent.status.phase).toMatchObject({ at: 'idle', error })
    expect((await agent.explain()).code).toBe('initialize_failed')
    vi.doUnmock(CONTACT_CENTER)
    expect(await agent.initialize()).toMatchObject({ status: 'choose', gate: 'portal' })
    await agent.destroy()
  })

  it('[REL-37] is loaded again by itself with retryInitialize', async () => {
    const { agent, clock } = await setUpDesk({ retryInitialize: true })
    const initialized = agent.initialize()
    await vi.waitFor(() => expect(agent.getState()).toBe('RECONNECTING'))
    vi.doUnmock(CONTACT_CENTER)
    await clock.advance(2_000)
    expect(await initialized).toMatchObject({ status: 'choose', gate: 'portal' })
    await agent.destroy()
  })

  it('[REL-37] ends retryInitialize after four failures in a row, with an error that says to reload the page', async () => {
    const { agent, clock, waits } = await setUpDesk({ retryInitialize: true })
    const failure = rejection(agent.initialize())
    await vi.waitFor(() => expect(agent.getState()).toBe('RECONNECTING'))
    await vi.waitFor(async () => {
      await clock.advance(30_000)
      expect(agent.getState()).toBe('IDLE')
    })
    const error = { code: 'MODULE_LOAD_FAILED', message: expect.stringContaining('reload the page') }
    expect(await failure).toMatchObject(error)
    expect([waits(), agent.status.phase]).toMatchObject([3, { at: 'idle', error }])
    vi.doUnmock(CONTACT_CENTER)
    expect(await agent.initialize()).toMatchObject({ status: 'choose' })
    await agent.destroy()
  })

  it('[REL-37] is given up by disconnect(), with retryInitialize', async () => {
    const { agent, clock } = await setUpDesk({ retryInitialize: true })
    const failure = rejection(agent.initialize())
    await vi.waitFor(() => expect(agent.getState()).toBe('RECONNECTING'))
    await agent.disconnect()
    expect(await failure).toMatchObject({ code: 'ABORTED' })
    expect([agent.status.phase.at, agent.getState(), clock.pendingTimers]).toEqual(['idle', 'IDLE', 0])
    await agent.destroy()
  })
})

describe('the strategies of tokens', () => {
  const STRATEGIES = '../src/auth/token-strategies.ts'
  const missing = { code: 'MODULE_LOAD_FAILED', message: expect.stringMatching(/"auth".*reload the page/) }

  /** An agent with a token of its host. */
  const setUpToken = async () => {
    const { setUp } = await import('./agent-harness.ts')
    const { clock, emulator, make } = setUp()
    const accessToken = emulator.control.issueToken({ subject: 'customer' })
    return { ...make({ auth: { type: 'pre-auth', accessToken } }), clock, emulator, accessToken }
  }

  it('[AUTH-01] load in the constructor of an agent that has the option, and not for an anonymous one', async () => {
    const loaded = vi.fn()
    mocked.push(STRATEGIES)
    vi.doMock(STRATEGIES, () => {
      loaded()
      return vi.importActual(STRATEGIES)
    })
    const { setUp } = await import('./agent-harness.ts')
    const { make } = setUp()
    const anonymous = make({}).agent
    await anonymous.initialize()
    await anonymous.connect()
    expect(loaded).not.toHaveBeenCalled()
    const { agent, accessToken } = await setUpToken()
    await vi.waitFor(() => expect(loaded).toHaveBeenCalled())
    await agent.initialize()
    expect(await agent.getAccessToken()).toBe(accessToken)
    for (const each of [anonymous, agent]) await each.destroy()
  })

  it('[REL-37] reject initialize() with MODULE_LOAD_FAILED and their name, and the next call loads them', async () => {
    withhold(STRATEGIES)
    const { agent } = await setUpToken()
    expect(await rejection(agent.initialize())).toMatchObject(missing)
    expect(agent.status.phase).toMatchObject({ at: 'idle', error: missing })
    vi.doUnmock(STRATEGIES)
    expect(await agent.initialize()).toEqual({ status: 'ready' })
    await agent.destroy()
  })

  it('[REL-37] have nothing to sign out or to release while they cannot be loaded', async () => {
    withhold(STRATEGIES)
    const { agent } = await setUpToken()
    await expect(agent.logout()).resolves.toBeUndefined()
    await expect(agent.destroy()).resolves.toBeUndefined()
  })

  it('[REL-37] reject updateAccessToken() while they cannot be loaded, and the next call loads them', async () => {
    withhold(STRATEGIES)
    const { agent, emulator } = await setUpToken()
    const next = emulator.control.issueToken({ subject: 'customer', lifeSeconds: 7_200 })
    expect(await rejection(agent.updateAccessToken(next))).toMatchObject(missing)
    expect(await agent.getAccessToken()).toBeNull()
    vi.doUnmock(STRATEGIES)
    await agent.updateAccessToken(next)
    await agent.initialize()
    expect(await agent.getAccessToken()).toBe(next)
    await agent.destroy()
  })

  it('[REL-37] reject initialize() and updateAccessToken() after 30 seconds without an answer, and the next calls load them', async () => {
    const { isAsked, arrive } = delayed(STRATEGIES)
    const { agent, clock, emulator } = await setUpToken()
    const next = emulator.control.issueToken({ subject: 'customer', lifeSeconds: 7_200 })
    const failures = [agent.initialize(), agent.updateAccessToken(next)].map(rejection)
    expect(await agent.getAccessToken()).toBeNull()
    await isAsked
    await turnEventLoop()
    await clock.advance(30_000)
    for (const failure of failures) expect(await failure).toMatchObject(missing)
    expect([agent.status.phase, clock.pendingTimers]).toMatchObject([{ at: 'idle', error: missing }, 0])
    const replaced = agent.updateAccessToken(next)
    arrive()
    await replaced
    await agent.initialize()
    expect(await agent.getAccessToken()).toBe(next)
    await agent.destroy()
  })

  it('[REL-37] do not delay logout() while they are loading', async () => {
    const { arrive } = delayed(STRATEGIES)
    const { agent, accessToken } = await setUpToken()
    const failure = rejection(agent.updateAccessToken(accessToken))
    await agent.logout()
    expect(await failure).toMatchObject({ reason: 'token_missing', message: expect.stringContaining('logout()') })
    expect(agent.status.phase).toEqual({ at: 'idle' })
    arrive()
    await agent.initialize()
    await agent.destroy()
  })

  it('[AUTH-01] have a token that the host replaces while they load', async () => {
    const { agent, emulator } = await setUpToken()
    const next = emulator.control.issueToken({ subject: 'customer', lifeSeconds: 7_200 })
    await agent.updateAccessToken(next)
    await agent.initialize()
    expect(await agent.getAccessToken()).toBe(next)
    await agent.destroy()
  })

  it('[AUTH-01] load after a sign-out or the end of an agent without an effect on it', async () => {
    const { arrive } = delayed(STRATEGIES)
    const { agent, accessToken } = await setUpToken()
    const { agent: ended } = await setUpToken()
    const initializing = [agent, ended].map(each => rejection(each.initialize()))
    const replacing = rejection(agent.updateAccessToken(accessToken))
    await agent.logout()
    await ended.destroy()
    for (const each of [...initializing, replacing]) expect(await each).toBeInstanceOf(Error)
    arrive()
    expect(await agent.initialize()).toEqual({ status: 'ready' })
    expect(await agent.getAccessToken()).toBe(accessToken)
    expect(ended.status.phase).toEqual({ at: 'destroyed' })
    await agent.destroy()
  })

  it('[AUTH-01] are the same for two agents that start together', async () => {
    const { arrive } = delayed(STRATEGIES)
    const first = await setUpToken()
    const second = await setUpToken()
    const initializing = [first, second].map(({ agent }) => agent.initialize())
    arrive()
    expect(await Promise.all(initializing)).toEqual([{ status: 'ready' }, { status: 'ready' }])
    for (const { agent, accessToken } of [first, second]) {
      expect(await agent.getAccessToken()).toBe(accessToken)
      await agent.destroy()
    }
  })

  it('[AUTH-01] have the token of another user that the host supplies while they load', async () => {
    const { arrive } = delayed(STRATEGIES)
    const { agent, emulator } = await setUpToken()
    const next = emulator.control.issueToken({ subject: 'next-customer' })
    const replacing = agent.updateAccessToken(next, { userChanged: true })
    arrive()
    await replacing
    expect(await agent.initialize()).toEqual({ status: 'ready' })
    expect(await agent.getAccessToken()).toBe(next)
    await agent.destroy()
  })

  it("[AUTH-01] are not needed for a host's own object", async () => {
    withhold(STRATEGIES)
    const { setUp } = await import('./agent-harness.ts')
    const { emulator, make } = setUp()
    const token = emulator.control.issueToken({ subject: 'customer' })
    const { agent } = make({ auth: { getToken: async () => token } })
    expect(await agent.initialize()).toEqual({ status: 'ready' })
    expect(await agent.getAccessToken()).toBe(token)
    await agent.destroy()
  })

  it('[AUTH-01] the option is checked in the constructor', async () => {
    const { AuthenticationService } = await import('../src/auth/authentication-service.ts')
    const config = { tokenUrl: 'https://login.test/token', clientId: 'me', clientSecret: '' }
    expect(() => new AuthenticationService({ type: 'client-credentials', config })).toThrow(
      expect.objectContaining({ reason: 'invalid_input' }),
    )
  })
})

describe('the code of a login', () => {
  const CODE = '../src/auth/login/load-login.ts'
  const missing = { code: 'MODULE_LOAD_FAILED', message: expect.stringMatching(/"login".*reload the page/) }
  const config = {
    clientId: 'client',
    redirectUri: 'https://app.test/callback.html',
    knownAuthorities: ['login.test'],
  }

  /** An agent in a tab whose earlier page has signed its user in. */
  const setUpLogin = async () => {
    const { setUp } = await import('./agent-harness.ts')
    const { pageWithWindow } = await import('./fake-login-page.ts')
    const { storedText } = await import('./stored-text.ts')
    const { userKey } = await import('../src/auth/stored-login.ts')
    const location = { href: 'https://app.test/chat', origin: 'https://app.test', assign: vi.fn() }
    const sessionStorage = new FakeStorage()
    const { clock, emulator, make } = setUp({}, { page: pageWithWindow({ location }), sessionStorage })
    const accessToken = emulator.control.issueToken({ subject: 'customer' })
    const key = userKey('https://login.test', config.clientId)
    sessionStorage.setItem(key, storedText({ loginId: 'a', accessToken }, clock.now()))
    const { agent } = make({ id: 'account', auth: { type: 'pkce', config } })
    return { agent, clock, accessToken, hasUser: () => sessionStorage.getItem(key) !== null }
  }

  it('[REL-37] rejects initialize(), updateAccessToken() and logout() after 30 seconds without an answer', async () => {
    const { isAsked } = delayed(CODE)
    const calls = [
      (agent: AiAgent) => agent.initialize(),
      (agent: AiAgent, token: string) => agent.updateAccessToken(token),
      (agent: AiAgent) => agent.logout(),
    ]
    const made = await Promise.all(calls.map(async call => ({ call, ...(await setUpLogin()) })))
    const failures = made.map(({ call, agent, accessToken }) => rejection(call(agent, accessToken)))
    expect(made.map(({ hasUser }) => hasUser())).toEqual([true, true, false])
    await isAsked
    // Each call waits for the file, and logout() has its own limit beside that: on a busy machine not when the file is asked for.
    const waits = () => made.map(({ clock }) => clock.pendingTimers).join()
    await eventually(() => waits() === '1,1,2', 'the waits for the file')
    await turnEventLoop(10)
    for (const { clock } of made) await clock.advance(30_000)
    for (const failure of failures) expect(await failure).toMatchObject(missing)
    for (const { agent, clock } of made) {
      expect([agent.status.phase.at, clock.pendingTimers]).toEqual(['idle', 0])
      await agent.destroy()
    }
  })
})

describe('the explanation of a failure of the network', () => {
  it('[REST-09] is left out of the error when its code does not load', async () => {
    const { isAsked } = delayed('../src/platform/network-failure.ts')
    const { setUp } = await import('./agent-harness.ts')
    const { clock, make } = setUp({}, { fetch: () => Promise.reject(new TypeError('Failed to fetch')) })
    const { agent } = make()
    const failure = rejection(agent.initialize())
    await isAsked
    await turnEventLoop()
    await clock.advance(5_000)
    expect(await failure).toMatchObject({ name: 'ApiError', reason: 'network' })
    await agent.destroy()
  })
})

describe('a feature that an agent works without', () => {
  it.each([
    ['resume', '../src/resume/session-resume.ts', { resume: true }],
    ['persistQueue', '../src/resume/stored-queue.ts', { persistQueue: true }],
  ] as const)('[REL-37] is %s: a warning names it when it cannot be loaded', async (feature, file, config) => {
    withhold(file)
    const { setUp } = await import('./agent-harness.ts')
    const { emulator, printed, make } = setUp({}, { sessionStorage: new FakeStorage() })
    const { agent } = make(config)
    await agent.send('early')
    await agent.initialize()
    await agent.connect()
    await agent.send('late')
    await framesArrived(emulator, 2)
    const warnings = printed.map(([line]) => String(line)).filter(line => line.startsWith('[WARN]'))
    expect(warnings).toContainEqual(expect.stringContaining(`Could not load the part "${feature}"`))
    await agent.destroy()
  })

  it('[REL-37] is tabs: each tab has a conversation of its own when it cannot be loaded', async () => {
    withhold('../src/tabs/tab-group.ts')
    const { setUpTabs } = await import('./set-up-tabs.ts')
    const { browser, emulator, connected } = setUpTabs()
    const printed: string[] = []
    const console = { debug() {}, info() {}, warn: (line: string) => void printed.push(line), error() {} }
    const agents = []
    for (const tab of [browser.open(), browser.open()]) {
      Object.defineProperty(tab, 'environment', { value: { ...tab.environment, console } })
      agents.push((await connected({ enableLogging: true }, tab)).agent)
    }
    await agents[0]?.send('one')
    await agents[1]?.send('two')
    const [first = '', second = ''] = emulator.world.sessions.keys()
    await framesArrived(emulator, 1, first)
    await framesArrived(emulator, 1, second)
    expect(emulator.world.sessions.size).toBe(2)
    expect(printed).toContainEqual(expect.stringContaining('Could not load the part "tabs"'))
    for (const agent of agents) await agent.destroy()
  })
})
