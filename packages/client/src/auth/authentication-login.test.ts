import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { FakeProvider } from '../../test/fake-login.ts'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import { FakeService, FakeStorage, fakeToken } from '../../test/fake-service.ts'
import { preloadPkce } from '../agent/preload.ts'
import { AuthError } from '../errors.ts'
import { Logger, LogLevel } from '../logger.ts'
import type { AuthenticationInput, PKCEAuthConfig } from './auth-strategy.ts'
import { AuthenticationService } from './authentication-service.ts'

const deploymentInfo = { apiDomain: 'api.example.test', tenantId: 'T1' }
const CONFIG: PKCEAuthConfig = {
  clientId: 'client',
  redirectUri: 'https://app.test/callback.html',
  knownAuthorities: ['login.test'],
  authScheme: 'popup',
}

function setUp(choose: (identity: FakeProvider) => AuthenticationInput | undefined) {
  const service = new FakeService()
  const page = pageWithWindow({ location: { href: 'https://app.test/', origin: 'https://app.test' } })
  let count = 0
  const token = (sub: string, life = 3600) => fakeToken({ exp: service.clock.now() / 1000 + life, sub, jti: ++count })
  service.on('GET /core/authmgr/v3/metadata/deployment', {
    authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: 'https://login.example.test/token' }] },
  })
  service.on('POST /token', () => ({ access_token: token('anonymous') }))
  const identity = new FakeProvider()
  const sessionStorage = new FakeStorage()
  const logged: string[] = []
  const logger = new Logger({ enableConsole: false, level: LogLevel.TRACE })
  logger.on('log', entry => logged.push(JSON.stringify(entry)))
  const environment = service.environment({ page, sessionStorage })
  const auth = new AuthenticationService(choose(identity), { environment, logger })
  const expiring: number[] = []
  auth.setTokenExpiringCallback(({ expiresAt }) => expiring.push(expiresAt))
  const subject = async () => JSON.parse(atob((await auth.getToken()).split('.')[1] ?? '')).sub as string
  return {
    service,
    clock: service.clock,
    page,
    identity,
    auth,
    token,
    expiring,
    logged,
    sessionStorage,
    subject,
  }
}

const byLogin = (identity: FakeProvider): AuthenticationInput => identity.login(CONFIG)

describe('a login', () => {
  it('[CFG-02] is selected by its type, and provides the token of the signed-in user', async () => {
    const { auth, identity, token, subject } = setUp(byLogin)
    expect([auth.getAuthenticationType(), auth.isPKCEStrategy(), auth.hasSession()]).toEqual(['pkce', true, false])
    const told: string[] = []
    await auth.initialize({ deploymentInfo, postAuthentication: result => void told.push(result.accessToken) })
    identity.signIn = async () => ({ accessToken: token('ann') })
    const login = auth.authenticate()
    // Nothing was awaited before it: a window may open.
    expect(identity.calls).toEqual(['restore', 'login popup'])
    await login
    expect(told).toEqual([auth.getCachedToken()])
    expect(await subject()).toBe('ann')
  })

  it('uses an anonymous token until the user signs in', async () => {
    const { auth, identity, token, subject } = setUp(byLogin)
    await auth.initialize({ deploymentInfo })
    await auth.useAnonymousToken({ deploymentInfo })
    expect(await subject()).toBe('anonymous')
    await auth.updateScopes(['one'])
    expect(await auth.refresh()).toBe(auth.getCachedToken())
    expect(identity.calls).toEqual(['restore'])
    identity.signIn = () => Promise.reject(new AuthError('No.', 'popup_closed'))
    await expect(auth.authenticate()).rejects.toMatchObject({ reason: 'popup_closed' })
    expect(await subject()).toBe('anonymous')
    identity.signIn = async () => ({ accessToken: token('ann') })
    await auth.authenticate()
    expect(await subject()).toBe('ann')
  })

  it('[AUTH-24] uses the token of the login, although a request for an anonymous one is still in flight', async () => {
    const { auth, identity, service, token, subject } = setUp(byLogin)
    const told: string[] = []
    await auth.initialize({ deploymentInfo, postAuthentication: ({ accessToken }) => void told.push(accessToken) })
    await auth.useAnonymousToken({ deploymentInfo })
    let answer = () => {}
    service.on('POST /token', () => {
      return new Promise(resolve => {
        answer = () => resolve(Response.json({ access_token: token('anonymous'), expires_in: 3600 }))
      })
    })
    const pending = auth.getToken()
    await eventually(() => service.seen.some(({ path }) => path === '/token'))
    const signedIn = token('ann')
    identity.signIn = async () => ({ accessToken: signedIn })
    await auth.authenticate()
    answer()
    expect(await pending).toBe(signedIn)
    expect([told, auth.getCachedToken(), await subject()]).toEqual([[signedIn], signedIn, 'ann'])
  })

  it('[AUTH-24] leaves no anonymous token when the sign-in provides none', async () => {
    const { auth, identity } = setUp(byLogin)
    await auth.initialize({ deploymentInfo })
    await auth.useAnonymousToken({ deploymentInfo })
    await auth.getToken()
    identity.signIn = async () => ({ accessToken: '' })
    await expect(auth.authenticate()).rejects.toMatchObject({ name: 'AuthError' })
    expect(auth.getCachedToken()).toBeNull()
  })

  it('uses no anonymous token with a restored session', async () => {
    const { auth, identity, token, subject, service } = setUp(byLogin)
    identity.restored = async () => ({ accessToken: token('ann') })
    await auth.initialize({ deploymentInfo })
    await auth.useAnonymousToken({ deploymentInfo })
    expect([auth.hasSession(), await subject()]).toEqual([true, 'ann'])
    expect(service.seen).toEqual([])
  })

  it('[AUTH-23] [OPS-04] keeps no token after logout, and can be initialized again', async () => {
    const { auth, identity, token } = setUp(byLogin)
    identity.restored = async () => ({ accessToken: token('ann') })
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    await auth.logout()
    expect([auth.getCachedToken(), auth.getIsInitialized(), auth.hasSession()]).toEqual([null, false, false])
    expect(identity.calls).toEqual(['restore', 'logout popup'])
    identity.restored = async () => null
    await auth.initialize({ deploymentInfo })
    expect(auth.hasSession()).toBe(false)
  })

  it('requires a page, a config, and initialize()', async () => {
    const environment = new FakeService().environment()
    const make = (input: unknown) => () => new AuthenticationService(input as AuthenticationInput, { environment })
    expect(make({ type: 'pkce', config: CONFIG })).toThrow(expect.objectContaining({ reason: 'browser_unsupported' }))
    expect(make({ type: 'pkce' })).toThrow(expect.objectContaining({ reason: 'invalid_input' }))
    const { auth } = setUp(byLogin)
    await expect(auth.authenticate()).rejects.toMatchObject({ reason: 'token_missing' })
  })

  it('can be preloaded', async () => {
    await expect(preloadPkce()).resolves.toBeUndefined()
  })
})

describe('switchStrategyTo()', () => {
  it('[AUTH-14] replaces the anonymous strategy, whose token stays in its store', async () => {
    const { auth, sessionStorage } = setUp(() => undefined)
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    const stored = [...sessionStorage.items.keys()].filter(key => key.includes('anonymous_token'))
    expect(stored).toHaveLength(1)
    expect(await auth.switchStrategyTo(CONFIG)).toBe(true)
    expect([auth.getAuthenticationType(), auth.getIsInitialized(), auth.getCachedToken()]).toEqual([
      'pkce',
      false,
      null,
    ])
    expect([...sessionStorage.items.keys()]).toEqual(expect.arrayContaining(stored))
  })

  it.each<[string, (identity: FakeProvider) => AuthenticationInput]>([
    ['a host-supplied token', () => ({ type: 'pre-auth', accessToken: 'given' })],
    ['a provider', () => ({ getToken: () => 'given' })],
    ['a login', byLogin],
  ])('leaves %s alone', async (_case, choose) => {
    const { auth } = setUp(choose)
    const before = auth.getStrategy()
    expect(await auth.switchStrategyTo({ ...CONFIG, clientId: 'other' })).toBe(false)
    expect(auth.getStrategy()).toBe(before)
  })
})

describe('the expiry of a token', () => {
  const pre = (accessToken: string) => () => ({ type: 'pre-auth', accessToken }) as const

  it('[AUTH-07] is reported once when the page returns, by the wall clock', async () => {
    const clock = new FakeService().clock
    const { auth, expiring, page, clock: own } = setUp(pre(fakeToken({ exp: clock.now() / 1000 + 3600 })))
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    const expiresAt = own.now() + 3_600_000
    expect(page.listeners).toBe(1)
    page.comeBack()
    expect(expiring).toEqual([])
    own.jump(3_300_000)
    page.comeBack()
    expect(expiring).toEqual([expiresAt])
    auth.checkExpiry()
    await own.advance(3_600_000)
    expect(expiring).toEqual([expiresAt])
    expect([page.listeners, own.pendingTimers]).toEqual([0, 0])
  })

  it('[AUTH-07] is checked before a connection attempt', async () => {
    const clock = new FakeService().clock
    const { auth, expiring, clock: own } = setUp(pre(fakeToken({ exp: clock.now() / 1000 + 3600 })))
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    own.jump(3_299_999)
    auth.checkExpiry()
    expect(expiring).toEqual([])
    own.jump(1)
    auth.checkExpiry()
    expect(expiring).toHaveLength(1)
  })

  it('[AUTH-07] is reported for a login token and an anonymous token too', async () => {
    for (const choose of [byLogin, () => undefined]) {
      const { auth, identity, token, expiring, clock } = setUp(choose)
      identity.restored = async () => ({ accessToken: token('ann') })
      await auth.initialize({ deploymentInfo })
      await auth.getToken()
      await clock.advance(3_299_999)
      expect(expiring).toEqual([])
      await clock.advance(1)
      expect(expiring).toHaveLength(1)
      await clock.advance(600_000)
      expect(expiring).toHaveLength(1)
      await auth.cleanup()
      expect(clock.pendingTimers).toBe(0)
    }
  })
})

it('keeps every secret of a whole session out of logs and errors', async () => {
  const secret = (name: string) => `sentinel-${name}`
  const { auth, identity, token, logged, clock } = setUp(byLogin)
  const tokens: string[] = []
  const session = () => {
    const accessToken = token(secret('subject'))
    tokens.push(accessToken)
    return { accessToken, idToken: secret('id-token') }
  }
  const leak = (name: string) =>
    Object.assign(new Error(secret(`message-${name}`)), {
      error: 'invalid_grant',
      error_description: secret('description'),
      form: new URLSearchParams({ refresh_token: secret('refresh-token'), code: secret('code') }),
    })
  const errors: unknown[] = []
  const caught = (error: unknown) => void errors.push(error)
  identity.restored = () => Promise.reject(leak('restore'))
  await auth.initialize({ deploymentInfo }).catch(caught)
  identity.restored = async () => null
  await auth.initialize({ deploymentInfo })
  identity.signIn = () => Promise.reject(leak('login'))
  await auth.authenticate().catch(caught)
  identity.signIn = async () => session()
  await auth.authenticate()
  identity.renewed = () => Promise.reject(leak('renewal'))
  await auth.refresh().catch(caught)
  identity.renewed = async () => session()
  await clock.advance(3_500_000)
  await auth.getToken()
  identity.signOut = () => Promise.reject(leak('logout'))
  await auth.logout().catch(caught)
  expect(errors).toHaveLength(4)
  expect(logged.length).toBeGreaterThan(2)
  const out = [
    ...logged,
    ...errors.map(error => `${(error as Error).stack} ${JSON.stringify(error)} ${String((error as Error).cause)}`),
  ].join('\n')
  for (const word of ['sentinel-', ...tokens]) expect(out).not.toContain(word)
})
