import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { pageWithWindow } from '../../../test/fake-login-page.ts'
import { FakeService, fakeToken } from '../../../test/fake-service.ts'
import type { AuthScheme } from '../auth-strategy.ts'
import { type MsalApplication, MsalAuthStrategy } from './msal-strategy.ts'

const account = { homeAccountId: 'ann' }
const EXPIRES_AT = new FakeService().clock.now() + 3_600_000
const result = { account, accessToken: 'the-token', idToken: 'the-id-token', expiresOn: new Date(EXPIRES_AT) }

type Calls = [name: string, ...parameters: unknown[]][]

/** An application that records its calls and returns what the test sets. */
async function setUp(answers: Record<string, () => unknown> = {}, authScheme: AuthScheme = 'popup') {
  const calls: Calls = []
  let active: unknown = null
  const names = [
    'initialize',
    'handleRedirectPromise',
    'loginPopup',
    'loginRedirect',
    'acquireTokenSilent',
    'logoutPopup',
    'logoutRedirect',
    'clearCache',
  ]
  const application: Record<string, unknown> = {
    getActiveAccount: () => active,
    getAllAccounts: answers['getAllAccounts'] ?? (() => []),
    setActiveAccount: (given: unknown) => (active = given),
  }
  for (const name of names) {
    application[name] = async (...parameters: unknown[]) => {
      calls.push([name, ...parameters])
      return answers[name]?.()
    }
  }
  const went: string[] = []
  const page = pageWithWindow({
    location: {
      href: 'https://app.test/chat',
      origin: 'https://app.test',
      assign: (address: string) => went.push(address),
    },
    open: () => ({ focus() {}, location: { replace: (address: string) => went.push(`popup ${address}`) } }),
  })
  const service = new FakeService()
  const environment = service.environment({ page })
  const config = {
    clientId: 'client',
    redirectUri: 'https://app.test/bridge.html',
    knownAuthorities: ['login.test'],
    authorizationUrl: 'https://login.test/acme',
    scopes: ['api://x/read'],
    authScheme,
  }
  const strategy = new MsalAuthStrategy(application as unknown as MsalApplication, config, { environment })
  const start = () => strategy.initialize({ deploymentInfo: { apiDomain: 'api.test', domainHint: 'acme' } })
  return { strategy, start, calls, went, service }
}

const failure =
  (errorCode: string, name = 'BrowserAuthError') =>
  () =>
    Promise.reject(Object.assign(new Error('x'), { errorCode, name }))

describe('the host’s own identity library', () => {
  it('restores the session of a redirect, else its first account, else none', async () => {
    const returned = await setUp({ handleRedirectPromise: () => result })
    await returned.start()
    expect([returned.strategy.hasSession, await returned.strategy.getToken()]).toEqual([true, 'the-token'])
    expect(returned.strategy.expiresAt).toBe(EXPIRES_AT)
    const known = await setUp({ getAllAccounts: () => [account], acquireTokenSilent: () => result })
    await known.start()
    expect(known.strategy.hasSession).toBe(true)
    expect(known.calls.at(-1)).toEqual([
      'acquireTokenSilent',
      { scopes: ['api://x/read'], redirectUri: 'https://app.test/bridge.html', account, forceRefresh: false },
    ])
    const unknown = await setUp()
    await unknown.start()
    expect(unknown.strategy.hasSession).toBe(false)
  })

  it('treats an account that must sign in again as no session, and reports other failures', async () => {
    const restore = async (code: string, name?: string) => {
      const { start, strategy } = await setUp({
        getAllAccounts: () => [account],
        acquireTokenSilent: failure(code, name),
      })
      await start()
      return strategy.hasSession
    }
    expect(await restore('whatever', 'InteractionRequiredAuthError')).toBe(false)
    await expect(restore('no_network_connectivity')).rejects.toMatchObject({ reason: 'token_request_failed' })
  })

  it('signs in with a popup, without a state', async () => {
    const { strategy, start, calls } = await setUp({ loginPopup: () => result })
    await start()
    await strategy.authenticate()
    expect(await strategy.getToken()).toBe('the-token')
    expect(calls.at(-1)).toEqual([
      'loginPopup',
      {
        scopes: ['api://x/read'],
        redirectUri: 'https://app.test/bridge.html',
        extraQueryParameters: { domain_hint: 'acme' },
      },
    ])
  })

  it('signs in by redirect, with the return address', async () => {
    const { strategy, start, calls } = await setUp({}, 'redirect')
    await start()
    void strategy.authenticate().catch(() => {})
    await eventually(() => calls.at(-1)?.[0] === 'loginRedirect')
    const nextRoute = 'https://app.test/chat'
    expect(calls.at(-1)?.[1]).toMatchObject({ state: nextRoute, redirectStartPage: nextRoute })
  })

  it.each([
    ['popup_window_error', 'popup_blocked'],
    ['user_cancelled', 'popup_closed'],
    ['timed_out', 'popup_timeout'],
    ['interaction_in_progress', 'browser_unsupported'],
  ])('says %s as %s', async (code, reason) => {
    const { strategy, start } = await setUp({ loginPopup: failure(code) })
    await start()
    await expect(strategy.authenticate()).rejects.toMatchObject({ name: 'AuthError', reason })
  })

  it('[AUTH-17] forces a renewal, and asks in a popup when the user or a window is needed', async () => {
    const renewing = async (answers: Record<string, () => unknown>, scheme?: AuthScheme) => {
      const parts = await setUp(
        {
          handleRedirectPromise: () => result,
          getAllAccounts: () => [account],
          loginPopup: () => ({ ...result, accessToken: 'from the popup' }),
          ...answers,
        },
        scheme,
      )
      await parts.start()
      await parts.service.clock.advance(3_500_000)
      return parts
    }
    const renewed = await renewing({ acquireTokenSilent: () => ({ ...result, accessToken: 'renewed' }) })
    expect(await renewed.strategy.getToken()).toBe('renewed')
    expect(renewed.calls.at(-1)?.[1]).toMatchObject({ forceRefresh: true })
    const refused = await renewing({ acquireTokenSilent: failure('login_required') })
    await expect(refused.strategy.refresh()).rejects.toMatchObject({ reason: 'interaction_required' })
    expect(await refused.strategy.getToken()).toBe('from the popup')
    const late = await renewing({ acquireTokenSilent: failure('monitor_popup_timeout') }, 'redirect')
    await expect(late.strategy.refresh()).rejects.toMatchObject({ reason: 'popup_timeout' })
    expect(await late.strategy.getToken()).toBe('from the popup')
  })

  const signedIn = async (answers: Record<string, () => unknown>, scheme?: AuthScheme, claims = {}) => {
    const accessToken = fakeToken({ logout: 'https://login.test/bye', ...claims })
    const parts = await setUp({ handleRedirectPromise: () => ({ ...result, accessToken }), ...answers }, scheme)
    await parts.start()
    return parts
  }

  it('[AUTH-21] signs out in the scheme of the login', async () => {
    const byPopup = await signedIn({})
    await byPopup.strategy.logout()
    const redirectUri = 'https://app.test/bridge.html'
    const request = { account, idTokenHint: 'the-id-token' }
    expect(byPopup.calls.at(-1)).toEqual([
      'logoutPopup',
      { ...request, postLogoutRedirectUri: `${redirectUri}?logout=true` },
    ])
    const byRedirect = await signedIn({}, 'redirect')
    void byRedirect.strategy.logout()
    await eventually(() => byRedirect.calls.at(-1)?.[0] === 'logoutRedirect')
    expect(byRedirect.calls.at(-1)?.[1]).toEqual({
      ...request,
      postLogoutRedirectUri: redirectUri,
      state: 'https://app.test/chat',
    })
  })

  it('[SEC-05] signs out before initialize(), since only the library knows its user', async () => {
    const { strategy, calls } = await setUp()
    await strategy.logout()
    expect(calls.map(([name]) => name)).toEqual(['initialize', 'logoutPopup'])
  })

  it('[AUTH-22] loads the provider’s end-session endpoint if the library fails and there is no claim', async () => {
    const answers = { logoutPopup: failure('end_session_endpoint_not_supported') }
    const failing = await signedIn(answers, 'popup', { logout: undefined })
    failing.service.on('GET /acme/v2.0/.well-known/openid-configuration', {
      end_session_endpoint: 'https://login.test/the-real-end',
    })
    await failing.strategy.logout()
    expect(failing.went.map(each => each.split('?')[0])).toEqual(['popup https://login.test/the-real-end'])
  })

  it('[AUTH-22] uses the access token’s claim if the library fails, and does nothing if its window was closed', async () => {
    const byPopup = await signedIn({ logoutPopup: failure('end_session_endpoint_not_supported') })
    await byPopup.strategy.logout()
    expect(byPopup.went).toEqual(['popup https://login.test/bye'])
    const byRedirect = await signedIn({ logoutRedirect: failure('x') }, 'redirect')
    void byRedirect.strategy.logout()
    await eventually(() => byRedirect.went.length > 0)
    expect(byRedirect.went).toEqual(['https://login.test/bye'])
    const closed = await signedIn({ logoutPopup: failure('user_cancelled') })
    await closed.strategy.logout()
    expect(closed.went).toEqual([])
    const blocked = await signedIn({ logoutPopup: failure('popup_window_error') })
    await expect(blocked.strategy.logout()).rejects.toMatchObject({ reason: 'popup_blocked' })
  })
})

describe('a sign-out in another tab', () => {
  it('[SEC-60] removes the account of this tab from the library, and no session is restored before', async () => {
    let remove = () => {}
    const removal = new Promise<void>(resolve => {
      remove = resolve
    })
    let isForgotten = false
    const { strategy, start, calls } = await setUp({
      handleRedirectPromise: () => (isForgotten ? null : result),
      clearCache: () => {
        isForgotten = true
        return removal
      },
      acquireTokenSilent: failure('no_account_error'),
    })
    await start()
    const forgotten = strategy.forget()
    const restored = start()
    await eventually(() => calls.at(-1)?.[0] === 'clearCache')
    expect(calls.at(-1)).toEqual(['clearCache', { account }])
    remove()
    await forgotten
    await restored
    expect([calls.filter(([name]) => name === 'clearCache').length, strategy.hasSession]).toEqual([1, false])
    expect(calls.map(([name]) => name)).not.toContain('logoutPopup')
  })

  it('[REL-50] has 30 seconds to restore a session, and to renew a token', async () => {
    const hanging = await setUp({ handleRedirectPromise: () => new Promise(() => {}) })
    const restored = expect(hanging.start()).rejects.toMatchObject({
      reason: 'token_request_failed',
      message: expect.stringMatching(/^The sign-in did not settle within 30 seconds/),
    })
    await hanging.service.clock.advance(30_000)
    await restored
    const signedIn = await setUp({
      handleRedirectPromise: () => result,
      acquireTokenSilent: () => new Promise(() => {}),
    })
    await signedIn.start()
    const renewed = expect(signedIn.strategy.refresh()).rejects.toMatchObject({
      reason: 'token_request_failed',
      message: expect.stringMatching(/^The renewal of the access token did not settle within 30 seconds/),
    })
    await signedIn.service.clock.advance(30_000)
    await renewed
    expect(signedIn.strategy.hasSession).toBe(true)
  })

  it('forgets the user within 30 seconds, even if the library hangs', async () => {
    const { strategy, start, calls, service } = await setUp({
      handleRedirectPromise: () => result,
      clearCache: () => new Promise(() => {}),
    })
    await start()
    const forgotten = strategy.forget()
    expect(strategy.hasSession).toBe(false)
    await eventually(() => calls.at(-1)?.[0] === 'clearCache')
    const failed = expect(forgotten).rejects.toMatchObject({
      reason: 'token_request_failed',
      message: expect.stringMatching(/^The sign-out did not settle within 30 seconds/),
    })
    await service.clock.advance(30_000)
    await failed
  })
})
