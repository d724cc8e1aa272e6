import { parseOAuthMetadata, paths, SCOPE } from '@aiagent/protocol'
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import { LoginCaller } from '../../../test/login-caller.ts'
import type { EmulatorSettings } from '../../settings.ts'
import { serveEmulator } from '../serve.ts'

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

const start = async (settings: Partial<EmulatorSettings> = {}) => {
  const server = await serveEmulator({ reply: () => ({ content: 'Yes.' }), settings })
  undo.push(() => server.close())
  const customers = new LoginCaller(`${server.url}/acme/customer-sign-in`)
  const staff = new LoginCaller(`${server.url}/acme/staff-sign-in`, 'app-int')
  const openSession = (agentId: string, token: string | undefined) =>
    fetch(server.url + paths.session(agentId), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: '{}',
    })
  return { ...server, customers, staff, openSession }
}

const json = async (address: string) => (await (await fetch(address)).json()) as Record<string, unknown>

describe('addresses', () => {
  it.each([paths.metadataOfDeployment(), paths.metadataOfTenant('TEN0001')])(
    'the metadata contains both logins (%s)',
    async path => {
      const { url } = await start()
      const metadata = parseOAuthMetadata(await json(url + path))
      expect(metadata.authenticationDetails?.oAuthUser).toEqual([
        {
          authURL: `${url}/acme/staff-sign-in/oauth2/v2.0/authorize`,
          accessTokenURL: `${url}/acme/staff-sign-in/oauth2/v2.0/token`,
        },
      ])
      expect(metadata.authenticationDetails?.oAuthCustomer?.[0]?.authURL).toContain('/acme/customer-sign-in/')
      expect(metadata.idpPolicies).toEqual({
        userSigninPolicy: 'staff-sign-in',
        customerSigninPolicy: 'customer-sign-in',
      })
    },
  )

  it('the OpenID configuration is the same in three places and matches the metadata', async () => {
    const { url, customers } = await start()
    const { authority } = customers
    const configuration = await json(`${authority}/v2.0/.well-known/openid-configuration`)
    expect(configuration).toMatchObject({
      issuer: `${url}/tfp/acme/customer-sign-in/v2.0/`,
      authorization_endpoint: `${authority}/oauth2/v2.0/authorize`,
      token_endpoint: `${authority}/oauth2/v2.0/token`,
      jwks_uri: `${authority}/discovery/v2.0/keys`,
      end_session_endpoint: `${authority}/oauth2/v2.0/logout`,
    })
    expect(await json(`${authority}/.well-known/openid-configuration`)).toEqual(configuration)
    expect(await json(`${url}/tfp/acme/customer-sign-in/v2.0/.well-known/openid-configuration`)).toEqual(configuration)
  })

  it('hides the end session endpoint on request', async () => {
    const { customers, emulator } = await start({ endSessionEndpoint: false })
    const address = `${customers.authority}/v2.0/.well-known/openid-configuration`
    expect(await json(address)).not.toHaveProperty('end_session_endpoint')
    emulator.settings.endSessionEndpoint = true
    expect(await json(address)).toHaveProperty('end_session_endpoint')
  })

  it('there is no login if a server has none', async () => {
    const server = await serveEmulator({ reply: () => ({ content: 'Yes.' }), offersLogin: false })
    undo.push(() => server.close())
    expect(JSON.stringify(await json(server.url + paths.metadataOfDeployment()))).not.toContain('authURL')
    expect((await fetch(`${server.url}/acme/customer-sign-in/.well-known/openid-configuration`)).status).toBe(404)
  })

  it('serves the callback page', async () => {
    const { customers } = await start()
    const page = await fetch(customers.redirectUri)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(await page.text()).toContain('oidc-client-popup-')
  })
})

describe('signing in', () => {
  it('shows the users of this login by role, and no others', async () => {
    const { customers, staff } = await start()
    const { response } = await customers.authorize()
    const page = await response.text()
    expect(page).toContain('<html lang="en">')
    expect([...page.matchAll(/value="([\w-]+)">([\w ]+)</g)].map(match => match.slice(1, 3))).toEqual([
      ['customer', 'Customer'],
      ['new-customer', 'New customer'],
      ['yes', 'Cancel'],
    ])
    expect(await (await staff.authorize()).response.text()).toContain('>Desk agent<')
  })

  it('separates the users of each tenant, also in one browser', async () => {
    const { url, staff } = await start()
    await staff.signIn('desk-agent')
    const field = new LoginCaller(`${url}/northwind/staff-sign-in`, 'northwind-int').inBrowserOf(staff)
    const { address, response, verifier } = await field.authorize()
    const page = await response.text()
    expect(page).toContain('value="field-agent"')
    expect(page).not.toContain('desk-agent')
    expect((await field.press(address, { user: 'desk-agent' })).response.status).toBe(400)
    const returned = await field.press(address, { user: 'field-agent' })
    const { body } = await field.exchange(returned.address, verifier)
    expect(decodeJwt(body['access_token'] ?? '').sub).toBe('field-agent')
    expect((await staff.authorize({ prompt: 'none' })).address).toContain('code=')
  })

  it('issues a token for the API with a logout address, which the published keys verify', async () => {
    const { url, customers, emulator, openSession } = await start()
    const answer = await customers.signIn('customer')
    expect(answer).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'api://acme/core.aiservices.read' })
    const keys = createRemoteJWKSet(new URL(`${customers.authority}/discovery/v2.0/keys`))
    const { payload } = await jwtVerify(answer['access_token'] ?? '', keys, {
      issuer: `${url}/tfp/acme/customer-sign-in/v2.0/`,
      audience: 'TEN0001',
    })
    expect(payload).toMatchObject({ sub: 'customer', logout: `${customers.authority}/sign-out` })
    expect(decodeJwt(answer['id_token'] ?? '')).toMatchObject({ sub: 'customer', name: 'Customer' })

    const session = await openSession('account', answer['access_token'])
    expect(session.status).toBe(200)
    const { sessionId } = (await session.json()) as { sessionId: string }
    const { subject = '' } = emulator.world.sessions.get(sessionId) ?? {}
    expect(emulator.world.users.get(subject)?.name).toBe('Customer')
  })

  it.each([SCOPE.AI_SERVICES, `api://acme/${SCOPE.AI_SERVICES}`])(
    'accepts scopes with and without the permission prefix (%s)',
    async scope => {
      const { customers, openSession } = await start({ checkScopes: true })
      const good = await customers.signIn('customer', { scope: `openid ${scope}` })
      expect((await openSession('account', good['access_token'])).status).toBe(200)
      const other = await customers.authorize({ scope: 'openid some.other' })
      const narrow = await customers.exchange(other.address, other.verifier)
      expect(narrow.body['scope']).toBe('some.other')
      expect((await openSession('account', narrow.body['access_token'])).status).toBe(403)
    },
  )

  it('rejects an id token and a changed token as an access token', async () => {
    const { customers, openSession } = await start()
    const { access_token = '', id_token } = await customers.signIn('customer')
    expect((await openSession('account', id_token)).status).toBe(401)
    const [header, , signature] = access_token.split('.')
    const forged = btoa(JSON.stringify({ ...decodeJwt(access_token), sub: 'new-customer' })).replace(/=+$/, '')
    expect((await openSession('account', `${header}.${forged}.${signature}`)).status).toBe(401)
  })

  it('lets a control call expire its tokens', async () => {
    const { customers, emulator, openSession } = await start()
    const { access_token } = await customers.signIn('customer')
    emulator.control.expireTokens()
    expect((await openSession('account', access_token)).status).toBe(401)
    const again = await customers.authorize()
    const { body } = await customers.exchange(again.address, again.verifier)
    expect((await openSession('account', body['access_token'])).status).toBe(200)
  })

  it('does not ask twice in one browser, unless requested', async () => {
    const { customers } = await start()
    await customers.signIn('customer')
    expect((await customers.authorize()).address).toContain('code=')
    expect((await customers.authorize({ prompt: 'none' })).address).toContain('code=')
    for (const prompt of ['login', 'select_account', 'consent']) {
      const { address, verifier } = await customers.authorize({ prompt })
      expect(address).toContain('/interaction/')
      const { address: returned } = await customers.press(address, { user: 'customer' })
      expect((await customers.exchange(returned, verifier)).status).toBe(200)
    }
  })

  it('notifies the application that the user cancelled', async () => {
    const { customers } = await start()
    const { address } = await customers.authorize()
    const returned = new URL((await customers.press(address, { cancel: 'yes' })).address)
    expect(Object.fromEntries(returned.searchParams)).toMatchObject({ error: 'access_denied', state: 'here' })
  })

  it('shows the page again for a user of another login, and reports an expired login', async () => {
    const { customers } = await start()
    const { address } = await customers.authorize()
    const wrong = await customers.press(address, { user: 'desk-agent' })
    expect([wrong.response.status, wrong.address]).toEqual([400, address])
    const stranger = await fetch(address)
    expect(stranger.status).toBe(400)
    expect(await stranger.text()).toContain('This login is over')
  })

  it('rejects an unknown application, and return addresses on other machines', async () => {
    const { customers, url } = await start()
    const unknown = new LoginCaller(customers.authority, 'nobody')
    expect((await unknown.authorize()).response.status).toBe(400)
    const elsewhere = await customers.authorize({ redirect_uri: 'https://elsewhere.example/' })
    expect(elsewhere.response.status).toBe(400)
    const local = await customers.authorize({ redirect_uri: `${url.replace('127.0.0.1', 'localhost')}/any` })
    expect(local.address).toContain('/interaction/')
  })

  it('accepts the `clientAppId` of an agent', async () => {
    const { customers, emulator } = await start()
    const account = emulator.world.agents.get('account')
    if (account) account.details.clientAppId = 'account-app'
    const caller = new LoginCaller(customers.authority, 'account-app')
    expect(await caller.signIn('customer')).toHaveProperty('access_token')
  })

  it('records its requests', async () => {
    const { customers, emulator } = await start()
    await customers.signIn('customer', { domain_hint: 'desk.example', localLogin: 'true' })
    const requests = emulator.control.requests()
    const asked = requests.find(({ path }) => path.endsWith('/oauth2/v2.0/authorize'))
    expect(asked?.query).toMatchObject({ domain_hint: 'desk.example', localLogin: 'true', client_id: 'app-ext' })
    expect(requests.find(({ path }) => path.endsWith('/token'))?.body).toContain('grant_type=authorization_code')
  })
})

describe('renewing', () => {
  it('issues a new refresh token each time, and ends the login when an old one is used again', async () => {
    const { customers, openSession } = await start()
    const first = await customers.signIn('customer')
    const second = await customers.refresh(first['refresh_token'] ?? '', { scope: 'openid offline_access' })
    expect(second.status).toBe(200)
    expect(second.body['refresh_token']).not.toBe(first['refresh_token'])
    expect((await openSession('account', second.body['access_token'])).status).toBe(200)
    expect(await customers.refresh(first['refresh_token'] ?? '')).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
    expect((await customers.refresh(second.body['refresh_token'] ?? '')).status).toBe(400)
  })

  it('follows the setting for the lifetime of tokens', async () => {
    const { customers, emulator } = await start({ tokenLifeSeconds: 310 })
    const first = await customers.signIn('customer')
    expect(first['expires_in']).toBe(310)
    emulator.settings.tokenLifeSeconds = 20
    expect((await customers.refresh(first['refresh_token'] ?? '')).body['expires_in']).toBe(20)
  })

  it.each([
    ['by-session-only', 'invalid_grant', null],
    ['interaction-required', 'interaction_required', 'interaction_required'],
    ['fails', 'invalid_grant', 'login_required'],
  ] as const)('%s: a refresh token gives %s, a hidden frame %s', async (silentRenewal, byToken, bySession) => {
    const { customers, emulator } = await start()
    const { refresh_token = '' } = await customers.signIn('customer')
    emulator.settings.silentRenewal = silentRenewal
    expect(await customers.refresh(refresh_token)).toMatchObject({ status: 400, body: { error: byToken } })
    const { address } = await customers.authorize({ prompt: 'none' })
    expect(new URL(address).searchParams.get('error')).toBe(bySession)
    if (bySession === null) return
    const interactive = await customers.authorize()
    expect(interactive.address).toContain('/interaction/')
    const { address: returned } = await customers.press(interactive.address, { user: 'customer' })
    expect((await customers.exchange(returned, interactive.verifier)).status).toBe(200)
    // The refresh token was refused, not used up.
    emulator.settings.silentRenewal = 'works'
    expect((await customers.refresh(refresh_token)).status).toBe(200)
  })
})

describe('signing out', () => {
  const signOut = async (customers: LoginCaller, path: string, query: Record<string, string>) => {
    const page = await customers.open(`${customers.authority}${path}?${new URLSearchParams(query)}`)
    const form = Object.fromEntries(
      [...(await page.response.text()).matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    ) as Record<string, string>
    expect(form).toHaveProperty('logout', 'yes')
    return customers.open(`${customers.authority}/oauth2/v2.0/logout/confirm`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
  }

  it.each(['/oauth2/v2.0/logout', '/sign-out'])('needs no confirmation and returns with the state (%s)', async path => {
    const { customers, emulator } = await start()
    const { id_token = '' } = await customers.signIn('customer')
    const back = `${customers.redirectUri}?logout=true`
    const query = { id_token_hint: id_token, post_logout_redirect_uri: back, state: 'there' }
    expect((await signOut(customers, path, query)).address).toBe(`${back}&state=there`)
    const asked = emulator.control.requests().map(request => request.path)
    expect(asked).toContain(new URL(customers.authority + path).pathname)
    expect((await customers.authorize({ prompt: 'none' })).address).toContain('error=login_required')
  })

  it('shows its own page without a return address', async () => {
    const { customers } = await start()
    await customers.signIn('customer')
    const { response } = await signOut(customers, '/oauth2/v2.0/logout', {})
    expect(await response.text()).toContain('You are signed out')
  })

  it('allows another user to sign in', async () => {
    const { customers } = await start()
    await customers.signIn('customer')
    await signOut(customers, '/oauth2/v2.0/logout', {})
    expect(decodeJwt((await customers.signIn('new-customer'))['access_token'] ?? '').sub).toBe('new-customer')
  })
})

describe('the opener policy', () => {
  it('is set on the pages of the login if configured', async () => {
    const { customers, emulator } = await start()
    expect((await customers.authorize()).response.headers.get('cross-origin-opener-policy')).toBeNull()
    emulator.settings.loginOpenerPolicy = 'same-origin'
    expect((await customers.authorize()).response.headers.get('cross-origin-opener-policy')).toBe('same-origin')
  })
})

describe('the two logins', () => {
  it('are independent in one browser', async () => {
    const { customers, staff } = await start()
    const elsewhere = staff.inBrowserOf(customers)
    await customers.signIn('customer')
    expect((await elsewhere.authorize({ prompt: 'none' })).address).toContain('error=login_required')
    await elsewhere.signIn('desk-agent')
    const { address, verifier } = await customers.authorize({ prompt: 'none' })
    const { body } = await customers.exchange(address, verifier)
    expect(decodeJwt(body['access_token'] ?? '').sub).toBe('customer')
  })
})
