import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it, vi } from 'vitest'
import { FakeProvider } from '../../test/fake-login.ts'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import { FakeService, FakeStorage, fakeToken } from '../../test/fake-service.ts'
import { storedText } from '../../test/stored-text.ts'
import { AuthError } from '../errors.ts'
import { Logger } from '../logger.ts'
import type { SharedConversation } from '../scope.ts'
import { AnonymousAuthStrategy } from './anonymous-strategy.ts'
import type { AuthenticationInput, AuthenticationServiceOptions, AuthStrategy } from './auth-strategy.ts'
import { AuthenticationService } from './authentication-service.ts'
import { userKey } from './stored-login.ts'

const deploymentInfo = { apiDomain: 'api.example.test' }
const LOGIN = {
  clientId: 'client',
  redirectUri: 'https://app.test/callback.html',
  knownAuthorities: ['login.test'],
  authScheme: 'popup' as const,
}

function setUp(
  input?: AuthenticationInput,
  more: Partial<AuthenticationServiceOptions> = {},
  { sessionStorage = new FakeStorage(), isInteractive }: { sessionStorage?: FakeStorage; isInteractive?: boolean } = {},
) {
  const service = new FakeService()
  let count = 0
  const token = (sub: string, life = 3600) => fakeToken({ exp: service.clock.now() / 1000 + life, sub, jti: ++count })
  service.on('GET /core/authmgr/v3/metadata/deployment', {
    authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: 'https://login.example.test/token' }] },
  })
  service.on('POST /token', () => ({ access_token: token('anonymous') }))
  const warnings: { message: string; details: unknown }[] = []
  const logger = new Logger({ enableConsole: false }).on('log', ({ message, ...rest }) =>
    warnings.push({ message, details: rest }),
  )
  const page = pageWithWindow({ location: { href: 'https://app.test/', origin: 'https://app.test' } })
  const environment = service.environment({ page, sessionStorage })
  const options: AuthenticationServiceOptions = { environment, logger, ...more }
  const handler = vi.fn()
  const shared = { handleToken: handler, handleUser: async () => {} } as unknown as SharedConversation
  const status = {
    state: 'IDLE' as const,
    isReady: true,
    isLeaving: false,
    ...(isInteractive !== undefined && { isInteractive }),
  }
  const auth = new AuthenticationService(input, options, { status, shared })
  return { service, clock: service.clock, auth, token, warnings, environment, options, handler }
}

/** A strategy of the host whose methods are recorded. */
function hostStrategy(more: Partial<AuthStrategy> = {}): AuthStrategy {
  return { initialize() {}, authenticate() {}, getToken: () => 'own', ...more } as AuthStrategy
}

/** A login with a scripted identity client. */
function loginOf(identity: FakeProvider): AuthenticationInput {
  return identity.login(LOGIN)
}

const never = () => new Promise<never>(() => {})
const errorOf = (work: Promise<unknown>): Promise<AuthError> => work.then(never, (error: AuthError) => error)

describe('before initialize()', () => {
  it.each([
    ['getToken()', (auth: AuthenticationService) => auth.getToken()],
    ['refresh()', (auth: AuthenticationService) => auth.refresh()],
    ['authenticate()', (auth: AuthenticationService) => auth.authenticate()],
  ])('%s is refused, and again after a logout', async (_name, call) => {
    const { auth } = setUp(hostStrategy())
    const expected = { reason: 'token_missing', message: expect.stringContaining('initialize()') }
    expect(await errorOf(call(auth))).toMatchObject(expected)
    expect(auth.getIsInitialized()).toBe(false)
    await auth.initialize({ deploymentInfo })
    expect(auth.getIsInitialized()).toBe(true)
    await call(auth)
    await auth.logout()
    expect(await errorOf(call(auth))).toMatchObject(expected)
  })
})

describe('a request for a token that is ended', () => {
  it.each([
    ['logout()', (auth: AuthenticationService) => auth.logout()],
    ['cleanup()', (auth: AuthenticationService) => auth.cleanup()],
    ['a sign-out in another tab', (auth: AuthenticationService) => auth.handleSignedOut()],
  ])('by %s says so', async (words, end) => {
    const { auth } = setUp(hostStrategy({ getToken: never }))
    await auth.initialize({ deploymentInfo })
    const request = errorOf(auth.getToken())
    await end(auth)
    expect(await request).toMatchObject({ reason: 'token_missing', message: expect.stringContaining(words) })
  })

  it('[SEC-04] in the same turn is not made any more', async () => {
    const { auth, service } = setUp()
    await auth.initialize({ deploymentInfo })
    const request = errorOf(auth.refresh())
    await auth.logout()
    expect(await request).toMatchObject({ reason: 'token_missing' })
    await turnEventLoop()
    expect(service.seen).toEqual([])
  })

  it('by the signal of a sign-in says so', async () => {
    const { auth } = setUp(hostStrategy({ authenticate: never }))
    await auth.initialize({ deploymentInfo })
    const given = new AbortController()
    const first = errorOf(auth.authenticate({ signal: given.signal }))
    given.abort()
    expect(await first).toMatchObject({ reason: 'token_missing', message: expect.stringContaining('signal') })
  })

  it.each<[keyof AuthStrategy & string, (auth: AuthenticationService) => Promise<unknown>]>([
    ['updateScopes', auth => auth.updateScopes(['a'])],
    ['updateToken', auth => auth.updateToken('given')],
    ['logout', auth => auth.logout()],
    ['cleanup', auth => auth.cleanup()],
    ['getToken', auth => auth.getToken()],
  ])('by the time limit of %s() names the function', async (name, call) => {
    const { auth, clock } = setUp(hostStrategy({ [name]: never }))
    await auth.initialize({ deploymentInfo })
    const outcome = errorOf(call(auth))
    await clock.advance(30_000)
    expect(await outcome).toMatchObject({
      reason: 'token_request_failed',
      message: expect.stringMatching(new RegExp(`^${name}\\(\\) of the authentication strategy .*30 seconds`)),
    })
  })

  it('by the time limit of initialize() names it', async () => {
    const { auth, clock } = setUp(hostStrategy({ initialize: never }))
    const outcome = errorOf(auth.initialize({ deploymentInfo }))
    await clock.advance(30_000)
    expect(await outcome).toMatchObject({ message: expect.stringMatching(/^initialize\(\) of the authentication/) })
  })
})

describe('a sign-in', () => {
  it('whose strategy calls back at once uses its token at its end, and once', async () => {
    const results: string[] = []
    let report: (() => unknown) | undefined
    const getToken = vi.fn(() => 'own')
    const { auth } = setUp(
      hostStrategy({
        initialize: ({ postAuthentication }) => void (report = () => postAuthentication?.({ accessToken: 'unused' })),
        authenticate: async () => void (await report?.()),
        getToken,
      }),
    )
    await auth.initialize({ deploymentInfo, postAuthentication: ({ accessToken }) => void results.push(accessToken) })
    await auth.authenticate()
    expect(results).toEqual(['own'])
    expect(getToken).toHaveBeenCalledTimes(1)
    // Outside a sign-in, the callback itself waits for the token.
    await report?.()
    expect(results).toEqual(['own', 'own'])
    await auth.logout()
    await report?.()
    expect(results).toEqual(['own', 'own'])
  })

  it('whose strategy has no token before the callback returns uses its token', async () => {
    let report: (() => unknown) | undefined
    let finish: () => void = () => {}
    const finished = new Promise<void>(resolve => (finish = resolve))
    const { auth } = setUp(
      hostStrategy({
        initialize: ({ postAuthentication }) => void (report = () => postAuthentication?.({ accessToken: 'unused' })),
        authenticate: async () => {
          await report?.()
          finish()
        },
        getToken: () => finished.then(() => 'own'),
      }),
    )
    await auth.initialize({ deploymentInfo })
    await auth.authenticate()
    expect(auth.getCachedToken()).toBe('own')
  })

  it('that brings the same token reports neither the token nor its expiry again', async () => {
    let report: (() => unknown) | undefined
    const strategy = hostStrategy({
      initialize: ({ postAuthentication }) => void (report = () => postAuthentication?.({ accessToken: 'unused' })),
      authenticate: async () => void (await report?.()),
    })
    const { auth, token, clock, handler } = setUp(strategy)
    const soon = token('ann', 60)
    strategy.getToken = () => soon
    const expiring = vi.fn()
    auth.setTokenExpiringCallback(expiring)
    await auth.initialize({ deploymentInfo })
    for (let count = 0; count < 2; count++) {
      await auth.authenticate()
      await clock.advance(1)
      expect([expiring.mock.calls.length, handler.mock.calls]).toEqual([1, [[soon]]])
    }
  })

  it('that never calls back uses no token', async () => {
    const results: unknown[] = []
    const { auth } = setUp(hostStrategy())
    await auth.initialize({ deploymentInfo, postAuthentication: result => void results.push(result) })
    await auth.authenticate()
    expect([results, auth.getCachedToken()]).toEqual([[], null])
  })

  it('needs no callback of the host', async () => {
    const strategy = hostStrategy({ getToken: () => 'own' })
    let report: (() => unknown) | undefined
    strategy.initialize = ({ postAuthentication }) => void (report = () => postAuthentication?.({ accessToken: 'x' }))
    const { auth } = setUp(strategy)
    await auth.initialize({ deploymentInfo })
    await report?.()
    expect(auth.getCachedToken()).toBe('own')
  })
})

describe('a second initialize()', () => {
  it('gives an anonymous strategy other scopes', async () => {
    const { auth, service } = setUp()
    for (const scope of ['first', 'second']) {
      await auth.initialize({ deploymentInfo, scopes: [scope] })
      await auth.getToken()
      expect(service.seen.at(-1)?.body).toContain(scope)
    }
  })

  it('does not reach a strategy of the host', async () => {
    const initialize = vi.fn()
    const { auth } = setUp(hostStrategy({ initialize }))
    for (let count = 0; count < 2; count++) await auth.initialize({ deploymentInfo })
    expect(initialize).toHaveBeenCalledTimes(1)
  })
})

describe('a token', () => {
  it.each([undefined, null, '', ' ', 7, {}])('of a strategy that returns %j is missing', async returned => {
    const { auth } = setUp(hostStrategy({ getToken: () => returned as string }))
    await auth.initialize({ deploymentInfo })
    expect(await errorOf(auth.getToken())).toMatchObject({ name: 'AuthError', reason: 'token_missing' })
  })

  it.each([undefined, null, '', ' ', 7])('that the host supplies as %j is refused', async given => {
    const { auth } = setUp(hostStrategy())
    await auth.initialize({ deploymentInfo })
    expect(await errorOf(auth.updateToken(given as string))).toMatchObject({ reason: 'invalid_input' })
  })

  it('that the host supplies without an expiry is used as long as the strategy brings no other', async () => {
    const { auth, clock } = setUp(hostStrategy({ getToken: () => 'own' }))
    await auth.initialize({ deploymentInfo })
    await auth.updateToken('given')
    await clock.advance(86_400_000)
    expect(await auth.getToken()).toBe('given')
  })

  it('is reported to the handler unless it is anonymous', async () => {
    const { auth, handler } = setUp(hostStrategy({ getToken: () => 'own' }))
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    await auth.updateToken('given')
    expect(handler.mock.calls).toEqual([['own'], ['given']])
    const anonymous = setUp()
    await anonymous.auth.initialize({ deploymentInfo })
    await anonymous.auth.getToken()
    expect(anonymous.handler).not.toHaveBeenCalled()
  })

  it('of an expired login cannot be used', async () => {
    const strategy = hostStrategy()
    const { auth, token, clock } = setUp(strategy)
    const expired = token('ann', 60)
    strategy.getToken = () => expired
    await auth.initialize({ deploymentInfo })
    expect(await auth.getToken()).toBe(expired)
    await clock.advance(120_000)
    expect(await errorOf(auth.getToken())).toMatchObject({
      reason: 'token_missing',
      message: expect.stringContaining('updateAccessToken()'),
    })
  })

  it('is renewed alone: forced refreshes share one, and an ordinary request waits for it', async () => {
    let finish: (token: string) => void = () => {}
    const refresh = vi.fn(() => new Promise<string>(resolve => (finish = resolve)))
    const getToken = vi.fn(() => 'own')
    const { auth } = setUp(hostStrategy({ refresh, getToken }))
    await auth.initialize({ deploymentInfo })
    const all = [auth.refresh(), auth.refresh(), auth.getToken()]
    await turnEventLoop()
    finish('renewed')
    expect(await Promise.all(all)).toEqual(['renewed', 'renewed', 'renewed'])
    expect([refresh.mock.calls.length, getToken.mock.calls.length]).toEqual([1, 0])
  })

  it('is asked for without an argument, which may mean something to a strategy of the host', async () => {
    const getToken = vi.fn((..._given: unknown[]) => 'own')
    const { auth } = setUp(hostStrategy({ getToken }))
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    expect(getToken.mock.calls).toEqual([[]])
  })

  it('is available without the user unless a login says otherwise', () => {
    expect(setUp().auth.hasSession()).toBe(true)
    expect(setUp(hostStrategy()).auth.hasSession()).toBe(true)
    expect(setUp(loginOf(new FakeProvider())).auth.hasSession()).toBe(false)
  })

  it('of a strategy that watches its expiry itself is reported when the strategy says so', async () => {
    let tell: (event: { expiresAt: number }) => void = () => {}
    const { auth, clock } = setUp(hostStrategy({ setTokenExpiringCallback: callback => void (tell = callback) }))
    const expiring = vi.fn()
    auth.setTokenExpiringCallback(expiring)
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    const expiresAt = clock.now() + 1_000
    tell({ expiresAt })
    expect(expiring.mock.calls).toEqual([[{ expiresAt }]])
  })

  it('that a strategy cannot renew is the same again', async () => {
    const { auth } = setUp(hostStrategy())
    await auth.initialize({ deploymentInfo })
    expect(await auth.refresh()).toBe('own')
  })
})

describe('an error of a strategy', () => {
  const call = async (error: unknown) => {
    const { auth } = setUp(
      hostStrategy({ authenticate: () => Promise.reject(error), getToken: () => Promise.reject(error) }),
    )
    await auth.initialize({ deploymentInfo })
    return [await errorOf(auth.authenticate()), await errorOf(auth.getToken())]
  }

  it('from another copy of this library is an error of this one', async () => {
    const other = Object.assign(new Error('No.'), { name: 'AuthError', code: 'AUTH_ERROR', reason: 'popup_closed' })
    for (const error of await call(other)) {
      expect(error).toBeInstanceOf(AuthError)
      expect(error).toMatchObject({ message: 'No.', reason: 'popup_closed' })
    }
  })

  it.each([
    ['has another name', { name: 'Error', message: 'No.', reason: 'popup_closed' }],
    ['says nothing', { name: 'AuthError', message: '', reason: 'popup_closed' }],
    ['gives no reason', { name: 'AuthError', message: 'No.' }],
  ])('is one of the host if it %s', async (_case, other) => {
    for (const error of await call(other)) expect(error).toMatchObject({ reason: 'token_request_failed', cause: other })
  })
})

describe('a login', () => {
  it('asks whether it may ask the user, and asks when nobody minds', async () => {
    for (const [isInteractive, calls] of [
      [false, ['restore', 'renew']],
      [true, ['restore', 'renew', 'login popup']],
      [undefined, ['restore', 'renew', 'login popup']],
    ] as const) {
      const identity = new FakeProvider()
      const { auth, token, clock } = setUp(
        loginOf(identity),
        {},
        { ...(isInteractive !== undefined && { isInteractive }) },
      )
      const first = token('ann')
      identity.restored = async () => ({ accessToken: first })
      identity.renewed = () => Promise.reject(Object.assign(new Error('gone'), { error: 'interaction_required' }))
      identity.signIn = async () => ({ accessToken: token('ann') })
      await auth.initialize({ deploymentInfo })
      await clock.advance(3_500_000)
      await auth.getToken().catch(() => {})
      expect(identity.calls).toEqual(calls)
    }
  })

  it('is followed when its user signs out in another tab', async () => {
    const identity = new FakeProvider()
    const { auth, token, options } = setUp(loginOf(identity))
    const given = token('ann')
    identity.restored = async () => ({ accessToken: given })
    const changed = vi.fn()
    options.onUserChange = changed
    await auth.initialize({ deploymentInfo })
    expect(await auth.getToken()).toBe(given)
    for (const listener of identity.listeners) listener()
    await turnEventLoop()
    expect(changed).toHaveBeenCalledTimes(1)
    expect([auth.getCachedToken(), auth.hasSession()]).toEqual([null, false])
  })

  it('is followed also without a logger, when not everything of its user could be removed', async () => {
    const identity = new FakeProvider()
    const { environment, token } = setUp()
    identity.restored = async () => ({ accessToken: token('ann') })
    const onUserChange = () => Promise.reject(new Error('the store is broken'))
    const auth = new AuthenticationService(loginOf(identity), { environment, onUserChange })
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    await expect(auth.handleSignedOut()).resolves.toBeUndefined()
    expect(auth.getCachedToken()).toBeNull()
  })

  it('warns when not everything of a user who signed out elsewhere could be removed', async () => {
    const identity = new FakeProvider()
    const { auth, token, warnings, options } = setUp(loginOf(identity))
    identity.restored = async () => ({ accessToken: token('ann') })
    const error = new Error('the store is broken')
    options.onUserChange = () => Promise.reject(error)
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    await auth.handleSignedOut()
    expect(warnings).toContainEqual({
      message: expect.stringContaining('another tab'),
      details: expect.objectContaining({ context: { error: expect.objectContaining({ cause: error }) } }),
    })
  })

  it('has an anonymous stand-in until its user signs in, which is signed out with it', async () => {
    const identity = new FakeProvider()
    const { auth, token, service, options, handler } = setUp(loginOf(identity))
    await auth.initialize({ deploymentInfo })
    await auth.useAnonymousToken({ deploymentInfo })
    await auth.useAnonymousToken({ deploymentInfo })
    const anonymous = await auth.getToken()
    expect(anonymous.split('.')[1]).toBe(
      fakeToken({ exp: service.clock.now() / 1000 + 3600, sub: 'anonymous', jti: 1 }).split('.')[1],
    )
    const changed = vi.fn()
    options.onUserChange = changed
    const own = token('ann')
    identity.signIn = async () => ({ accessToken: own })
    await auth.authenticate()
    expect(await auth.getToken()).toBe(own)
    expect(handler.mock.calls).toEqual([[own]])
    expect(changed).not.toHaveBeenCalled()
    await auth.logout()
    expect(identity.calls).toEqual(['restore', 'login popup', 'logout popup'])
    expect(auth.isPKCEStrategy()).toBe(true)
  })

  it('may ask its user for longer than a function of the host may take', async () => {
    const identity = new FakeProvider()
    const { auth, token, clock } = setUp(loginOf(identity))
    identity.restored = async () => ({ accessToken: token('ann', 60) })
    identity.renewed = () => Promise.reject(Object.assign(new Error('gone'), { error: 'interaction_required' }))
    let finish: (session: { accessToken: string }) => void = () => {}
    identity.signIn = () => new Promise(resolve => (finish = resolve))
    await auth.initialize({ deploymentInfo })
    const outcome = auth.getToken()
    await eventually(() => identity.calls.includes('login popup'), 'the window')
    await clock.advance(120_000)
    const accessToken = token('ann')
    finish({ accessToken })
    expect(await outcome).toBe(accessToken)
  })

  it('with an unreadable token is reported by the expiry that it states', async () => {
    const identity = new FakeProvider()
    const { auth, clock } = setUp(loginOf(identity))
    identity.restored = async () => ({ accessToken: 'opaque', expiresAt: clock.now() + 3_600_000 })
    identity.renewed = () => Promise.reject(Object.assign(new Error('gone'), { error: 'interaction_required' }))
    const expiring = vi.fn()
    auth.setTokenExpiringCallback(expiring)
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    await clock.advance(3_300_000)
    expect(expiring).toHaveBeenCalledTimes(1)
  })

  it('[SEC-15] of another user over the present one is a change of the user', async () => {
    const identity = new FakeProvider()
    const { auth, token, options } = setUp(loginOf(identity))
    identity.restored = async () => ({ accessToken: token('ann') })
    const tokens: (string | null)[] = []
    options.onUserChange = () => void tokens.push(auth.getCachedToken())
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    const accessToken = token('ben')
    identity.signIn = async () => ({ accessToken })
    await auth.authenticate()
    expect([tokens, auth.getCachedToken()]).toEqual([[null], accessToken])
  })

  it('replaces the anonymous strategy once, and has no token until it is initialized', async () => {
    const { auth } = setUp()
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    expect(await auth.switchStrategyTo(LOGIN)).toBe(true)
    expect([auth.isPKCEStrategy(), auth.getCachedToken(), auth.getIsInitialized()]).toEqual([true, null, false])
    expect(await auth.switchStrategyTo(LOGIN)).toBe(false)
  })
})

describe('a logout', () => {
  it('waits for the chat before it reaches the host’s strategy', async () => {
    const logout = vi.fn()
    const { auth } = setUp(hostStrategy({ logout }))
    await auth.initialize({ deploymentInfo })
    let close: () => void = () => {}
    const left = auth.logout({ after: new Promise<void>(resolve => (close = resolve)) })
    await turnEventLoop()
    expect(logout).not.toHaveBeenCalled()
    close()
    await left
    expect(logout).toHaveBeenCalledTimes(1)
  })

  it('[SEC-15] ends an update of the token that waits for the code of the login', async () => {
    const { auth } = setUp({ type: 'pkce', config: LOGIN })
    const updated = errorOf(auth.updateToken('given'))
    const left = auth.logout()
    expect(await updated).toMatchObject({ name: 'AuthError', reason: 'token_missing' })
    await left
    await auth.initialize({ deploymentInfo })
    expect([auth.getCachedToken(), auth.hasUser]).toEqual([null, false])
  })

  it('opens the window of a login before the chat is closed', async () => {
    const { auth, environment, token } = setUp({ type: 'pkce', config: LOGIN })
    const open = vi.fn(() => null)
    Object.assign(environment.page?.window ?? {}, { open })
    const user = { loginId: 'a', accessToken: token('ann') }
    const now = environment.clock?.now()
    environment.sessionStorage?.setItem(userKey('https://login.test', LOGIN.clientId), storedText(user, now))
    await auth.initialize({ deploymentInfo })
    expect(auth.hasSession()).toBe(true)
    const outcome = errorOf(auth.logout({ after: never() }))
    // A browser opens a window only during the user's click.
    expect(open).toHaveBeenCalledTimes(1)
    expect(await outcome).toMatchObject({ reason: 'popup_blocked' })
  })

  it('removes the token of a stand-in before the chat is closed', async () => {
    const sessionStorage = new FakeStorage()
    const { auth } = setUp(loginOf(new FakeProvider()), {}, { sessionStorage })
    await auth.initialize({ deploymentInfo })
    await auth.useAnonymousToken({ deploymentInfo })
    await auth.getToken()
    const stored = () => [...sessionStorage.items.keys()].filter(key => key.includes('anonymous_token'))
    expect(stored()).toHaveLength(1)
    void auth.logout({ after: never() })
    await turnEventLoop()
    expect(stored()).toEqual([])
  })

  it('does not wait for the chat where only anonymous tokens are removed', async () => {
    const logout = vi.spyOn(AnonymousAuthStrategy.prototype, 'logout')
    const { auth } = setUp()
    await auth.initialize({ deploymentInfo })
    void auth.logout({ after: never() })
    await turnEventLoop()
    expect(logout).toHaveBeenCalledTimes(1)
    logout.mockRestore()
  })

  it('of a strategy that fails rejects with its reason, and nothing is left', async () => {
    const { auth } = setUp(hostStrategy({ logout: () => Promise.reject(new Error('no network')) }))
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    expect(await errorOf(auth.logout())).toMatchObject({ message: expect.stringContaining('no network') })
    expect(auth.getCachedToken()).toBeNull()
  })
})

describe('a disconnected agent', () => {
  it('gives up a renewal of the host that hangs, and goes on with one that is asked for', async () => {
    const strategy = hostStrategy({ getToken: never })
    const { auth, clock } = setUp(strategy)
    await auth.initialize({ deploymentInfo })
    const hanging = auth.getToken()
    await clock.advance(5_000)
    auth.watchExpiry(true)
    const joined = auth.getToken()
    auth.watchExpiry(false)
    strategy.getToken = () => 'own'
    expect(await Promise.all([auth.getToken(), hanging, joined])).toEqual(['own', 'own', 'own'])
  })

  it('waits for a request of the host that has just begun', async () => {
    let finish: (token: string) => void = () => {}
    const getToken = vi.fn(() => new Promise<string>(resolve => (finish = resolve)))
    const { auth, clock } = setUp(hostStrategy({ getToken }))
    await auth.initialize({ deploymentInfo })
    const first = auth.getToken()
    await clock.advance(4_999)
    auth.watchExpiry(false)
    const second = auth.getToken()
    finish('own')
    expect(await Promise.all([first, second])).toEqual(['own', 'own'])
    expect(getToken).toHaveBeenCalledTimes(1)
  })
})

describe('forgetUser()', () => {
  it('drops the token of a strategy of the host without its `logout()`, which contacts the token issuer', async () => {
    const logout = vi.fn()
    const { auth } = setUp(hostStrategy({ logout }))
    await auth.initialize({ deploymentInfo })
    expect(await auth.getToken()).toBe('own')
    await auth.forgetUser()
    expect([auth.getCachedToken(), auth.getIsInitialized(), logout.mock.calls]).toEqual([null, false, []])
  })
})
