import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { FakeProvider } from '../../../test/fake-login.ts'
import { pageWithWindow } from '../../../test/fake-login-page.ts'
import { FakeService, fakeToken } from '../../../test/fake-service.ts'
import { AuthError } from '../../errors.ts'
import type { AuthenticationResult, PKCEAuthConfig } from '../auth-strategy.ts'
import type { LoginSession } from './login.ts'

const CONFIG: PKCEAuthConfig = {
  clientId: 'client',
  redirectUri: 'https://app.test/callback.html',
  knownAuthorities: ['login.test'],
  authorizationUrl: 'https://login.test/acme/',
  scopes: ['api://x/read'],
  authScheme: 'popup',
}
const page = pageWithWindow({ location: { href: 'https://app.test/chat?x=1#top' } })
const deploymentInfo = { apiDomain: 'api.test', domainHint: 'acme.test' }

function setUp(more: Partial<PKCEAuthConfig> = {}) {
  const service = new FakeService()
  const identity = new FakeProvider()
  let count = 0
  const session = (lifeSeconds = 3600, claims = {}) => ({
    accessToken: fakeToken({ exp: service.clock.now() / 1000 + lifeSeconds, jti: ++count, ...claims }),
    idToken: 'the-id-token',
  })
  identity.signIn = async () => session()
  identity.renewed = async () => session()
  const config = Object.freeze({ ...CONFIG, ...more })
  const environment = service.environment({ page })
  const strategy = identity.login(config, { environment })
  const told: string[] = []
  const start = (scopes?: readonly string[]) =>
    strategy.initialize({
      deploymentInfo,
      ...(scopes && { scopes }),
      postAuthentication: result => void told.push((result as AuthenticationResult).accessToken),
    })
  return { identity, strategy, session, start, told, config, environment, clock: service.clock }
}

const refusal = (reason: AuthError['reason']) => () => Promise.reject(new AuthError('No.', reason))

describe('initialize()', () => {
  it('restores the session of a previous page', async () => {
    const { identity, strategy, session, start } = setUp()
    const known = session()
    identity.restored = async () => known
    expect(strategy.hasSession).toBe(false)
    await start()
    expect(strategy.hasSession).toBe(true)
    expect(await strategy.getToken()).toBe(known.accessToken)
    expect(identity.calls).toEqual(['restore'])
  })

  it.each<[string, readonly string[] | undefined, readonly string[] | undefined, readonly string[]]>([
    ['its own', ['own'], ['given'], ['own']],
    ['the given scopes', undefined, ['given'], ['given']],
    ['the given scopes if its own are empty', [], ['given'], ['given']],
    ['the scopes of the protocol', undefined, undefined, ['openid', 'profile', 'offline_access']],
  ])('[AUTH-09] sends %s', async (_case, scopes, given, expected) => {
    const { identity, start, config } = setUp({ scopes })
    await start(given)
    expect(identity.scopes).toEqual(expected)
    // The host's object is frozen: a change would have thrown.
    expect(config.scopes).toEqual(scopes)
  })

  it('removes the authority’s trailing slash, and uses the first known authority if none is set', async () => {
    const first = setUp()
    await first.start()
    expect(first.strategy.getDomain()).toBe('login.test')
    await first.strategy.authenticate()
    await first.strategy.logout()
    const second = setUp({ authorizationUrl: undefined, knownAuthorities: ['first.test', 'second.test'] })
    await second.start()
    await second.strategy.authenticate()
    await second.strategy.logout()
    const endpoints = [first, second].map(({ identity }) => identity.plans[0]?.constructedEndpoint)
    expect(endpoints).toEqual(['https://login.test/acme/oauth2/v2.0/logout', 'https://first.test/oauth2/v2.0/logout'])
  })

  it('fails if a redirect returned a refusal', async () => {
    const { identity, start } = setUp()
    identity.restored = refusal('interaction_required')
    await expect(start()).rejects.toMatchObject({ reason: 'interaction_required' })
  })

  it.each<[Partial<PKCEAuthConfig>, string]>([
    [{ clientId: '' }, 'clientId'],
    [{ redirectUri: ' ' }, 'redirectUri'],
    [{ authorizationUrl: 'nowhere' }, 'authorizationUrl'],
    [{ authorizationUrl: undefined, knownAuthorities: [] }, 'authorizationUrl'],
  ])('refuses %j', (more, field) => {
    expect(() => setUp(more)).toThrow(
      expect.objectContaining({ reason: 'invalid_input', message: expect.stringContaining(field) }),
    )
  })
})

describe('authenticate()', () => {
  it('[AUTH-18] always asks the user, even with a restored session', async () => {
    const { identity, strategy, session, start, told } = setUp()
    identity.restored = async () => session()
    await start()
    const fresh = session()
    identity.signIn = async () => fresh
    await strategy.authenticate()
    expect(identity.calls).toEqual(['restore', 'login popup'])
    expect(told).toEqual([fresh.accessToken])
    expect(await strategy.getToken()).toBe(fresh.accessToken)
  })

  it('calls the identity client before the first await', async () => {
    const { identity, strategy, start } = setUp()
    await start()
    const login = strategy.authenticate()
    expect(identity.calls).toEqual(['restore', 'login popup'])
    await login
  })

  it.each<[Partial<PKCEAuthConfig>, object]>([
    [{}, { scheme: 'popup', extraQueryParameters: { domain_hint: 'acme.test' } }],
    [
      { nextRoute: '/next', localLogin: true, extraQueryParameters: { domain_hint: 'mine', ui: 'x' } },
      { scheme: 'popup', extraQueryParameters: { domain_hint: 'mine', localLogin: 'true', ui: 'x' } },
    ],
    [
      { authScheme: 'redirect' },
      {
        scheme: 'redirect',
        extraQueryParameters: { domain_hint: 'acme.test' },
        nextRoute: 'https://app.test/chat?x=1',
      },
    ],
    [
      { authScheme: undefined, nextRoute: '/next?y=2#end' },
      {
        scheme: 'redirect',
        extraQueryParameters: { domain_hint: 'acme.test' },
        nextRoute: 'https://app.test/next?y=2',
      },
    ],
  ])('[AUTH-15] [AUTH-16] with %j passes on the parameters of the scheme', async (more, request) => {
    const { identity, strategy, start } = setUp(more)
    await start()
    await strategy.authenticate()
    expect(identity.logins.map(({ signal: _signal, ...login }) => login)).toEqual([request])
  })

  it.each(['popup_blocked', 'popup_closed', 'popup_timeout', 'browser_unsupported'] as const)(
    'reports %s, and no user is signed in',
    async reason => {
      const { identity, strategy, start, told } = setUp()
      await start()
      identity.signIn = refusal(reason)
      await expect(strategy.authenticate()).rejects.toMatchObject({ name: 'AuthError', reason })
      expect(strategy.hasSession).toBe(false)
      expect(told).toEqual([])
    },
  )

  it('is awaited by callers that need a token', async () => {
    const { identity, strategy, session, start } = setUp()
    await start()
    const fresh = session()
    let finish: () => void = () => {}
    identity.signIn = () => new Promise(resolve => (finish = () => resolve(fresh)))
    const login = strategy.authenticate()
    const token = strategy.getToken()
    await turnEventLoop()
    finish()
    await login
    expect(await token).toBe(fresh.accessToken)
    expect(identity.calls).toEqual(['restore', 'login popup'])
  })
})

describe('getToken()', () => {
  async function signedIn(more: Partial<PKCEAuthConfig> = {}, lifeSeconds = 3600) {
    const parts = setUp(more)
    const first = parts.session(lifeSeconds)
    parts.identity.restored = async () => first
    await parts.start()
    parts.identity.calls.length = 0
    return { ...parts, first }
  }

  it('[AUTH-08] [AUTH-05] returns the token until five minutes before it expires, then renews silently', async () => {
    const { identity, strategy, clock, first } = await signedIn()
    await clock.advance(3_299_999)
    expect(await strategy.getToken()).toBe(first.accessToken)
    await clock.advance(1)
    const tokens = await Promise.all([strategy.getToken(), strategy.getToken(), strategy.refresh()])
    expect(new Set(tokens).size).toBe(1)
    expect(tokens[0]).not.toBe(first.accessToken)
    expect(identity.calls).toEqual(['renew'])
  })

  it('[AUTH-05] uses a new token with a short lifetime until it expires, without a loop', async () => {
    const { identity, strategy, clock, session } = await signedIn({}, 10)
    identity.renewed = async () => session(60)
    const short = await strategy.getToken()
    await clock.advance(59_999)
    expect(await strategy.getToken()).toBe(short)
    expect(identity.calls).toEqual(['renew'])
    await clock.advance(1)
    await strategy.getToken()
    expect(identity.calls).toEqual(['renew', 'renew'])
  })

  it('reads the expiry of an opaque token from the identity client; one without an expiry stays valid', async () => {
    const { identity, strategy, clock, start } = setUp()
    identity.restored = async () => ({ accessToken: 'opaque', expiresAt: clock.now() + 600_000 })
    await start()
    expect(await strategy.getToken()).toBe('opaque')
    identity.renewed = async () => ({ accessToken: 'endless' })
    await clock.advance(300_000)
    expect(await strategy.getToken()).toBe('endless')
    await clock.advance(86_400_000)
    expect(await strategy.getToken()).toBe('endless')
  })

  it.each(['popup', 'redirect'] as const)('[AUTH-17] asks by %s when the renewal needs the user', async scheme => {
    const { identity, strategy, session, clock } = await signedIn({ authScheme: scheme })
    await clock.advance(3_500_000)
    const fresh = session()
    identity.renewed = refusal('interaction_required')
    identity.signIn = async () => fresh
    expect(await strategy.getToken()).toBe(fresh.accessToken)
    expect(identity.calls).toEqual(['renew', `login ${scheme}`])
  })

  it('[AUTH-17] opens a popup when the renewal timed out', async () => {
    const { identity, strategy, clock } = await signedIn({ authScheme: 'redirect' })
    await clock.advance(3_500_000)
    identity.renewed = refusal('popup_timeout')
    await strategy.getToken()
    expect(identity.calls).toEqual(['renew', 'login popup'])
  })

  it('rejects when the renewal fails otherwise, and retries the next time', async () => {
    const { identity, strategy, clock, session } = await signedIn()
    await clock.advance(3_500_000)
    identity.renewed = refusal('token_request_failed')
    await expect(strategy.getToken()).rejects.toMatchObject({ reason: 'token_request_failed' })
    const fresh = session()
    identity.renewed = async () => fresh
    expect(await strategy.getToken()).toBe(fresh.accessToken)
    expect(identity.calls).toEqual(['renew', 'renew'])
  })

  it('asks at once if no user is signed in', async () => {
    const { identity, strategy, start } = setUp()
    await start()
    await strategy.getToken()
    expect(identity.calls).toEqual(['restore', 'login popup'])
  })

  it('refresh() does not ask the user', async () => {
    const { identity, strategy } = await signedIn()
    identity.renewed = refusal('interaction_required')
    await expect(strategy.refresh()).rejects.toMatchObject({ reason: 'interaction_required' })
    expect(identity.calls).toEqual(['renew'])
    const fresh = setUp()
    await fresh.start()
    await expect(fresh.strategy.refresh()).rejects.toMatchObject({ reason: 'interaction_required' })
  })

  it('discards the renewal of a user who has signed out meanwhile', async () => {
    const { identity, strategy, session } = await signedIn()
    let finish: () => void = () => {}
    const late = session()
    identity.renewed = () => new Promise(resolve => (finish = () => resolve(late)))
    const renewal = strategy.refresh().catch((error: AuthError) => error.reason)
    await strategy.logout()
    finish()
    expect(await renewal).toBe('token_missing')
    expect(strategy.hasSession).toBe(false)
  })

  it('renews again after a login that overtook a renewal', async () => {
    const { identity, strategy, session } = await signedIn()
    identity.renewed = () => new Promise(() => {})
    void strategy.refresh().catch(() => {})
    await strategy.authenticate()
    const fresh = session()
    identity.renewed = async () => fresh
    expect(await strategy.refresh()).toBe(fresh.accessToken)
  })
})

describe('logout()', () => {
  it('[AUTH-20] [AUTH-21] plans in the scheme of the login, with the account’s id token and the token’s claim', async () => {
    const { identity, strategy, session, start } = setUp({ authScheme: 'redirect', nextRoute: '/next#end' })
    identity.restored = async () => session(3600, { logout: 'https://login.test/bye' })
    await start()
    // A renewal may return no id token; the login's still counts.
    const renewed = session(3600, { logout: 'https://login.test/bye' })
    identity.renewed = async () => ({ accessToken: renewed.accessToken })
    await strategy.refresh()
    await strategy.logout()
    expect(identity.plans).toEqual([
      {
        scheme: 'redirect',
        clientId: CONFIG.clientId,
        idTokenHint: 'the-id-token',
        postLogoutRedirectUri: CONFIG.redirectUri,
        state: 'https://app.test/next',
        logoutClaim: 'https://login.test/bye',
        constructedEndpoint: 'https://login.test/acme/oauth2/v2.0/logout',
      },
    ])
    expect(strategy.hasSession).toBe(false)
  })

  it('calls the identity client before the first await', async () => {
    const { identity, strategy, session, start } = setUp()
    identity.restored = async () => session()
    await start()
    const leaving = strategy.logout()
    expect(identity.calls).toEqual(['restore', 'logout popup'])
    await leaving
  })

  it('[SEC-05] ends the session although its window is blocked, and retries the provider with the ID token', async () => {
    const { identity, strategy, session, start } = setUp()
    identity.restored = async () => ({ ...session(), idToken: 'the-id-token' })
    await start()
    identity.signOut = refusal('popup_blocked')
    await expect(strategy.logout()).rejects.toMatchObject({ reason: 'popup_blocked' })
    expect(strategy.hasSession).toBe(false)
    identity.signOut = async () => {}
    await strategy.logout()
    expect(identity.plans.map(plan => plan.idTokenHint)).toEqual(['the-id-token', 'the-id-token'])
    await strategy.logout()
    expect(identity.plans).toHaveLength(2)
  })

  it('[SEC-04] discards a login and a renewal that end after it', async () => {
    const { identity, strategy, session, start } = setUp()
    await start()
    let finish: (value: LoginSession) => void = () => {}
    const later = () => new Promise<LoginSession>(resolve => (finish = resolve))
    identity.signIn = later
    const login = strategy.authenticate().catch(error => error.reason)
    await strategy.logout()
    finish(session())
    expect([await login, strategy.hasSession]).toEqual(['token_missing', false])
    identity.signIn = async () => session()
    await strategy.authenticate()
    identity.renewed = later
    const renewal = strategy.refresh().catch(error => error.reason)
    await strategy.logout()
    finish(session())
    expect([await renewal, strategy.hasSession]).toEqual(['token_missing', false])
  })

  it('[SEC-05] aborts the signal of a login with an open window', async () => {
    const { identity, strategy, start } = setUp()
    await start()
    identity.signIn = () => new Promise(() => {})
    const login = strategy.authenticate().catch(error => error.reason)
    await strategy.logout()
    expect([await login, identity.logins[0]?.signal.aborted]).toEqual(['token_missing', true])
  })

  it('does nothing if no user is signed in', async () => {
    const { identity, strategy, start } = setUp()
    await start()
    await strategy.logout()
    expect(identity.calls).toEqual(['restore'])
  })
})
