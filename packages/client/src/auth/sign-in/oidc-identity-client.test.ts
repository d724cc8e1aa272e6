import { eventually } from '@aiagent/test-support'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { FakeLoginPage, type FakeLoginWindow } from '../../../test/fake-login-page.ts'
import { FakeService, FakeStorage, fakeToken } from '../../../test/fake-service.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import { REDIRECT_ANSWER_KEY } from './callback-page.ts'
import type { IdentitySession } from './identity-client.ts'
import { planLogout } from './logout-plan.ts'
import { OidcIdentityClient } from './oidc-identity-client.ts'

const AUTHORITY = 'https://login.test/acme/policy'
const CONFIG: PKCEAuthConfig & { scopes: readonly string[] } = {
  clientId: 'client',
  redirectUri: 'https://app.test/callback.html',
  knownAuthorities: ['login.test'],
  scopes: ['openid', 'offline_access', 'api://x/read'],
}
const endpoints = {
  authorization_endpoint: `${AUTHORITY}/authorize`,
  token_endpoint: `${AUTHORITY}/token`,
  end_session_endpoint: `${AUTHORITY}/end`,
}

function setUp(more: Partial<PKCEAuthConfig> = {}, page = new FakeLoginPage(), sessionStorage = new FakeStorage()) {
  const service = new FakeService()
  const localStorage = new FakeStorage()
  const state = { count: 0, refresh: true }
  const forms: Record<string, string>[] = []
  const discovery = '/acme/policy/v2.0/.well-known/openid-configuration'
  service.on(`GET ${discovery}`, endpoints)
  service.on('POST /acme/policy/token', ({ body }: { body: string }) => {
    forms.push(Object.fromEntries(new URLSearchParams(body)))
    const n = ++state.count
    return {
      access_token: fakeToken({ sub: 'ann', jti: n }),
      id_token: fakeToken({ sub: 'ann' }),
      ...(state.refresh && { refresh_token: `refresh-${n}` }),
      token_type: 'Bearer',
      expires_in: 3600,
    }
  })
  vi.stubGlobal('fetch', service.fetch)
  const environment = service.environment({ sessionStorage, localStorage })
  const make = () =>
    new OidcIdentityClient(
      { config: { ...CONFIG, ...more, scopes: CONFIG.scopes }, authority: AUTHORITY, environment },
      page,
    )
  return {
    service,
    page,
    sessionStorage,
    localStorage,
    forms,
    state,
    discovery,
    make,
    client: make(),
    clock: service.clock,
  }
}

const request = { scheme: 'popup', extraQueryParameters: { domain_hint: 'acme' } } as const

/** The window's address, once the login page is asked for. */
async function loginAddress(page: FakeLoginPage, index = 0): Promise<URL> {
  await eventually(() => (page.windows[index]?.addresses.length ?? 0) > 0, 'a login page')
  return new URL((page.windows[index] as FakeLoginWindow).address)
}

/** Signs in over a popup, with the provider's part played. */
async function signIn({ client, page }: Pick<ReturnType<typeof setUp>, 'client' | 'page'>): Promise<IdentitySession> {
  const index = page.windows.length
  const login = client.login(request)
  const state = (await loginAddress(page, index)).searchParams.get('state')
  page.answer(`https://app.test/callback.html?code=the-code&state=${state}`)
  return login
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('a login in a window', () => {
  it('opens before anything is awaited', () => {
    const { client, page } = setUp()
    void client.login(request).catch(() => {})
    expect(page.windows).toHaveLength(1)
  })

  it('[AUTH-15] goes by authorization code with PKCE, and hands over no way back', async () => {
    const { client, page, forms } = setUp()
    const login = client.login(request)
    const address = await loginAddress(page)
    expect(address.origin + address.pathname).toBe(endpoints.authorization_endpoint)
    const parameters = Object.fromEntries(address.searchParams)
    expect(parameters).toMatchObject({
      client_id: 'client',
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid offline_access api://x/read',
      domain_hint: 'acme',
    })
    expect(parameters['state']).toMatch(/^[0-9a-f]+$/)
    page.answer(`https://app.test/callback.html?code=the-code&state=${parameters['state']}`)
    const session = await login
    expect(session).toMatchObject({ idToken: expect.any(String), expiresAt: expect.any(Number) })
    expect(forms).toEqual([expect.objectContaining({ grant_type: 'authorization_code', code: 'the-code' })])
  })

  it('is remembered by the tab, and by nothing else', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    expect(await parts.make().restore()).toEqual(session)
    expect(parts.localStorage.length).toBe(0)
    expect([...parts.sessionStorage.items.keys()].every(key => key.startsWith('aiagent_oidc.'))).toBe(true)
  })

  it('is remembered by the browser where the host says so', async () => {
    const parts = setUp({ cacheLocation: 'localStorage' })
    await signIn(parts)
    expect(parts.localStorage.length).toBe(1)
    expect(parts.sessionStorage.length).toBe(0)
  })

  it('needs no discovery where the host gives the metadata', async () => {
    const parts = setUp({ authorityMetadata: JSON.stringify(endpoints) })
    await signIn(parts)
    expect(parts.service.seen.map(seen => seen.method)).toEqual(['POST'])
  })

  it('finds a configuration under the authority itself, and says so when there is none', async () => {
    const parts = setUp()
    parts.service.on(`GET ${parts.discovery}`, new Response('<html>', { status: 404 }))
    await expect(parts.client.login(request)).rejects.toMatchObject({ reason: 'metadata_failed' })
    expect(parts.page.windows[0]?.closed).toBe(true)
    parts.service.on('GET /acme/policy/.well-known/openid-configuration', endpoints)
    expect(await signIn(parts)).toBeTruthy()
  })

  it('is told apart when blocked, cancelled, or taken over', async () => {
    const { client, page } = setUp()
    const first = client.login(request)
    const second = client.login(request)
    await expect(first).rejects.toMatchObject({ name: 'AuthError', reason: 'popup_closed' })
    const state = (await loginAddress(page, 1)).searchParams.get('state')
    page.answer(`https://app.test/callback.html?error=access_denied&error_description=no&state=${state}`)
    await expect(second).rejects.toMatchObject({
      reason: 'popup_closed',
      message: expect.stringContaining('cancelled'),
    })
    page.blocksPopups = true
    await expect(client.login(request)).rejects.toMatchObject({ reason: 'popup_blocked' })
  })

  it('does not begin when its answer could never come back', async () => {
    const { client, page } = setUp({ redirectUri: 'https://elsewhere.test/callback.html' })
    await expect(client.login(request)).rejects.toMatchObject({ reason: 'invalid_input' })
    expect(page.windows).toEqual([])
  })

  it('[AUTH-19] needs a store', () => {
    const service = new FakeService()
    const environment = service.environment({ sessionStorage: undefined })
    const make = () =>
      new OidcIdentityClient({ config: CONFIG, authority: AUTHORITY, environment }, new FakeLoginPage())
    expect(make).toThrow(
      expect.objectContaining({ reason: 'browser_unsupported', message: expect.stringContaining('refresh') }),
    )
  })
})

describe('a login by redirect', () => {
  async function leave(more: Partial<PKCEAuthConfig> = {}, nextRoute = 'https://app.test/chat?x=100%') {
    const parts = setUp(more)
    void parts.client.login({ ...request, scheme: 'redirect', nextRoute })
    await eventually(() => parts.page.left.length > 0, 'the page to leave')
    const [left = ''] = parts.page.left.splice(0)
    const address = new URL(left.replace('leave ', ''))
    return { ...parts, address, state: address.searchParams.get('state') ?? '' }
  }

  it('[AUTH-15] carries the return address in its state', async () => {
    const { state, page } = await leave()
    expect(decodeURIComponent(state.slice(state.indexOf(';') + 1))).toBe('https://app.test/chat?x=100%')
    expect(page.windows).toEqual([])
  })

  it('[AUTH-15] is taken up from what the callback page left', async () => {
    const { state, make, page, sessionStorage, forms } = await leave()
    const answer = `https://app.test/callback.html?${new URLSearchParams({ code: 'c', state })}`
    sessionStorage.setItem(REDIRECT_ANSWER_KEY, answer)
    page.address = 'https://app.test/chat?x=100%'
    const session = await make().restore()
    expect(session?.accessToken).toBeTruthy()
    expect(forms).toEqual([expect.objectContaining({ code: 'c', code_verifier: expect.any(String) })])
    expect(page.left).toEqual([])
    expect(sessionStorage.getItem(REDIRECT_ANSWER_KEY)).toBeNull()
    expect(await make().restore()).toEqual(session)
  })

  it('[AUTH-15] returns to a page of the application, takes the answer out of its address, and goes on', async () => {
    const { state, make, page } = await leave({ redirectUri: 'https://app.test/home' })
    page.address = `https://app.test/home?${new URLSearchParams({ tab: '1', code: 'c', state })}`
    expect((await make().restore())?.accessToken).toBeTruthy()
    expect(page.address).toBe('https://app.test/home?tab=1')
    expect(page.left).toEqual(['replace https://app.test/chat?x=100%'])
  })

  it('that was refused says so once', async () => {
    const { state, make, page } = await leave({ redirectUri: 'https://app.test/home' })
    page.address = `https://app.test/home?${new URLSearchParams({ error: 'login_required', state })}`
    await expect(make().restore()).rejects.toMatchObject({ reason: 'interaction_required' })
    expect(await make().restore()).toBeNull()
  })

  it('leaves the answer to another login of the host alone', async () => {
    const { client, page } = setUp()
    page.address = 'https://app.test/home?code=theirs&state=theirs'
    expect(await client.restore()).toBeNull()
    expect(page.address).toContain('code=theirs')
  })
})

describe('a renewal', () => {
  it('goes by refresh token, under a lock', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    const renewed = await parts.client.renew(session)
    expect(renewed.accessToken).not.toBe(session.accessToken)
    expect(parts.forms.at(-1)).toMatchObject({ grant_type: 'refresh_token', refresh_token: 'refresh-1' })
    expect(parts.page.locks).toEqual([expect.stringMatching(/^aiagent-renewal-[0-9a-f]{8}$/)])
  })

  it('takes what another tab has renewed meanwhile', async () => {
    const parts = setUp({ cacheLocation: 'localStorage' })
    const session = await signIn(parts)
    const renewed = await parts.make().renew(session)
    expect(await parts.client.renew(session)).toEqual(renewed)
    expect(parts.forms).toHaveLength(2)
  })

  it('does not wait for a frozen tab for ever', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    parts.page.isLocked = true
    const renewal = parts.client.renew(session)
    await parts.clock.advance(30_000)
    expect((await renewal).accessToken).not.toBe(session.accessToken)
    expect(parts.clock.pendingTimers).toBe(0)
  })

  it.each<[string, () => unknown]>([
    ['is offline', () => Promise.reject(new TypeError('Failed to fetch'))],
    ['has trouble', () => Response.json({ error: 'server_error' }, { status: 500 })],
    ['answers nonsense', () => new Response('<html>', { status: 502, headers: { 'content-type': 'text/html' } })],
  ])('asks nobody when the provider %s', async (_case, answer) => {
    const parts = setUp()
    const session = await signIn(parts)
    parts.service.on('POST /acme/policy/token', answer)
    await expect(parts.client.renew(session)).rejects.toMatchObject({
      name: 'AuthError',
      reason: 'token_request_failed',
    })
  })

  it('is not tried without a network', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    parts.page.online = false
    await expect(parts.client.renew(session)).rejects.toMatchObject({ reason: 'token_request_failed' })
    expect(parts.forms).toHaveLength(1)
  })
})

describe('a logout', () => {
  const plan = (scheme: 'popup' | 'redirect', logoutClaim?: string) =>
    planLogout({
      scheme,
      redirectUri: CONFIG.redirectUri,
      currentAddress: 'https://app.test/chat#top',
      idToken: 'hint',
      logoutClaim,
      authority: AUTHORITY,
    })

  it('[AUTH-22] opens its window at once and ends at the endpoint that the provider names', async () => {
    const parts = setUp()
    await signIn(parts)
    const leaving = parts.client.logout(plan('popup'))
    expect(parts.page.windows).toHaveLength(2)
    const address = await loginAddress(parts.page, 1)
    expect(address.origin + address.pathname).toBe(endpoints.end_session_endpoint)
    expect(Object.fromEntries(address.searchParams)).toEqual({
      id_token_hint: 'hint',
      post_logout_redirect_uri: 'https://app.test/callback.html?logout=true',
    })
    parts.page.answer('https://app.test/callback.html?logout=true')
    await leaving
    expect(parts.page.windows[1]?.closed).toBe(true)
    expect(parts.sessionStorage.length).toBe(0)
  })

  it('is done when its window is closed', async () => {
    const parts = setUp()
    await signIn(parts)
    const leaving = parts.client.logout(plan('popup'))
    await loginAddress(parts.page, 1)
    const window = parts.page.windows[1] as FakeLoginWindow
    window.seen = 'loaded'
    await parts.clock.advance(500)
    window.seen = 'gone'
    await parts.clock.advance(2_000)
    await leaving
    expect(await parts.client.restore()).toBeNull()
  })

  it('forgets nothing when its window is blocked', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    parts.page.blocksPopups = true
    await expect(parts.client.logout(plan('popup'))).rejects.toMatchObject({ reason: 'popup_blocked' })
    expect(await parts.client.restore()).toEqual(session)
  })

  it('[AUTH-21] by redirect comes back to where it began', async () => {
    const parts = setUp()
    await signIn(parts)
    void parts.client.logout(plan('redirect'))
    await eventually(() => parts.page.left.length > 0, 'the page to leave')
    const address = new URL((parts.page.left[0] ?? '').replace('leave ', ''))
    expect(address.searchParams.get('state')).toBe('https://app.test/chat')
    expect(parts.sessionStorage.length).toBe(0)
  })

  it('by redirect to a page of the application goes on to where it began', async () => {
    const parts = setUp({ redirectUri: 'https://app.test/home' })
    parts.page.address = `https://app.test/home?state=${encodeURIComponent('https://app.test/chat')}`
    expect(await parts.client.restore()).toBeNull()
    expect(parts.page.left).toEqual(['replace https://app.test/chat'])
  })

  it.each<[string, string | undefined, string]>([
    ['the access token’s claim', 'https://login.test/bye', 'https://login.test/bye'],
    ['the constructed endpoint', undefined, `${AUTHORITY}/oauth2/v2.0/logout`],
  ])('[AUTH-22] goes to %s where the provider names no endpoint', async (_case, claim, expected) => {
    for (const scheme of ['popup', 'redirect'] as const) {
      const parts = setUp()
      parts.service.on(`GET ${parts.discovery}`, { ...endpoints, end_session_endpoint: undefined })
      await signIn(parts)
      const leaving = parts.client.logout(plan(scheme, claim))
      if (scheme === 'popup') await leaving
      else await eventually(() => parts.page.left.length > 0, 'the page to leave')
      const address = scheme === 'popup' ? parts.page.windows[1]?.address : parts.page.left[0]?.replace('leave ', '')
      expect(address?.split('?')[0]).toBe(expected)
    }
  })

  it('[AUTH-22] goes to the access token’s claim when the identity library fails', async () => {
    const parts = setUp()
    await signIn(parts)
    parts.sessionStorage.removeItem = () => {
      throw new Error('the library is broken')
    }
    await parts.client.logout(plan('popup', 'https://login.test/bye'))
    expect(parts.page.windows[1]?.address).toBe('https://login.test/bye')
  })
})
