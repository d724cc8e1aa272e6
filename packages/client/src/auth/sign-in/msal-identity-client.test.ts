import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { pageWithWindow } from '../../../test/fake-login-page.ts'
import { FakeService } from '../../../test/fake-service.ts'
import type { IdentityClient } from './identity-client.ts'
import { planLogout } from './logout-plan.ts'
import { type MsalApplication, msalIdentityClient } from './msal-identity-client.ts'

const account = { homeAccountId: 'ann' }
const result = { account, accessToken: 'the-token', idToken: 'the-id-token', expiresOn: new Date(5_000) }

type Calls = [name: string, ...parameters: unknown[]][]

/** An application that records its calls and returns what the test sets. */
async function setUp(answers: Record<string, () => unknown> = {}) {
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
    open: () => ({ location: { replace: (address: string) => went.push(`popup ${address}`) } }),
  })
  const service = new FakeService()
  const environment = service.environment({ page })
  const config = {
    clientId: 'client',
    redirectUri: 'https://app.test/bridge.html',
    knownAuthorities: ['login.test'],
    scopes: ['api://x/read'],
  }
  const factory = msalIdentityClient(application as unknown as MsalApplication)
  const client: IdentityClient = await factory({ config, authority: 'https://login.test/acme', environment })
  return { client, calls, went, service }
}

const failure =
  (errorCode: string, name = 'BrowserAuthError') =>
  () =>
    Promise.reject(Object.assign(new Error('x'), { errorCode, name }))
const session = { accessToken: 'the-token', idToken: 'the-id-token', expiresAt: 5_000 }

describe('the host’s own identity library', () => {
  it('restores the session of a redirect, else its first account, else null', async () => {
    expect(await (await setUp({ handleRedirectPromise: () => result })).client.restore()).toEqual(session)
    const known = await setUp({ getAllAccounts: () => [account], acquireTokenSilent: () => result })
    expect(await known.client.restore()).toEqual(session)
    expect(known.calls.at(-1)).toEqual([
      'acquireTokenSilent',
      { scopes: ['api://x/read'], redirectUri: 'https://app.test/bridge.html', account, forceRefresh: false },
    ])
    expect(await (await setUp()).client.restore()).toBeNull()
  })

  it('treats an account that must sign in again as no session, and reports other failures', async () => {
    const restore = async (code: string, name?: string) =>
      (await setUp({ getAllAccounts: () => [account], acquireTokenSilent: failure(code, name) })).client.restore()
    expect(await restore('whatever', 'InteractionRequiredAuthError')).toBeNull()
    await expect(restore('no_network_connectivity')).rejects.toMatchObject({ reason: 'token_request_failed' })
  })

  it('signs in with a popup, without a state', async () => {
    const { client, calls } = await setUp({ loginPopup: () => result })
    expect(await client.login({ scheme: 'popup', extraQueryParameters: { domain_hint: 'acme' } })).toEqual(session)
    expect(calls).toEqual([
      [
        'loginPopup',
        {
          scopes: ['api://x/read'],
          redirectUri: 'https://app.test/bridge.html',
          extraQueryParameters: { domain_hint: 'acme' },
        },
      ],
    ])
  })

  it('signs in by redirect, with the return address', async () => {
    const { client, calls } = await setUp()
    void client.login({ scheme: 'redirect', extraQueryParameters: {}, nextRoute: 'https://app.test/next' })
    await eventually(() => calls.length > 0)
    expect(calls[0]?.[1]).toMatchObject({ state: 'https://app.test/next', redirectStartPage: 'https://app.test/next' })
  })

  it.each([
    ['popup_window_error', 'popup_blocked'],
    ['user_cancelled', 'popup_closed'],
    ['timed_out', 'popup_timeout'],
    ['interaction_in_progress', 'browser_unsupported'],
  ])('says %s as %s', async (code, reason) => {
    const { client } = await setUp({ loginPopup: failure(code) })
    await expect(client.login({ scheme: 'popup', extraQueryParameters: {} })).rejects.toMatchObject({
      name: 'AuthError',
      reason,
    })
  })

  it('[AUTH-17] forces a renewal, and reports when the user or a window is needed', async () => {
    const { client, calls } = await setUp({ getAllAccounts: () => [account], acquireTokenSilent: () => result })
    expect(await client.renew(session)).toEqual(session)
    expect(calls[0]?.[1]).toMatchObject({ forceRefresh: true })
    const needs = async (code: string) =>
      (await setUp({ getAllAccounts: () => [account], acquireTokenSilent: failure(code) })).client.renew(session)
    await expect(needs('login_required')).rejects.toMatchObject({ reason: 'interaction_required' })
    await expect(needs('monitor_popup_timeout')).rejects.toMatchObject({ reason: 'popup_timeout' })
    await expect((await setUp()).client.renew(session)).rejects.toMatchObject({ reason: 'interaction_required' })
  })

  const plan = (scheme: 'popup' | 'redirect') =>
    planLogout({
      scheme,
      redirectUri: 'https://app.test/bridge.html',
      currentAddress: 'https://app.test/chat',
      idToken: 'hint',
      logoutClaim: 'https://login.test/bye',
      authority: 'https://login.test/acme',
    })

  it('[AUTH-21] signs out in the scheme of the login', async () => {
    const { client, calls } = await setUp()
    await client.logout(plan('popup'))
    void client.logout(plan('redirect'))
    const logouts = () => calls.filter(([name]) => name.startsWith('logout'))
    await eventually(() => logouts().length === 2)
    expect(logouts()).toEqual([
      ['logoutPopup', { idTokenHint: 'hint', postLogoutRedirectUri: 'https://app.test/bridge.html?logout=true' }],
      [
        'logoutRedirect',
        { idTokenHint: 'hint', postLogoutRedirectUri: 'https://app.test/bridge.html', state: 'https://app.test/chat' },
      ],
    ])
  })

  it('[AUTH-22] loads the provider’s end-session endpoint if the library fails and there is no claim', async () => {
    const failing = await setUp({ logoutPopup: failure('end_session_endpoint_not_supported') })
    failing.service.on('GET /acme/v2.0/.well-known/openid-configuration', {
      end_session_endpoint: 'https://login.test/the-real-end',
    })
    await failing.client.logout({ ...plan('popup'), logoutClaim: undefined })
    expect(failing.went.map(each => each.split('?')[0])).toEqual(['popup https://login.test/the-real-end'])
  })

  it('[AUTH-22] uses the access token’s claim if the library fails, and does nothing if its window was closed', async () => {
    const failing = await setUp({
      logoutPopup: failure('end_session_endpoint_not_supported'),
      logoutRedirect: failure('x'),
    })
    await failing.client.logout(plan('popup'))
    void failing.client.logout(plan('redirect'))
    await eventually(() => failing.went.length === 2)
    expect(failing.went).toEqual(['popup https://login.test/bye', 'https://login.test/bye'])
    const closed = await setUp({ logoutPopup: failure('user_cancelled') })
    await closed.client.logout(plan('popup'))
    expect(closed.went).toEqual([])
    const blocked = await setUp({ logoutPopup: failure('popup_window_error') })
    await expect(blocked.client.logout(plan('popup'))).rejects.toMatchObject({ reason: 'popup_blocked' })
  })
})

describe('a sign-out in another tab', () => {
  it('[SEC-60] removes the account of this tab from the library, and no session is restored before', async () => {
    let remove = () => {}
    const removal = new Promise<void>(resolve => {
      remove = resolve
    })
    const { client, calls } = await setUp({
      handleRedirectPromise: () => (calls.some(([name]) => name === 'clearCache') ? null : result),
      clearCache: () => removal,
      acquireTokenSilent: () => result,
    })
    await client.restore()
    const forgotten = client.handleSignedOut?.()
    const restored = client.restore()
    await eventually(() => calls.at(-1)?.[0] === 'clearCache')
    expect(calls.at(-1)).toEqual(['clearCache', { account }])
    remove()
    await forgotten
    await restored
    expect(calls.filter(([name]) => name === 'clearCache')).toHaveLength(1)
    expect(calls.map(([name]) => name)).not.toContain('logoutPopup')
  })
})
