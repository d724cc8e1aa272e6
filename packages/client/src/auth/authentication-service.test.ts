import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { FakeService, fakeToken } from '../../test/fake-service.ts'
import { AuthError } from '../errors.ts'
import { Logger } from '../logger.ts'
import { AnonymousAuthStrategy } from './anonymous-strategy.ts'
import type { AuthenticationInput, AuthStrategy } from './auth-strategy.ts'
import { AuthenticationService } from './authentication-service.ts'
import { PreAuthStrategy } from './pre-auth-strategy.ts'

const deploymentInfo = { apiDomain: 'api.example.test' }

function setUp(input?: AuthenticationInput | ((token: (life: number) => string) => AuthenticationInput)) {
  const service = new FakeService()
  let count = 0
  /** A unique token with the given lifetime in seconds. */
  const token = (life: number) => fakeToken({ exp: service.clock.now() / 1000 + life, jti: ++count })
  service.on('GET /core/authmgr/v3/metadata/deployment', {
    authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: 'https://login.example.test/token' }] },
  })
  service.on('POST /token', () => ({ access_token: token(3600) }))
  const warnings: string[] = []
  const logger = new Logger({ enableConsole: false }).on('log', entry => warnings.push(entry.message))
  const auth = new AuthenticationService(typeof input === 'function' ? input(token) : input, {
    environment: service.environment(),
    logger,
  })
  const expiring: number[] = []
  auth.setTokenExpiringCallback(event => expiring.push(event.expiresAt))
  return { service, clock: service.clock, auth, token, expiring, warnings, ready: auth.initialize({ deploymentInfo }) }
}

describe('the `auth` option', () => {
  it('[AUTH-02] [CFG-02] is anonymous by default', () => {
    for (const input of [undefined, null, { type: 'anonymous' } as const]) {
      const auth = new AuthenticationService(input, { environment: new FakeService().environment() })
      expect(auth.getAuthenticationType()).toBe('anonymous')
      expect(auth.isAnonymousStrategy()).toBe(true)
      expect(auth.getStrategy()).toBeInstanceOf(AnonymousAuthStrategy)
    }
  })

  it('[AUTH-01] [CFG-02] accepts a token that the host has', async () => {
    const { auth, ready } = setUp({ type: 'pre-auth', accessToken: 'given' })
    await ready
    expect(auth.getStrategy()).toBeInstanceOf(PreAuthStrategy)
    expect(await auth.getToken()).toBe('given')
    expect(auth.getAuthenticationType()).toBe('pre-auth')
    expect(auth.isPKCEStrategy()).toBe(false)
  })

  it.each([{ type: 'token', accessToken: 'given' } as const, { type: 'token', token: 'given' } as const])(
    '[AUTH-01] accepts the deprecated form %j, with one warning',
    async input => {
      const { auth, warnings, ready } = setUp(input)
      await ready
      expect(await auth.getToken()).toBe('given')
      expect(await auth.getToken()).toBe('given')
      expect(warnings).toEqual([expect.stringContaining('deprecated')])
    },
  )

  it('[CFG-02] calls a provider for every token', async () => {
    let count = 0
    const { auth, ready } = setUp({ getToken: async () => `token ${++count}` })
    await ready
    expect(await auth.getToken()).toBe('token 1')
    expect(await auth.refresh()).toBe('token 2')
    expect(await auth.getToken()).toBe('token 3')
    expect(auth.getCachedToken()).toBe('token 3')
  })

  it('[CFG-02] calls the methods of a host’s strategy in order', async () => {
    const calls: string[] = []
    const strategy: AuthStrategy = {
      initialize: options => void calls.push(`initialize ${options.deploymentInfo.apiDomain}`),
      authenticate: () => void calls.push('authenticate'),
      getToken: () => {
        calls.push('getToken')
        return 'own'
      },
      refresh: async () => {
        calls.push('refresh')
        return 'renewed'
      },
      updateScopes: scopes => void calls.push(`updateScopes ${scopes.join()}`),
      updateToken: token => void calls.push(`updateToken ${token}`),
      logout: () => void calls.push('logout'),
      cleanup: () => void calls.push('cleanup'),
    }
    const { auth, ready } = setUp(strategy)
    await ready
    await auth.initialize({ deploymentInfo })
    await auth.authenticate()
    expect(await auth.getToken()).toBe('own')
    expect(await auth.refresh()).toBe('renewed')
    await auth.updateScopes(['a', 'b'])
    await auth.updateToken('given')
    expect(auth.getCachedToken()).toBe('given')
    await auth.logout()
    expect(auth.getCachedToken()).toBeNull()
    await auth.cleanup()
    expect(calls).toEqual([
      'initialize api.example.test',
      'authenticate',
      'getToken',
      'refresh',
      'updateScopes a,b',
      'updateToken given',
      'logout',
      'cleanup',
    ])
  })

  it.each([7, 'token', true, {}, { type: 'magic' }, { type: 5 }, { initialize() {}, authenticate() {} }, []])(
    '[CFG-02] refuses %j',
    input => {
      const make = () => new AuthenticationService(input as unknown as AuthenticationInput)
      expect(make).toThrow(AuthError)
      expect(make).toThrow(expect.objectContaining({ reason: 'invalid_input' }))
    },
  )

  const words = 'The single sign-on is down'
  it.each<[string, AuthenticationInput, unknown]>([
    ['a provider that rejects', { getToken: () => Promise.reject(new Error(words)) }, new Error(words)],
    ['a provider that throws text', { getToken: () => Promise.reject(words) }, words],
    ['a provider that throws a record', { getToken: () => Promise.reject({ message: words }) }, { message: words }],
    [
      'refreshTokenFn',
      {
        type: 'pre-auth',
        accessToken: fakeToken({ exp: 1 }),
        refreshTokenFn: () => Promise.reject(new Error(words)),
      },
      new Error(words),
    ],
  ])('[REL-121] reports a failure of %s with its own words', async (_who, input, cause) => {
    const { auth, ready } = setUp(input)
    await ready
    await expect(auth.getToken()).rejects.toMatchObject({
      name: 'AuthError',
      reason: 'token_request_failed',
      message: expect.stringContaining(words),
      cause,
    })
  })

  it.each([5, {}, null, undefined, '', ' '])('counts %j of a provider as no token', async token => {
    const { auth, ready } = setUp({ getToken: async () => token as string })
    await ready
    await expect(auth.getToken()).rejects.toMatchObject({ name: 'AuthError', reason: 'token_missing' })
  })

  it.each([undefined, 'text', { accessToken: 'another' }])(
    '[REL-121] lets a strategy call postAuthentication(%j), and uses the token that the strategy returns',
    async value => {
      let told: ((value: never) => unknown) | undefined
      const { auth, ready } = setUp({
        initialize: ({ postAuthentication }) => void (told = postAuthentication as typeof told),
        authenticate: async () => void (await told?.(value as never)),
        getToken: () => 'own',
      })
      await ready
      await auth.authenticate()
      expect(auth.getCachedToken()).toBe('own')
    },
  )
})

describe('the token', () => {
  it('is requested once for concurrent callers', async () => {
    const { service, auth, ready } = setUp()
    await ready
    const tokens = await Promise.all([auth.getToken(), auth.getToken(), auth.getToken()])
    expect(new Set(tokens).size).toBe(1)
    expect(service.seen.filter(request => request.path === '/token')).toHaveLength(1)
    expect(auth.getCachedToken()).toBe(tokens[0])
  })

  it('is missing before initialize(), if there is none, and after logout', async () => {
    const missing = expect.objectContaining({ name: 'AuthError', reason: 'token_missing' })
    const { auth, ready } = setUp({ getToken: () => null })
    await expect(auth.getToken()).rejects.toEqual(missing)
    await ready
    await expect(auth.getToken()).rejects.toEqual(missing)
    await auth.logout()
    expect(auth.getIsInitialized()).toBe(false)
    await expect(auth.refresh()).rejects.toEqual(missing)
  })

  it('of a pre-auth input must not be blank', async () => {
    const { auth, ready } = setUp({ type: 'pre-auth', accessToken: ' ' })
    await expect(ready).rejects.toMatchObject({ reason: 'token_missing' })
    expect(auth.getIsInitialized()).toBe(false)
  })

  it('requested before a refresh does not replace the refreshed one', async () => {
    let answerFirst: (token: string) => void = () => {}
    const { auth, ready } = setUp({
      initialize() {},
      authenticate() {},
      getToken: () => new Promise<string>(resolve => (answerFirst = resolve)),
      refresh: async () => 'renewed',
    })
    await ready
    const asked = auth.getToken()
    await turnEventLoop()
    expect(await auth.refresh()).toBe('renewed')
    answerFirst('old')
    expect(await asked).toBe('renewed')
    expect(auth.getCachedToken()).toBe('renewed')
  })

  it('is awaited by all callers while a refresh is in flight', async () => {
    let answer: (token: string) => void = () => {}
    let refreshes = 0
    const { auth, ready } = setUp({
      initialize() {},
      authenticate() {},
      getToken: () => 'old',
      refresh: () => {
        refreshes++
        return new Promise<string>(resolve => (answer = resolve))
      },
    })
    await ready
    expect(await auth.getToken()).toBe('old')
    const outcomes = [auth.refresh(), auth.refresh(), auth.getToken()]
    await turnEventLoop()
    answer('renewed')
    expect(await Promise.all(outcomes)).toEqual(['renewed', 'renewed', 'renewed'])
    expect(refreshes).toBe(1)
  })

  it('that arrives after logout is dropped, without a timer', async () => {
    let answer: (token: string) => void = () => {}
    const { auth, clock, token, ready } = setUp({ getToken: () => new Promise<string>(resolve => (answer = resolve)) })
    await ready
    const asked = auth.getToken().catch((error: AuthError) => error.reason)
    await turnEventLoop()
    await auth.logout()
    answer(token(3600))
    expect(await asked).toBe('token_missing')
    expect(auth.getCachedToken()).toBeNull()
    expect(clock.pendingTimers).toBe(0)
  })

  it('supplied to an anonymous agent is used until it is about to expire, then the agent’s own', async () => {
    const { auth, clock, token, ready } = setUp()
    await ready
    const given = token(1000)
    await auth.updateToken(given)
    await clock.advance(699_000)
    expect(await auth.getToken()).toBe(given)
    await clock.advance(1_000)
    expect(await auth.getToken()).not.toBe(given)
  })

  it('supplied by the host must not be blank', async () => {
    const { auth, ready } = setUp()
    await ready
    await expect(auth.updateToken('  ')).rejects.toMatchObject({ reason: 'invalid_input' })
  })

  it('is passed to the host after authenticate(), by the callback of the last initialize()', async () => {
    const { auth, ready } = setUp({ type: 'pre-auth', accessToken: 'given' })
    await ready
    const told: string[] = []
    await auth.initialize({ deploymentInfo, postAuthentication: result => void told.push(result.accessToken) })
    await auth.authenticate()
    expect(told).toEqual(['given'])
    expect(auth.getCachedToken()).toBe('given')
  })
})

describe('a token that is about to expire', () => {
  it('is reported once, five minutes before', async () => {
    const { auth, clock, expiring, ready } = setUp(token => ({ type: 'pre-auth', accessToken: token(3600) }))
    await ready
    await auth.getToken()
    const expiresAt = clock.now() + 3_600_000
    await clock.advance(3_299_999)
    expect(expiring).toEqual([])
    await clock.advance(1)
    expect(expiring).toEqual([expiresAt])
    await auth.getToken()
    await clock.advance(600_000)
    expect(expiring).toHaveLength(1)
    expect(clock.pendingTimers).toBe(0)
  })

  it('is reported at once when less is left', async () => {
    const { auth, clock, expiring, ready } = setUp(token => ({ type: 'pre-auth', accessToken: token(100) }))
    await ready
    await auth.getToken()
    await clock.advance(0)
    expect(expiring).toHaveLength(1)
  })

  it('is detected within a minute after a laptop slept', async () => {
    const { auth, clock, expiring, ready } = setUp(token => ({ type: 'pre-auth', accessToken: token(3600) }))
    await ready
    await auth.getToken()
    clock.jump(3_400_000)
    await clock.advance(0)
    expect(expiring).toHaveLength(1)
  })

  it('is not reported early for a lifetime of sixty days', async () => {
    const { auth, clock, expiring, ready } = setUp(token => ({ type: 'pre-auth', accessToken: token(60 * 86_400) }))
    await ready
    await auth.getToken()
    expect(Math.max(...clock.pendingDelays)).toBeLessThanOrEqual(2 ** 31 - 1)
    await clock.advance(3_600_000)
    expect(expiring).toEqual([])
  })

  it('is replaced by updateToken(), which starts a new watch', async () => {
    const { auth, clock, token, expiring, ready } = setUp(make => ({ type: 'pre-auth', accessToken: make(1000) }))
    await ready
    await auth.getToken()
    const renewed = token(2000)
    const expiresAt = clock.now() + 2_000_000
    await auth.updateToken(renewed)
    expect(await auth.getToken()).toBe(renewed)
    await clock.advance(1_700_000)
    expect(expiring).toEqual([expiresAt])
  })

  it('is renewed by refreshTokenFn, without notifying the host', async () => {
    let asked = 0
    const { auth, clock, expiring, ready } = setUp(token => ({
      type: 'pre-auth',
      accessToken: token(1000),
      refreshTokenFn: () => {
        asked++
        return token(5000)
      },
    }))
    await ready
    const first = await auth.getToken()
    await clock.advance(699_999)
    expect(asked).toBe(0)
    await clock.advance(1)
    expect(asked).toBe(1)
    expect(auth.getCachedToken()).not.toBe(first)
    expect(expiring).toEqual([])
  })

  it('is reported when refreshTokenFn fails', async () => {
    const { auth, clock, expiring, warnings, ready } = setUp(token => ({
      type: 'pre-auth',
      accessToken: token(1000),
      refreshTokenFn: () => Promise.reject(new Error('host down')),
    }))
    await ready
    await auth.getToken()
    await clock.advance(700_000)
    expect(expiring).toHaveLength(1)
    expect(warnings).toHaveLength(1)
    await expect(auth.refresh()).rejects.toMatchObject({ reason: 'token_request_failed' })
  })

  it.each([
    ['the network', new TypeError('Failed to fetch')],
    ['a limit', Object.assign(new Error('Slow down'), { status: 429 })],
    ['the service', Object.assign(new Error('Down'), { status: 503 })],
  ])('[REL-251] is renewed at the next look where the first renewal failed by %s', async (_case, failure) => {
    let asked = 0
    const { auth, clock, expiring, ready } = setUp(token => ({
      type: 'pre-auth',
      accessToken: token(1000),
      refreshTokenFn: () => (++asked < 3 ? Promise.reject(failure) : token(5000)),
    }))
    await ready
    const first = await auth.getToken()
    await clock.advance(700_000)
    expect([asked, expiring.length]).toEqual([1, 1])
    await clock.advance(60_000)
    expect(asked).toBe(2)
    await clock.advance(60_000)
    expect(asked).toBe(3)
    expect(auth.getCachedToken()).not.toBe(first)
    await clock.advance(180_000)
    expect([asked, expiring.length]).toEqual([3, 1])
  })

  it('[REL-251] is renewed when the network returns, one renewal at a time, and never more often than each second', async () => {
    const renewals: ((error: unknown) => void)[] = []
    const returns = new Set<() => void>()
    const onReturn = (listener: () => void) => {
      returns.add(listener)
      return () => void returns.delete(listener)
    }
    const service = new FakeService()
    const { clock } = service
    const accessToken = fakeToken({ exp: clock.now() / 1000 + 1000 })
    const auth = new AuthenticationService(
      {
        type: 'pre-auth',
        accessToken,
        refreshTokenFn: () => new Promise((_resolve, reject) => void renewals.push(reject)),
      },
      { environment: service.environment({ page: { onReturn } as never }) },
    )
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    await clock.advance(700_000)
    const comeBack = async () => {
      for (let time = 0; time < 10; time++) for (const listener of [...returns]) listener()
      await turnEventLoop()
    }
    await comeBack()
    expect(renewals).toHaveLength(1)
    renewals[0]?.(new TypeError('Failed to fetch'))
    await turnEventLoop()
    await comeBack()
    expect(renewals).toHaveLength(1)
    await clock.advance(1_000)
    await comeBack()
    expect(renewals).toHaveLength(2)
    await auth.cleanup()
    expect(clock.pendingTimers).toBe(0)
  })

  it.each([
    ['invalid_grant', Object.assign(new Error('Gone'), { error: 'invalid_grant' })],
    ['interaction_required', new AuthError('Sign in again.', 'interaction_required')],
    ['a status', Object.assign(new Error('No'), { status: 403 })],
  ])('[REL-251] is not renewed again after a refusal: %s', async (_case, failure) => {
    let asked = 0
    const { auth, clock, expiring, ready } = setUp(token => ({
      type: 'pre-auth',
      accessToken: token(1000),
      refreshTokenFn: () => {
        asked++
        return Promise.reject(failure)
      },
    }))
    await ready
    await auth.getToken()
    await clock.advance(1_000_000)
    expect([asked, expiring.length]).toEqual([1, 1])
  })

  it.each([
    ['short', 60, 11],
    ['expired', -10, 1],
  ])('does not call a refreshTokenFn in a loop that returns %s tokens', async (_case, life, calls) => {
    let asked = 0
    const { auth, clock, ready } = setUp(token => ({
      type: 'pre-auth',
      accessToken: token(1000),
      refreshTokenFn: () => {
        asked++
        return token(life)
      },
    }))
    await ready
    await auth.getToken()
    await clock.advance(700_000)
    await clock.advance(600_000)
    expect(asked).toBe(calls)
  })

  it('releases its timer in cleanup()', async () => {
    const { auth, clock, ready } = setUp(token => ({ type: 'pre-auth', accessToken: token(3600) }))
    await ready
    await auth.getToken()
    expect(clock.pendingTimers).toBe(1)
    await auth.cleanup()
    expect(clock.pendingTimers).toBe(0)
  })
})
