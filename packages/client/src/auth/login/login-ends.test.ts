import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it, vi } from 'vitest'
import { FakeProvider } from '../../../test/fake-login.ts'
import { pageWithWindow } from '../../../test/fake-login-page.ts'
import { FakeService, fakeToken } from '../../../test/fake-service.ts'
import { AuthError } from '../../errors.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import type { Login, LoginSession } from './login.ts'

const CONFIG: PKCEAuthConfig = {
  clientId: 'client',
  redirectUri: 'https://app.test/callback.html',
  knownAuthorities: ['login.test'],
}

/** A login with a host's client, and the window of its page where it has one. */
function setUp(more: Partial<PKCEAuthConfig> = {}, { hasPage = true }: { hasPage?: boolean } = {}) {
  const service = new FakeService()
  const identity = new FakeProvider()
  let count = 0
  const session = (more: Partial<LoginSession> = {}): LoginSession => ({
    accessToken: fakeToken({ exp: service.clock.now() / 1000 + 3600, jti: ++count }),
    ...more,
  })
  identity.signIn = async () => session()
  identity.renewed = async () => session()
  const page = pageWithWindow({ location: { href: 'https://app.test/chat' } })
  const environment = service.environment(hasPage ? { page } : { page: undefined })
  const strategy = identity.login({ ...CONFIG, ...more }, { environment })
  const start = () => strategy.initialize({ deploymentInfo: { apiDomain: 'api.test' } })
  const signedIn = async () => {
    identity.restored = async () => session()
    await start()
  }
  const showAgain = () => page.window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
  return { identity, strategy, session, start, signedIn, showAgain, environment, clock: service.clock }
}

const never = () => new Promise<never>(() => {})
const errorOf = (promise: Promise<unknown>): Promise<AuthError> => promise.then(never, (error: AuthError) => error)

describe('a login that ends without a user', () => {
  it('[SEC-17] rejects when its user comes back from the redirect, and the next one starts', async () => {
    const { identity, strategy, start, showAgain } = setUp()
    await start()
    identity.signIn = never
    const first = errorOf(strategy.authenticate())
    showAgain()
    expect(await first).toMatchObject({ reason: 'popup_closed', message: expect.stringContaining('came back') })
    expect(strategy.hasSession).toBe(false)
    identity.signIn = async () => ({ accessToken: 'opaque' })
    expect(await strategy.getToken()).toBe('opaque')
    expect(identity.calls).toEqual(['restore', 'login redirect', 'login redirect'])
  })

  it('[SEC-17] keeps waiting in a popup when the page is shown again', async () => {
    const { identity, strategy, start, showAgain } = setUp({ authScheme: 'popup' })
    await start()
    let finish: (session: LoginSession) => void = () => {}
    identity.signIn = () => new Promise(resolve => (finish = resolve))
    const login = strategy.authenticate()
    showAgain()
    await turnEventLoop()
    finish({ accessToken: 'opaque' })
    await login
    expect(strategy.hasSession).toBe(true)
  })

  it('leaves an earlier session as it is, and the next token needs no answer of the failed login', async () => {
    const { identity, strategy, signedIn } = setUp({ authScheme: 'popup' })
    await signedIn()
    const token = await strategy.getToken()
    identity.signIn = () => Promise.reject(new AuthError('No.', 'popup_closed'))
    expect(await errorOf(strategy.authenticate())).toMatchObject({ reason: 'popup_closed' })
    expect(await strategy.getToken()).toBe(token)
  })

  it('is replaced by another one, with a reason, and its end changes nothing', async () => {
    const { identity, strategy, start } = setUp({ authScheme: 'popup' })
    await start()
    let fail: (error: unknown) => void = () => {}
    identity.signIn = () => new Promise((_resolve, reject) => (fail = reject))
    const first = errorOf(strategy.authenticate())
    let finish: (session: LoginSession) => void = () => {}
    identity.signIn = () => new Promise(resolve => (finish = resolve))
    const second = strategy.authenticate()
    expect(await first).toMatchObject({ reason: 'popup_closed', message: expect.stringContaining('replaced') })
    fail(new AuthError('too late', 'popup_blocked'))
    const waiting = strategy.getToken()
    await turnEventLoop()
    finish({ accessToken: 'opaque' })
    await second
    expect(await waiting).toBe('opaque')
    expect(identity.calls).toEqual(['restore', 'login popup', 'login popup'])
  })

  it.each([
    ['logout()', (strategy: Login) => void strategy.logout()],
    ['destroy()', (strategy: Login) => strategy.cleanup()],
    ['signed out in another tab', (strategy: Login) => void strategy.forget()],
  ])('says that it was ended: %s', async (words, end) => {
    const { identity, strategy, start } = setUp()
    await start()
    identity.signIn = never
    const login = errorOf(strategy.authenticate())
    end(strategy)
    expect(await login).toMatchObject({ reason: 'token_missing', message: expect.stringContaining(words) })
  })

  it('is refused before initialize()', async () => {
    const { strategy } = setUp()
    expect(await errorOf(strategy.authenticate())).toMatchObject({
      name: 'AuthError',
      reason: 'token_missing',
      message: expect.stringContaining('initialize()'),
    })
  })

  it('sends no hint where the deployment has none', async () => {
    const { identity, strategy, start } = setUp()
    await start()
    await strategy.authenticate()
    expect(identity.logins[0]?.extraQueryParameters).toEqual({})
    expect(identity.logins[0]?.nextRoute).toBe('https://app.test/chat')
  })

  it('returns to the callback page where there is no page', async () => {
    const { identity, strategy, start } = setUp({}, { hasPage: false })
    await start()
    await strategy.authenticate()
    expect(identity.logins[0]?.nextRoute).toBe(CONFIG.redirectUri)
    await strategy.logout()
    expect(identity.plans[0]?.state).toBe(CONFIG.redirectUri)
  })
})

describe('a token', () => {
  it('is asked for again after a sign-out, and refused before initialize()', async () => {
    const { identity, strategy, signedIn } = setUp()
    expect(await errorOf(strategy.getToken())).toMatchObject({ name: 'AuthError', reason: 'token_missing' })
    await signedIn()
    await strategy.logout()
    identity.signIn = async () => ({ accessToken: 'opaque' })
    expect(await strategy.getToken()).toBe('opaque')
    expect(identity.calls).toEqual(['restore', 'logout redirect', 'login redirect'])
  })

  it('is not asked for when the caller forbids it', async () => {
    const { identity, strategy, signedIn, clock } = setUp()
    await signedIn()
    await clock.advance(3_500_000)
    identity.renewed = () => Promise.reject(new AuthError('No.', 'interaction_required'))
    const mayAsk = vi.fn(() => false)
    expect(await errorOf(strategy.getToken(mayAsk))).toMatchObject({ reason: 'interaction_required' })
    expect(identity.calls).toEqual(['restore', 'renew'])
    mayAsk.mockReturnValue(true)
    await strategy.getToken(mayAsk)
    expect(identity.calls).toEqual(['restore', 'renew', 'renew', 'login redirect'])
    expect(mayAsk).toHaveBeenCalledTimes(2)
  })

  it('is not asked for after an error that the user cannot mend', async () => {
    const { identity, strategy, signedIn, clock } = setUp()
    await signedIn()
    await clock.advance(3_500_000)
    identity.renewed = () => Promise.reject(new TypeError('a bug of the client'))
    expect(await errorOf(strategy.getToken())).toMatchObject({ reason: 'token_request_failed' })
    expect(identity.calls).toEqual(['restore', 'renew'])
  })

  it.each(['clientId', 'redirectUri'] as const)('needs a text as %s', field => {
    for (const value of [undefined, 7, {}])
      expect(() => setUp({ [field]: value })).toThrow(expect.objectContaining({ reason: 'invalid_input' }))
    expect(() => new FakeProvider().login(undefined as unknown as PKCEAuthConfig)).toThrow(
      expect.objectContaining({ name: 'AuthError', reason: 'invalid_input' }),
    )
  })
})

describe('a sign-out', () => {
  it('[AUTH-22] removes the data of a host’s client at once, and contacts its provider after the chat', async () => {
    const { identity, strategy, signedIn } = setUp()
    await signedIn()
    const forget = vi.fn(() => null)
    identity.forget = forget
    let close: () => void = () => {}
    const leaving = strategy.logout({ after: new Promise<void>(resolve => (close = resolve)) })
    expect(forget).toHaveBeenCalledTimes(1)
    await turnEventLoop()
    expect(identity.calls).toEqual(['restore'])
    close()
    await leaving
    expect(identity.calls).toEqual(['restore', 'logout redirect'])
  })

  it('takes the user that is stored, where none was restored', async () => {
    const { identity, strategy } = setUp()
    const stored: LoginSession = { accessToken: fakeToken({ logout: 'https://login.test/bye' }), idToken: 'stored' }
    const forget = vi.fn((): LoginSession | null => stored)
    identity.forget = forget
    await strategy.logout()
    expect(identity.plans).toMatchObject([{ idTokenHint: 'stored', logoutClaim: 'https://login.test/bye' }])
    forget.mockReturnValue(null)
    await strategy.logout()
    expect(identity.plans).toHaveLength(1)
  })

  it('of a popup waits 30 seconds for its window, that of a redirect waits longer', async () => {
    const { identity, strategy, signedIn, clock } = setUp({ authScheme: 'popup' })
    await signedIn()
    identity.signOut = never
    const ended = vi.fn()
    void strategy.logout().then(ended)
    await clock.advance(29_999)
    expect(ended).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(ended).toHaveBeenCalledTimes(1)
    const other = setUp()
    await other.signedIn()
    other.identity.signOut = never
    const left = vi.fn()
    void other.strategy.logout().then(left)
    await other.clock.advance(60_000)
    expect(left).not.toHaveBeenCalled()
    other.showAgain()
    await turnEventLoop()
    expect(left).toHaveBeenCalledTimes(1)
  })

  it('is not repeated for a user who is gone, when it failed otherwise than by a blocked window', async () => {
    const { identity, strategy, signedIn } = setUp()
    await signedIn()
    identity.signOut = () => Promise.reject(new TypeError('no network'))
    expect(await errorOf(strategy.logout())).toMatchObject({ reason: 'token_request_failed' })
    await strategy.logout()
    expect(identity.plans).toHaveLength(1)
  })

  it('in another tab is followed until cleanup(), which stays signed in at the provider', async () => {
    const { identity, strategy, signedIn, environment } = setUp()
    const { listeners } = identity
    const signedOut = vi.fn()
    strategy.attach({ environment, logger: undefined, onExpiring() {}, onSignedOut: signedOut })
    await signedIn()
    await strategy.initialize({ deploymentInfo: { apiDomain: 'api.test' } })
    expect(listeners.size).toBe(1)
    for (const listener of listeners) listener()
    expect(signedOut).toHaveBeenCalledTimes(1)
    expect(strategy.hasSession).toBe(false)
    strategy.cleanup()
    strategy.cleanup()
    expect(listeners.size).toBe(0)
    expect(identity.plans).toEqual([])
  })
})

describe('two logins of one page', () => {
  const page = () => pageWithWindow({ location: { href: 'https://app.test/chat' } })
  const login = async (user: string, on: ReturnType<typeof page>, more: Partial<PKCEAuthConfig> = {}) => {
    const identity = new FakeProvider()
    const environment = new FakeService().environment({ page: on })
    const strategy = identity.login({ ...CONFIG, ...more }, { environment })
    const session = { accessToken: 'opaque', idToken: fakeToken({ iss: 'https://login.test', sub: user }) }
    identity.signIn = async () => session
    return {
      identity,
      strategy,
      session,
      start: () => strategy.initialize({ deploymentInfo: { apiDomain: 'api.test' } }),
    }
  }

  it.each<[string, Partial<PKCEAuthConfig>, boolean]>([
    ['ends the other one where they share a store', { cacheLocation: 'sessionStorage' }, false],
    ['leaves the other one where each has a store', { cacheLocation: 'localStorage' }, true],
    ['leaves the other one where each has a client', { clientId: 'other' }, true],
  ])('[SEC-13] the sign-in of another user %s', async (_case, more, isLeft) => {
    for (const isRestored of [false, true]) {
      const shared = page()
      const ann = await login('ann', shared)
      await ann.start()
      await ann.strategy.authenticate()
      const bob = await login('bob', shared, more)
      if (isRestored) bob.identity.restored = async () => bob.session
      await bob.start()
      if (!isRestored) await bob.strategy.authenticate()
      expect([ann.strategy.hasSession, bob.strategy.hasSession]).toEqual([isLeft, true])
    }
  })

  it('[SEC-13] a start without a user, and the sign-in of the same one, leave the other one', async () => {
    const shared = page()
    const ann = await login('ann', shared)
    await ann.start()
    await ann.strategy.authenticate()
    const again = await login('ann', shared)
    await again.start()
    expect(ann.strategy.hasSession).toBe(true)
    await again.strategy.authenticate()
    expect(ann.strategy.hasSession).toBe(true)
    await again.strategy.logout()
    expect(ann.strategy.hasSession).toBe(false)
  })
})
