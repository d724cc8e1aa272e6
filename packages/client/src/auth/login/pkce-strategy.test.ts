import { eventually, turnEventLoop } from '@aiagent/test-support'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { FakeLoginPage, type FakeLoginWindow } from '../../../test/fake-login-page.ts'
import { FakeService, FakeStorage, fakeToken } from '../../../test/fake-service.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import { REDIRECT_ANSWER_KEY, RETURN_KEY } from './callback-page.ts'
import { asAuthError } from './identity-errors.ts'
import type { LoginRequest, LoginSession } from './login.ts'
import { PKCEAuthStrategy, type PKCEAuthStrategyOptions } from './pkce-strategy.ts'

const AUTHORITY = 'https://login.test/acme/policy'
/** As the login of a deployment constructs it. */
const CONSTRUCTED_ISSUER = 'https://login.test/tfp/acme/policy/v2.0/'
const CONFIG: PKCEAuthConfig = {
  clientId: 'client',
  redirectUri: 'https://app.test/callback.html',
  knownAuthorities: ['login.test'],
  authorizationUrl: AUTHORITY,
  authScheme: 'popup',
  scopes: ['openid', 'offline_access', 'api://x/read'],
}
const endpoints = {
  authorization_endpoint: `${AUTHORITY}/authorize`,
  token_endpoint: `${AUTHORITY}/token`,
  end_session_endpoint: `${AUTHORITY}/end`,
}

/** An ID token as the token endpoint issues it. Its signature is not checked. */
function idToken(claims: object): string {
  const iat = Math.floor(Date.now() / 1000)
  const [, payload] = fakeToken({ iss: AUTHORITY, aud: 'client', sub: 'ann', iat, exp: iat + 3600, ...claims }).split(
    '.',
  )
  return `${btoa(JSON.stringify({ alg: 'RS256' }))}.${payload}.c2ln`
}

/** A login whose steps a test calls one by one. */
class OpenLogin extends PKCEAuthStrategy {
  constructor(config: PKCEAuthConfig, options: PKCEAuthStrategyOptions, onRateLimited?: (limit: Limit) => void) {
    super(config, options)
    // Without the first step, which restores a session.
    this.given = { deploymentInfo: { apiDomain: 'api.test' }, onRateLimited }
  }
  override restore(): Promise<LoginSession | null> {
    return named(super.restore())
  }
  login(request: Omit<LoginRequest, 'signal'>): Promise<LoginSession> {
    return named(this.signIn({ ...request, signal: this.life }))
  }
  override renew(session: LoginSession): Promise<LoginSession> {
    return named(super.renew(session))
  }
  override listen(onSignedOut: () => void): () => void {
    return super.listen(onSignedOut)
  }
}

/** Fails with the errors that the login reports. */
function named<T>(step: Promise<T>): Promise<T> {
  return step.catch((error: unknown) => {
    throw asAuthError(error, 'The step')
  })
}

interface Limit {
  readonly operation: string
  readonly retryInMs: number
}

function setUp(more: Partial<PKCEAuthConfig> = {}, page = new FakeLoginPage(), sessionStorage = new FakeStorage()) {
  const service = new FakeService()
  const localStorage = new FakeStorage()
  const state = {
    count: 0,
    refresh: true,
    claims: {} as object | null,
    headers: {},
    access: {},
    logout: undefined as string | undefined,
    /** What answers the requests for tokens instead. */
    held: undefined as (() => unknown) | undefined,
  }
  const forms: Record<string, string>[] = []
  const discovery = '/acme/policy/v2.0/.well-known/openid-configuration'
  service.on(`GET ${discovery}`, endpoints)
  service.on('POST /acme/policy/token', ({ body }: { body: string }) => {
    const form = Object.fromEntries(new URLSearchParams(body))
    forms.push(form)
    if (state.held) return state.held()
    const n = ++state.count
    const nonce = form['grant_type'] === 'authorization_code' ? page.nonce : undefined
    const tokens = {
      access_token: fakeToken({ sub: 'ann', jti: n, logout: state.logout, ...state.access }),
      id_token: state.claims && idToken({ nonce, ...state.claims }),
      ...(state.refresh && { refresh_token: `refresh-${n}` }),
      token_type: 'Bearer',
      expires_in: 3600,
    }
    return Response.json(tokens, { headers: state.headers })
  })
  vi.stubGlobal('fetch', service.fetch)
  const environment = service.environment({ sessionStorage, localStorage })
  const limits: Limit[] = []
  const make = (other: Partial<PKCEAuthConfig> = {}) =>
    new OpenLogin({ ...CONFIG, ...more, ...other }, { environment, page }, limit => void limits.push(limit))
  return {
    service,
    page,
    sessionStorage,
    localStorage,
    forms,
    limits,
    state,
    discovery,
    make,
    client: make(),
    clock: service.clock,
  }
}

const request = { scheme: 'popup', extraQueryParameters: { domain_hint: 'acme' } } as const

/** The window's address, once it has been requested. */
async function loginAddress(page: FakeLoginPage, index = 0): Promise<URL> {
  await eventually(() => (page.windows[index]?.addresses.length ?? 0) > 0, 'a login page')
  return new URL((page.windows[index] as FakeLoginWindow).address)
}

/**
 * Signs in with a popup, in which the test acts as the provider.
 *
 * @param more further parameters of the answer
 */
async function signIn(
  { client, page }: Pick<ReturnType<typeof setUp>, 'client' | 'page'>,
  more = '',
): Promise<LoginSession> {
  const index = page.windows.length
  const login = client.login(request)
  const state = (await loginAddress(page, index)).searchParams.get('state')
  page.answer(`https://app.test/callback.html?code=the-code&state=${state}&${more}`)
  return login
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('a login in a popup', () => {
  it('opens before the first await', () => {
    const { client, page } = setUp()
    void client.login(request).catch(() => {})
    expect(page.windows).toHaveLength(1)
  })

  it('[AUTH-15] uses authorization code with PKCE, and sends no return address', async () => {
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

  it('is stored per tab only', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    expect(await parts.make().restore()).toEqual(session)
    expect(parts.localStorage.length).toBe(0)
    expect([...parts.sessionStorage.items.keys()].every(key => key.startsWith('aiagent_oidc_user.'))).toBe(true)
  })

  it('is stored in the browser if the host configures it', async () => {
    const parts = setUp({ cacheLocation: 'localStorage' })
    await signIn(parts)
    expect(parts.localStorage.length).toBe(1)
    expect(parts.sessionStorage.length).toBe(0)
  })

  it('needs no discovery if the host supplies the metadata', async () => {
    const parts = setUp({ authorityMetadata: JSON.stringify(endpoints) })
    await signIn(parts)
    expect(parts.service.seen.map(seen => seen.method)).toEqual(['POST'])
  })

  it('loads the configuration of the authority itself, and reports a missing one', async () => {
    const parts = setUp()
    parts.service.on(`GET ${parts.discovery}`, new Response('<html>', { status: 404 }))
    await expect(parts.client.login(request)).rejects.toMatchObject({ reason: 'metadata_failed' })
    expect(parts.page.windows[0]?.closed).toBe(true)
    parts.service.on('GET /acme/policy/.well-known/openid-configuration', endpoints)
    expect(await signIn(parts)).toBeTruthy()
  })

  it('distinguishes blocked, cancelled and replaced windows', async () => {
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

  it('does not begin if its answer cannot return', async () => {
    const { client, page } = setUp({ redirectUri: 'https://elsewhere.test/callback.html' })
    await expect(client.login(request)).rejects.toMatchObject({ reason: 'invalid_input' })
    expect(page.windows).toEqual([])
  })

  it('[AUTH-19] needs a store', async () => {
    const service = new FakeService()
    const environment = service.environment({ sessionStorage: undefined })
    const strategy = new PKCEAuthStrategy(CONFIG, { environment, page: new FakeLoginPage() })
    const initialized = strategy.initialize({ deploymentInfo: { apiDomain: 'api.test' } })
    await expect(initialized).rejects.toMatchObject({
      reason: 'browser_unsupported',
      message: expect.stringContaining('refresh'),
    })
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

  it('[AUTH-15] rejects and stays on the page while sessionStorage is full, and works once there is room', async () => {
    const { client, make, page, sessionStorage } = setUp({ authScheme: 'redirect' })
    sessionStorage.setItem('of-the-host', 'draft')
    sessionStorage.full = true
    let outcome: unknown
    client.authenticate().catch(error => {
      outcome = error
    })
    await eventually(() => outcome !== undefined || page.left.length > 0, 'the login to end or to leave')
    expect(page.left).toEqual([])
    expect(outcome).toMatchObject({ name: 'AuthError', reason: 'browser_unsupported' })
    expect([...sessionStorage.items]).toEqual([['of-the-host', 'draft']])

    sessionStorage.full = false
    void client.authenticate()
    await eventually(() => page.left.length > 0, 'the page to leave')
    const state = new URL((page.left[0] ?? '').replace('leave ', '')).searchParams.get('state') ?? ''
    expect(sessionStorage.getItem(RETURN_KEY)).toBe(state)
    const answer = `https://app.test/callback.html?${new URLSearchParams({ code: 'c', state })}`
    sessionStorage.setItem(REDIRECT_ANSWER_KEY, answer)
    expect((await make().restore())?.accessToken).toBeTruthy()
  })

  it('[AUTH-15] is completed with the answer that the callback page stored', async () => {
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

  it('[AUTH-15] returns to a page of the application, removes the answer from its address, and continues', async () => {
    const { state, make, page } = await leave({ redirectUri: 'https://app.test/home' })
    page.address = `https://app.test/home?${new URLSearchParams({ tab: '1', code: 'c', state })}`
    expect((await make().restore())?.accessToken).toBeTruthy()
    expect(page.address).toBe('https://app.test/home?tab=1')
    expect(page.left).toEqual(['replace https://app.test/chat?x=100%'])
  })

  it('reports a refusal once', async () => {
    const { state, make, page } = await leave({ redirectUri: 'https://app.test/home' })
    page.address = `https://app.test/home?${new URLSearchParams({ error: 'login_required', state })}`
    await expect(make().restore()).rejects.toMatchObject({ reason: 'interaction_required' })
    expect(await make().restore()).toBeNull()
  })

  it.each([
    ['the callback page', CONFIG.redirectUri],
    ['a page of the application', 'https://app.test/home'],
  ])(
    '[SEC-15] is completed by the client that began it, where a page has two logins: %s',
    async (_what, redirectUri) => {
      const { state, make, page, sessionStorage, forms } = await leave({ redirectUri })
      const answer = `${redirectUri}?${new URLSearchParams({ code: 'c', state })}`
      if (redirectUri === CONFIG.redirectUri) sessionStorage.setItem(REDIRECT_ANSWER_KEY, answer)
      page.address = redirectUri === CONFIG.redirectUri ? 'https://app.test/chat?x=100%' : answer
      const [other, own] = [make({ clientId: 'other', redirectUri }), make()]
      expect(await other.restore()).toBeNull()
      expect(forms).toEqual([])
      expect((await own.restore())?.accessToken).toBeTruthy()
      expect(forms).toEqual([expect.objectContaining({ code: 'c', client_id: 'client' })])
    },
  )

  it('ignores the answer to another login of the host', async () => {
    const { client, page } = setUp()
    page.address = 'https://app.test/home?code=theirs&state=theirs'
    expect(await client.restore()).toBeNull()
    expect(page.address).toContain('code=theirs')
  })
})

describe('a renewal', () => {
  it('uses the refresh token, under a lock', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    const renewed = await parts.client.renew(session)
    expect(renewed.accessToken).not.toBe(session.accessToken)
    expect(parts.forms.at(-1)).toMatchObject({ grant_type: 'refresh_token', refresh_token: 'refresh-1' })
    expect(parts.page.locks).toEqual([expect.stringMatching(/^aiagent-renewal-1-[0-9a-f]{8}$/)])
  })

  it('uses tokens that another tab renewed meanwhile', async () => {
    const parts = setUp({ cacheLocation: 'localStorage' })
    const session = await signIn(parts)
    const renewed = await parts.make().renew(session)
    expect(await parts.client.renew(session)).toEqual(renewed)
    expect(parts.forms).toHaveLength(2)
  })

  describe('while the store of the tab shows the tokens from before a renewal in another tab', () => {
    async function behind() {
      const parts = setUp({ cacheLocation: 'localStorage' })
      const session = await signIn(parts)
      const [key = ''] = parts.localStorage.items.keys()
      const old = parts.localStorage.getItem(key) ?? ''
      const renewed = await parts.make().renew(session)
      const current = parts.localStorage.getItem(key) ?? ''
      parts.localStorage.setItem(key, old)
      const settled = vi.fn()
      const renewal = parts.client.renew(session).finally(settled)
      renewal.catch(() => {})
      await parts.clock.advance(1_000)
      expect(settled).not.toHaveBeenCalled()
      return { ...parts, renewal, renewed, show: () => parts.localStorage.setItem(key, current) }
    }

    it('[REL-38] waits until it shows them, and uses no refresh token twice', async () => {
      const { renewal, renewed, show, clock, forms } = await behind()
      show()
      await clock.advance(10)
      expect(await renewal).toEqual(renewed)
      expect(forms).toHaveLength(2)
    })

    it('[REL-38] rejects after two seconds instead of using a refresh token twice', async () => {
      const { renewal, clock, forms } = await behind()
      await clock.advance(1_100)
      await expect(renewal).rejects.toMatchObject({ name: 'AuthError', reason: 'token_request_failed' })
      expect(forms).toHaveLength(2)
    })

    it('[REL-38] announces a renewal for ten seconds, or until the user signs out', async () => {
      const parts = setUp({ cacheLocation: 'localStorage' })
      const session = await signIn(parts)
      const next = await parts.client.renew(session)
      await parts.client.renew(next)
      expect(parts.page.held).toEqual([expect.stringMatching(/-2$/)])
      await parts.clock.advance(10_000)
      expect(parts.page.held).toEqual([])
      await parts.client.renew(await parts.client.renew(next))
      expect(parts.page.held).toHaveLength(1)
      await parts.client.forget()
      await turnEventLoop()
      expect(parts.page.held).toEqual([])
      expect(parts.clock.pendingTimers).toBe(0)
    })
  })

  it('does not wait indefinitely for a frozen tab', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    parts.page.isLocked = true
    const renewal = parts.client.renew(session)
    await parts.clock.advance(20_000)
    expect((await renewal).accessToken).not.toBe(session.accessToken)
    expect(parts.clock.pendingTimers).toBe(0)
  })

  it.each<[string, () => unknown]>([
    ['is offline', () => Promise.reject(new TypeError('Failed to fetch'))],
    ['has trouble', () => Response.json({ error: 'server_error' }, { status: 500 })],
    ['answers nonsense', () => new Response('<html>', { status: 502, headers: { 'content-type': 'text/html' } })],
  ])('does not ask the user when the provider %s', async (_case, answer) => {
    const parts = setUp()
    const session = await signIn(parts)
    parts.service.on('POST /acme/policy/token', answer)
    await expect(parts.client.renew(session)).rejects.toMatchObject({
      name: 'AuthError',
      reason: 'token_request_failed',
    })
  })

  it('[REL-250] is tried where the browser takes the network for absent: it may be wrong', async () => {
    vi.stubGlobal('navigator', { onLine: false })
    const parts = setUp()
    Object.assign(parts.page, { isOnline: () => false, navigator: { onLine: false } })
    const session = await signIn(parts)
    expect((await parts.client.renew(session)).accessToken).not.toBe(session.accessToken)
    vi.unstubAllGlobals()
  })
})

it('[AUTH-08] a stored token is judged by its own expiry, although the clock was ahead when it was stored', async () => {
  const parts = setUp()
  const { clock } = parts
  const iat = clock.now() / 1000
  parts.state.access = { iat, exp: iat + 3600 }
  clock.shiftWallClock(2 * 3_600_000)
  const { accessToken } = await signIn(parts)
  clock.shiftWallClock(-2 * 3_600_000)
  const nextPage = parts.make()
  await nextPage.initialize({ deploymentInfo: { apiDomain: 'api.test' } })
  expect(await nextPage.getToken()).toBe(accessToken)
  await clock.advance(3_600_000)
  expect(await nextPage.getToken()).not.toBe(accessToken)
  expect(parts.forms.at(-1)).toMatchObject({ grant_type: 'refresh_token' })
})

describe('a rate limit of the provider', () => {
  const TOKEN = 'POST /acme/policy/token'
  const issued = (nonce?: string) => ({
    access_token: fakeToken({ sub: 'ann', jti: 9 }),
    id_token: idToken({ nonce }),
    expires_in: 3600,
  })
  const limited = (retryAfter: string) =>
    Response.json({ code: '429-001' }, { status: 429, headers: { 'Retry-After': retryAfter } })

  /** Answers the first request of a route with a rate limit, the later ones with a body. */
  function limitOnce({ service }: ReturnType<typeof setUp>, route: string, retryAfter: string, body: () => unknown) {
    let requests = 0
    service.on(route, () => (requests++ === 0 ? limited(retryAfter) : body()))
    return () => requests
  }

  it.each([
    ['getOpenIdConfiguration', (discovery: string) => `GET ${discovery}`, (): object => endpoints],
    ['getToken', () => TOKEN, issued],
  ])('[REL-26] [REL-19] is waited out and reported in a login: %s', async (operation, routeOf, body) => {
    const parts = setUp()
    const requests = limitOnce(parts, routeOf(parts.discovery), '7', () => body(parts.page.nonce))
    const login = signIn(parts)
    await eventually(() => parts.limits.length > 0, 'the report')
    expect([requests(), parts.limits]).toEqual([1, [{ operation, retryInMs: 7_000 }]])
    await parts.clock.advance(7_000)
    expect(await login).toMatchObject({ accessToken: expect.any(String) })
    expect(requests()).toBe(2)
  })

  it('[REL-26] is waited out in a renewal, with the same refresh token', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    const tokens: unknown[] = []
    parts.service.on(TOKEN, ({ body }: { body: string }) => {
      tokens.push(new URLSearchParams(body).get('refresh_token'))
      return tokens.length === 1 ? limited('3') : issued()
    })
    const renewal = parts.client.renew(session)
    await eventually(() => parts.limits.length > 0, 'the report')
    await parts.clock.advance(3_000)
    await renewal
    expect(tokens).toEqual(['refresh-1', 'refresh-1'])
  })

  it('[REL-38] is an error in a renewal where other tabs would stop waiting for it', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    const requests = limitOnce(parts, TOKEN, '15', issued)
    await expect(parts.client.renew(session)).rejects.toMatchObject({ reason: 'token_request_failed' })
    expect([requests(), parts.limits]).toEqual([1, []])
  })

  it('[SEC-04] is not waited out after a logout: nothing is requested and nothing stored', async () => {
    const parts = setUp({ authorityMetadata: JSON.stringify(endpoints) })
    const requests = limitOnce(parts, TOKEN, '7', issued)
    const login = signIn(parts).catch(error => error)
    await eventually(() => parts.limits.length > 0, 'the report')
    await parts.client.forget()
    await parts.clock.advance(7_000)
    expect(await login).toMatchObject({ reason: 'token_missing' })
    expect([requests(), parts.sessionStorage.length]).toEqual([1, 0])
  })

  it('[SEC-05] closes the window of a login that a logout ends meanwhile', async () => {
    const parts = setUp()
    limitOnce(parts, `GET ${parts.discovery}`, '7', () => endpoints)
    const login = parts.client.login(request).catch(error => error)
    await eventually(() => parts.limits.length > 0, 'the report')
    await parts.client.forget()
    expect(await login).toMatchObject({ reason: 'token_missing' })
    expect(parts.page.windows[0]?.closed).toBe(true)
    await parts.clock.advance(7_000)
  })
})

describe('a logout', () => {
  it('[AUTH-22] opens its window at once and uses the end-session endpoint of the provider', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    const leaving = parts.client.logout()
    expect(parts.page.windows).toHaveLength(2)
    const address = await loginAddress(parts.page, 1)
    expect(address.origin + address.pathname).toBe(endpoints.end_session_endpoint)
    expect(Object.fromEntries(address.searchParams)).toEqual({
      id_token_hint: session.idToken,
      post_logout_redirect_uri: 'https://app.test/callback.html?logout=true',
    })
    parts.page.answer('https://app.test/callback.html?logout=true')
    await leaving
    expect(parts.page.windows[1]?.closed).toBe(true)
    expect(parts.sessionStorage.length).toBe(0)
  })

  it('completes when its window is closed', async () => {
    const parts = setUp()
    await signIn(parts)
    const leaving = parts.client.logout()
    await loginAddress(parts.page, 1)
    const window = parts.page.windows[1] as FakeLoginWindow
    window.seen = 'away'
    await parts.clock.advance(2_000)
    window.seen = 'gone'
    await parts.clock.advance(2_000)
    await leaving
    expect(await parts.client.restore()).toBeNull()
  })

  it('[SEC-05] removes the stored user although its window is blocked', async () => {
    const parts = setUp()
    await signIn(parts)
    parts.page.blocksPopups = true
    await expect(parts.client.logout()).rejects.toMatchObject({ reason: 'popup_blocked' })
    expect(await parts.make().restore()).toBeNull()
    expect(parts.sessionStorage.length).toBe(0)
  })

  it('[SEC-05] removes everything before its first await, whatever the provider answers', async () => {
    const parts = setUp()
    parts.service.on(`GET ${parts.discovery}`, { ...endpoints, end_session_endpoint: undefined })
    await signIn(parts)
    parts.service.on(`GET ${parts.discovery}`, () => new Promise(() => {}))
    const leaving = parts.client.logout()
    expect([parts.sessionStorage.length, parts.page.windows.length]).toEqual([0, 2])
    await parts.clock.advance(10_000)
    await leaving
    expect(parts.page.windows[1]?.address).toContain('/oauth2/v2.0/logout')
  })

  it('[SEC-05] before restore() signs out the user that a previous page stored, with its ID token', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    void parts.make().logout()
    expect(parts.sessionStorage.length).toBe(0)
    const address = await loginAddress(parts.page, 1)
    expect(address.searchParams.get('id_token_hint')).toBe(session.idToken)
  })

  it('removes the metadata of its deployment, and those only', async () => {
    const parts = setUp()
    await signIn(parts)
    const own = ['a', 'b'].map(name => `aiagent_auth_metadata:${name}:https://api.test:${name}:true`)
    const others = [
      'aiagent_auth_metadata:a:https://else.test:a:true',
      'else:a:https://api.test:a:true',
      'x:https://api.test:aiagent_auth_metadata:',
    ]
    for (const key of [...own, ...others, 'last']) parts.sessionStorage.setItem(key, 'x')
    void parts.client.logout()
    expect([...parts.sessionStorage.items.keys()].sort()).toEqual([...others, 'last'].sort())
  })

  it('[SEC-04] is final: a renewal in flight stores nothing', async () => {
    for (const grant of ['refresh_token', 'frame']) {
      const parts = setUp({ cacheLocation: 'localStorage' })
      const session = await signIn(parts)
      let answer: (response: unknown) => void = () => {}
      parts.service.on('POST /acme/policy/token', () => new Promise(resolve => (answer = resolve)))
      const renewal = parts.client.renew(session).catch(error => error.reason)
      await eventually(() => parts.service.seen.filter(({ method }) => method === 'POST').length > 1, 'the renewal')
      void parts.client.logout()
      const issued = { access_token: fakeToken({ sub: 'ann', jti: 99 }), refresh_token: 'refresh-99', expires_in: 3600 }
      answer(grant === 'frame' ? Response.json({ error: 'invalid_grant' }, { status: 400 }) : issued)
      expect(await renewal).toMatch(/token_missing|interaction_required/)
      expect([parts.localStorage.length, parts.sessionStorage.length, parts.page.frames]).toEqual([0, 0, []])
    }
  })

  it('[SEC-04] is final for a renewal of another tab too', async () => {
    const parts = setUp({ cacheLocation: 'localStorage' })
    const session = await signIn(parts)
    const otherTab = parts.make()
    await otherTab.restore()
    let answer: (response: unknown) => void = () => {}
    parts.service.on('POST /acme/policy/token', () => new Promise(resolve => (answer = resolve)))
    const renewal = otherTab.renew(session).catch(error => error.reason)
    await eventually(() => parts.service.seen.filter(({ method }) => method === 'POST').length > 1, 'the renewal')
    void parts.client.logout()
    answer({ access_token: fakeToken({ sub: 'ann', jti: 99 }), refresh_token: 'refresh-99', expires_in: 3600 })
    expect([await renewal, parts.localStorage.length]).toEqual(['interaction_required', 0])
  })

  it('[SEC-04] does not remove the user who signs in right after it', async () => {
    const parts = setUp({ authScheme: 'redirect' })
    await signIn(parts)
    parts.page.isLocked = true
    void parts.client.logout()
    await signIn(parts)
    await parts.clock.advance(60_000)
    expect(await parts.make().restore()).not.toBeNull()
  })

  it('[SEC-06] is reported to the other tabs', async () => {
    const parts = setUp({ cacheLocation: 'localStorage' })
    await signIn(parts)
    const otherTab = parts.make()
    await otherTab.restore()
    const told: string[] = []
    const stop = otherTab.listen(() => told.push('signed out'))
    const [key = ''] = [...parts.localStorage.items.keys()]
    parts.page.changeStored(key, parts.localStorage.getItem(key))
    expect(told).toEqual([])
    parts.localStorage.removeItem(key)
    parts.page.changeStored(key, null)
    expect(told).toEqual(['signed out'])
    await otherTab.restore()
    stop()
    parts.page.changeStored(key, null)
    expect(told).toHaveLength(1)
  })

  it.each(['localStorage', 'sessionStorage'] as const)(
    '[SEC-53] is noticed by a page that comes back from the back/forward cache, over %s',
    async cacheLocation => {
      const parts = setUp({ cacheLocation })
      await signIn(parts)
      const earlierPage = parts.make()
      await earlierPage.restore()
      const told: string[] = []
      const stop = earlierPage.listen(() => told.push('signed out'))
      parts.page.restore()
      expect(told).toEqual([])
      await parts.client.forget()
      parts.page.restore()
      expect(told).toEqual(['signed out'])
      parts.page.restore()
      stop()
      expect(told).toHaveLength(1)
    },
  )

  it('[AUTH-21] by redirect returns to where it began', async () => {
    const parts = setUp({ authScheme: 'redirect' })
    await signIn(parts)
    void parts.client.logout()
    await eventually(() => parts.page.left.length > 0, 'the page to leave')
    const address = new URL((parts.page.left[0] ?? '').replace('leave ', ''))
    expect(address.searchParams.get('state')).toBe('https://app.test/chat?x=1')
    expect([...parts.sessionStorage.items]).toEqual([[RETURN_KEY, 'https://app.test/chat?x=1']])
  })

  it('by redirect to a page of the application continues where it began', async () => {
    const parts = setUp({ redirectUri: 'https://app.test/home' })
    parts.page.address = `https://app.test/home?state=${encodeURIComponent('https://app.test/chat')}`
    parts.sessionStorage.setItem(RETURN_KEY, 'https://app.test/chat')
    expect(await parts.client.restore()).toBeNull()
    expect(parts.page.left).toEqual(['replace https://app.test/chat'])
  })

  it.each([
    ['another origin', 'https://app.test/home', 'https://evil.test/', 'https://evil.test/'],
    ['another page', 'https://app.test/other', 'https://app.test/chat', 'https://app.test/chat'],
    [
      'a page that this tab does not expect',
      'https://app.test/home',
      'https://app.test/delete',
      'https://app.test/chat',
    ],
    ['a page without any expectation', 'https://app.test/home', 'https://app.test/delete', ''],
  ])('[SEC-09] follows no `state` of %s', async (_case, page, state, expected) => {
    const parts = setUp({ redirectUri: 'https://app.test/home' })
    parts.page.address = `${page}?state=${encodeURIComponent(state)}`
    if (expected) parts.sessionStorage.setItem(RETURN_KEY, expected)
    expect(await parts.client.restore()).toBeNull()
    expect(parts.page.left).toEqual([])
  })

  it.each<[string, string | undefined, string]>([
    ['the access token’s claim', 'https://login.test/bye', 'https://login.test/bye'],
    ['the constructed endpoint', undefined, `${AUTHORITY}/oauth2/v2.0/logout`],
  ])('[AUTH-22] uses %s if the provider names no endpoint', async (_case, claim, expected) => {
    for (const scheme of ['popup', 'redirect'] as const) {
      const parts = setUp({ authScheme: scheme })
      parts.service.on(`GET ${parts.discovery}`, { ...endpoints, end_session_endpoint: undefined })
      parts.state.logout = claim
      await signIn(parts)
      const leaving = parts.client.logout()
      if (scheme === 'popup') await leaving
      else await eventually(() => parts.page.left.length > 0, 'the page to leave')
      const address = scheme === 'popup' ? parts.page.windows[1]?.address : parts.page.left[0]?.replace('leave ', '')
      expect(address?.split('?')[0]).toBe(expected)
    }
  })

  it('[AUTH-22] contacts the provider although the store fails', async () => {
    const parts = setUp()
    await signIn(parts)
    parts.sessionStorage.removeItem = () => {
      throw new Error('the store is broken')
    }
    void parts.client.logout()
    expect((await loginAddress(parts.page, 1)).pathname).toBe('/acme/policy/end')
  })
})

describe('the user of a login', () => {
  it('[SEC-03] is never replaced by that of another tab: a renewal asks for a sign-in', async () => {
    const parts = setUp({ cacheLocation: 'localStorage' })
    const session = await signIn(parts)
    const otherTab = { ...parts, client: parts.make() }
    parts.state.claims = { sub: 'bob' }
    await signIn(otherTab)
    await expect(parts.client.renew(session)).rejects.toMatchObject({ reason: 'interaction_required' })
    parts.state.claims = {}
    await signIn(otherTab)
    expect((await parts.client.renew(session)).accessToken).not.toBe(session.accessToken)
  })

  it('[SEC-03] is never replaced by a renewal: tokens of another user are not stored', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    const before = [...parts.sessionStorage.items]
    parts.state.claims = { sub: 'bob' }
    await expect(parts.client.renew(session)).rejects.toMatchObject({ name: 'AuthError' })
    expect([...parts.sessionStorage.items]).toEqual(before)
  })

  it('[SEC-08] is not removed by a `state` in the address; a stale answer does not break initialize()', async () => {
    const parts = setUp()
    const session = await signIn(parts)
    const [key = ''] = [...parts.sessionStorage.items.keys()]
    for (const state of [
      key,
      `user:${AUTHORITY}:client`,
      '../',
      '0'.repeat(32),
      `${'0'.repeat(32)};https://app.test/`,
    ]) {
      parts.page.address = `https://app.test/home?${new URLSearchParams({ code: 'x', state })}`
      expect(await parts.make().restore()).toEqual(session)
      parts.page.address = 'https://app.test/home'
      parts.sessionStorage.setItem(
        REDIRECT_ANSWER_KEY,
        `https://app.test/callback.html?${new URLSearchParams({ code: 'x', state })}`,
      )
      expect(await parts.make().restore()).toEqual(session)
      expect(parts.sessionStorage.getItem(REDIRECT_ANSWER_KEY)).toBeNull()
    }
  })

  it('[SEC-12] has the issuer that the provider published', async () => {
    const parts = setUp()
    parts.service.on(`GET ${parts.discovery}`, { ...endpoints, issuer: 'https://login.test/published/' })
    await expect(signIn(parts)).rejects.toMatchObject({ reason: 'token_request_failed' })
    parts.state.claims = { iss: 'https://login.test/published/' }
    expect(await signIn(parts)).toBeTruthy()
  })

  it('[SEC-12] may have another issuer than a constructed one, but always the same', async () => {
    const parts = setUp({
      authorityMetadata: JSON.stringify({ ...endpoints, issuer: CONSTRUCTED_ISSUER }),
    })
    parts.state.claims = { iss: 'https://login.test/real/' }
    const session = await signIn(parts)
    const renewed = await parts.client.renew(session)
    parts.state.claims = { iss: 'https://login.test/another/' }
    await expect(parts.client.renew(renewed)).rejects.toMatchObject({ name: 'AuthError' })
  })

  it('[SEC-12] has the issuer of the metadata that the host gives', async () => {
    const issuer = 'https://login.test/given/'
    const parts = setUp({ authorityMetadata: JSON.stringify({ ...endpoints, issuer }) })
    parts.state.claims = { iss: 'https://evil.test/' }
    await expect(signIn(parts)).rejects.toMatchObject({ reason: 'token_request_failed' })
    await expect(signIn(parts, 'iss=https://evil.test/')).rejects.toMatchObject({ reason: 'token_request_failed' })
    expect(parts.forms).toHaveLength(1)
    parts.state.claims = { iss: issuer }
    expect(await signIn(parts, `iss=${issuer}`)).toBeTruthy()
  })

  it('[SEC-66] has an issuer of the origin of the authority, or of a host of `knownAuthorities`', async () => {
    const issuer = 'https://bank.test/'
    const provider = (knownAuthorities: string[], published: string) => {
      const parts = setUp({ knownAuthorities })
      parts.service.on(`GET ${parts.discovery}`, { ...endpoints, issuer: published })
      parts.state.claims = { iss: published }
      return parts
    }
    const refused = async (known: string[], published: string) =>
      expect(provider(known, published).client.login(request)).rejects.toMatchObject({ reason: 'metadata_failed' })
    for (const known of [[], ['login.test']]) {
      for (const foreign of [issuer, 'http://login.test/', 'urn:login.test', 'https://login.test.evil.test/'])
        await refused(known, foreign)
    }
    await refused([], 'https://login.test:8443/')
    expect(await signIn(provider(['login.test', 'bank.test'], issuer))).toBeTruthy()
    expect(await signIn(provider([], 'https://login.test/any/'))).toBeTruthy()
  })

  it.each([
    ['is missing', {}, '', 'token_request_failed'],
    ['is empty', {}, 'iss=', 'token_request_failed'],
    ['is another one', {}, 'iss=https://bank.test/', 'token_request_failed'],
    [
      'is another one, although none was promised',
      { supported: false },
      'iss=https://bank.test/',
      'token_request_failed',
    ],
    ['is missing, and none was promised', { supported: false }, '', undefined],
    ['is that of the provider', {}, `iss=${AUTHORITY}`, undefined],
  ])(
    '[SEC-65] the issuer in an answer %s',
    async (_what, { supported = true }: { supported?: boolean }, iss, reason) => {
      const metadata = { ...endpoints, issuer: AUTHORITY, authorization_response_iss_parameter_supported: supported }
      for (const given of [false, true]) {
        const parts = setUp(given ? { authorityMetadata: JSON.stringify(metadata) } : {})
        parts.service.on(`GET ${parts.discovery}`, metadata)
        const session = signIn(parts, iss)
        if (reason) await expect(session).rejects.toMatchObject({ reason })
        else expect(await session).toBeTruthy()
        // The code does not leave this page for a provider that has not issued it.
        expect(parts.forms).toHaveLength(reason ? 0 : 1)
      }
    },
  )

  it.each([
    ['https://login.test/tenant-1/v2.0', undefined],
    ['https://evil.test/tenant-1/v2.0', 'token_request_failed'],
  ])('[SEC-65] the issuer in an answer, %s, belongs to the provider of all tenants', async (iss, reason) => {
    const parts = setUp()
    parts.service.on(`GET ${parts.discovery}`, { ...endpoints, issuer: 'https://login.test/{tenantid}/v2.0' })
    parts.state.claims = { iss: 'https://login.test/tenant-1/v2.0', tid: 'tenant-1' }
    const session = signIn(parts, `iss=${iss}`)
    if (reason) await expect(session).rejects.toMatchObject({ reason })
    else expect(await session).toBeTruthy()
    expect(parts.forms).toHaveLength(reason ? 0 : 1)
  })

  it.each([
    ['another one', 'f'.repeat(32)],
    ['an empty one', ''],
    ['none', undefined],
    ['no text', 7],
  ])('[SEC-64] is rejected if the ID token has not the nonce of the login, but %s', async (_what, nonce) => {
    const parts = setUp()
    parts.state.claims = { nonce }
    await expect(signIn(parts)).rejects.toMatchObject({ reason: 'token_request_failed' })
    expect(parts.sessionStorage.length).toBe(0)
  })

  it('[SEC-64] signs in with a new nonce each time, and without an ID token', async () => {
    const parts = setUp()
    const nonces = new Set<string | undefined>()
    for (const _ of [1, 2]) {
      await signIn(parts)
      nonces.add(parts.page.nonce)
    }
    expect([...nonces]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/)])
    parts.state.claims = null
    expect(await signIn(parts)).toBeTruthy()
  })

  const DAY = 24 * 3600
  it.each([
    ['of another year', -20 * 365 * DAY, undefined, 'refused'],
    ['of a day and an hour ago', -DAY - 3600, undefined, 'refused'],
    ['of a day and an hour ahead', DAY + 3600, undefined, 'refused'],
    ['of another year, as the provider says it is', -20 * 365 * DAY, -20 * 365 * DAY, 'taken'],
    ['of a day ahead, as the provider says it is', DAY + 3600, DAY + 3600, 'taken'],
    ['of another year, where the provider has the time of this device', -20 * 365 * DAY, 0, 'refused'],
    ['that expired by the clock of the provider', -3 * DAY, -2.5 * DAY, 'expired'],
    ['of an hour ago, where the provider has no time', -3600, undefined, 'taken'],
  ])('[SEC-68] an ID token %s', async (_what, seconds, provider, outcome) => {
    const parts = setUp()
    const now = Math.floor(Date.now() / 1000)
    parts.state.claims = { iat: now + seconds, exp: now + seconds + 600 }
    if (provider !== undefined) parts.state.headers = { Date: new Date((now + provider) * 1000).toUTCString() }
    const session = signIn(parts)
    if (outcome === 'taken') expect(await session).toBeTruthy()
    else await expect(session).rejects.toMatchObject({ reason: 'token_request_failed' })
    if (outcome === 'refused') await expect(session).rejects.toThrow(/clock/)
    expect(parts.sessionStorage.length).toBe(outcome === 'taken' ? 1 : 0)
  })

  it('[REL-53] can sign in with a clock that is hours off', async () => {
    for (const hours of [-3, 3]) {
      const parts = setUp()
      const iat = Math.floor(Date.now() / 1000) + hours * 3600
      parts.state.claims = { iat, exp: iat + 600 }
      expect(await signIn(parts)).toBeTruthy()
    }
  })
})

describe('the addresses of a provider', () => {
  it.each([
    ['over plain http', { token_endpoint: 'http://login.test/token' }],
    ['on a host that knownAuthorities does not name', { token_endpoint: 'https://evil.test/token' }],
    ['for the end of a session elsewhere', { end_session_endpoint: 'https://evil.test/end' }],
  ])('[SEC-11] are refused %s', async (_case, more) => {
    const parts = setUp()
    parts.service.on(`GET ${parts.discovery}`, { ...endpoints, ...more })
    await expect(parts.client.login(request)).rejects.toMatchObject({ reason: 'metadata_failed' })
    expect(parts.forms).toEqual([])
  })

  it('[SEC-11] that the host gives are refused over plain http, except on this machine', async () => {
    const given = (origin: string) =>
      JSON.stringify({ authorization_endpoint: `${origin}/a`, token_endpoint: `${origin}/t` })
    const refused = setUp({ authorityMetadata: given('http://login.test') })
    await expect(refused.client.login(request)).rejects.toMatchObject({ reason: 'invalid_input' })
    const local = setUp({ authorityMetadata: given('http://127.0.0.1:8600') })
    void local.client.login(request).catch(() => {})
    expect((await loginAddress(local.page)).origin).toBe('http://127.0.0.1:8600')
  })
})

describe('[SEC-79] what earlier logins have left', () => {
  const DAYS = 24 * 3_600_000

  it.each([{}, { cacheLocation: 'localStorage' as const }])(
    'a stored user goes 90 days after the access token, with the next login of any provider: %j',
    async config => {
      const parts = setUp(config)
      await signIn(parts)
      const stored = config.cacheLocation ? parts.localStorage : parts.sessionStorage
      const users = () => [...stored.items.keys()].filter(key => key.startsWith('aiagent_oidc_user.'))
      expect(users()).toHaveLength(1)
      await parts.clock.advance(89 * DAYS)
      await parts.make({ clientId: 'other', cacheLocation: 'sessionStorage' }).restore()
      expect(users()).toHaveLength(1)
      await parts.clock.advance(2 * DAYS)
      await parts.make({ clientId: 'other', cacheLocation: 'sessionStorage' }).restore()
      expect(users()).toEqual([])
    },
  )

  it('a login by redirect goes after a day without an answer', async () => {
    const { client, clock, make, page, sessionStorage } = setUp()
    void client.login({ ...request, scheme: 'redirect', nextRoute: 'https://app.test/chat' })
    await eventually(() => page.left.length === 1, 'the page leaves')
    const states = () => [...sessionStorage.items.keys()].filter(key => key.startsWith('aiagent_oidc_state.'))
    await clock.advance(DAYS - 1000)
    await make({ clientId: 'other' }).restore()
    expect(states()).toHaveLength(1)
    // Stores are searched at most once a minute.
    await clock.advance(60_000)
    await make({ clientId: 'other' }).restore()
    expect(states()).toEqual([])
  })
})

describe.each<[string, () => unknown]>([
  ['no headers', () => new Promise(() => {})],
  ['no end of its body', () => new Response(new ReadableStream({ start() {} }))],
])('a provider that answers with %s', (_way, hang) => {
  const deployment = { deploymentInfo: { apiDomain: 'api.test' } }
  const failureOf = (work: Promise<unknown>) => work.then(never, (error: unknown) => error)
  const never = () => new Promise<never>(() => {})

  it('[REST-09] for its configuration fails a renewal within 20 seconds, and the next one asks again', async () => {
    const parts = setUp()
    await signIn(parts)
    const next = parts.make()
    await next.initialize(deployment)
    parts.service.on(`GET ${parts.discovery}`, hang)
    const failure = failureOf(next.refresh())
    const asked = () => parts.service.seen.filter(({ path }) => path === parts.discovery).length
    await eventually(() => asked() === 2, 'the request')
    await parts.clock.advance(20_000)
    expect(await failure).toMatchObject({
      name: 'AuthError',
      message: expect.stringMatching(/^Could not load the OpenID configuration .*within 20 seconds/),
    })
    parts.service.on(`GET ${parts.discovery}`, endpoints)
    const renewed = next.refresh()
    await eventually(() => asked() === 3, 'another request')
    expect(await renewed).toBeTruthy()
  })

  it('[REST-09] for its configuration fails a sign-in that returns within 30 seconds', async () => {
    const parts = setUp({ authScheme: 'redirect' })
    void parts.client.login({ ...request, scheme: 'redirect', nextRoute: 'https://app.test/chat' })
    await eventually(() => parts.page.left.length === 1, 'the login page')
    const query = new URLSearchParams({ code: 'the-code' })
    query.set('state', new URL((parts.page.left[0] ?? '').replace('leave ', '')).searchParams.get('state') ?? '')
    parts.sessionStorage.setItem(REDIRECT_ANSWER_KEY, `https://app.test/callback.html?${query}`)
    const asked = () => parts.service.seen.filter(({ path }) => path === parts.discovery).length
    parts.service.on(`GET ${parts.discovery}`, hang)
    const failure = failureOf(parts.make().initialize(deployment))
    await eventually(() => asked() === 2, 'the request')
    await parts.clock.advance(30_000)
    expect(await failure).toMatchObject({
      message: expect.stringMatching(/^Could not load the OpenID configuration .*within 30 seconds/),
    })
  })

  it('[REST-09] for renewed tokens fails two agents within 30 seconds, and the next calls ask again', async () => {
    const parts = setUp()
    await signIn(parts)
    const logins = [parts.make(), parts.make()]
    for (const login of logins) await login.initialize(deployment)
    parts.state.held = hang
    const failures = logins.map(login => failureOf(login.refresh()))
    await eventually(() => parts.forms.length > 1, 'a request')
    await parts.clock.advance(20_000)
    await turnEventLoop()
    await parts.clock.advance(10_000)
    for (const failure of failures)
      expect(await failure).toMatchObject({
        message: expect.stringMatching(/^Could not obtain the tokens of the login: .* within [12]0 seconds/),
      })
    parts.state.held = undefined
    for (const login of logins) expect(await login.refresh()).toBeTruthy()
  })

  it('[REST-09] for a renewed token fails within 20 seconds, and the next one asks again', async () => {
    const parts = setUp()
    await signIn(parts)
    const next = parts.make()
    await next.initialize(deployment)
    parts.state.held = hang
    const failure = failureOf(next.refresh())
    await eventually(() => parts.forms.length === 2, 'the request')
    await parts.clock.advance(20_000)
    expect(await failure).toMatchObject({
      reason: 'token_request_failed',
      message: expect.stringMatching(/^Could not obtain the tokens of the login: .* within 20 seconds/),
    })
    parts.state.held = undefined
    expect(await next.refresh()).toBeTruthy()
    expect(parts.forms).toHaveLength(3)
  })
})
