import { paths } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { rejection, setUp } from '../../test/agent-harness.ts'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import { FakeService, fakeToken } from '../../test/fake-service.ts'
import type { AuthenticationInput } from '../auth/auth-strategy.ts'
import { PKCEAuthStrategy } from '../pkce.ts'
import { ApiHelper } from '../rest/api-helper.ts'

/** A deployment whose API is on this machine, as behind a gateway or a proxy. */
const API = 'http://127.0.0.1:8600'

function deployment({ tokenUrl = `${API}/token`, webSocketDomain = 'chat.test' }) {
  const exp = Math.floor(Date.now() / 1000) + 3600
  return new FakeService()
    .on(`GET ${paths.deploymentInfo()}`, { apiDomain: API, tenantId: 'T' })
    .on(`GET ${paths.metadataOfDeployment()}`, {
      authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: tokenUrl }] },
    })
    .on('POST /token', { access_token: fakeToken({ exp }), expires_in: 3600 })
    .on(`GET ${paths.agentDetails('help')}`, { agentId: 'help', name: 'Help', webSocketDomain })
    .on(`POST ${paths.session('help')}`, { sessionId: 's-1' })
}

const ANONYMOUS: AuthenticationInput = { type: 'anonymous', config: { cache: { enabled: false } } }

function agentOf(service: FakeService, endpoint: string, auth = ANONYMOUS) {
  const { make } = setUp({}, { fetch: service.fetch })
  return make({ endpoint, cache: { enabled: false }, auth }).agent
}

describe('a deployment over https with its API on this machine', () => {
  it('[SEC-33] requests no token over plain http from another machine', async () => {
    const service = deployment({ tokenUrl: 'http://login.test/token' })
    const agent = agentOf(service, 'https://localhost:8443')
    expect(await rejection(agent.initialize())).toMatchObject({ name: 'AuthError', reason: 'token_request_failed' })
    expect(service.seen.filter(({ method }) => method === 'POST')).toEqual([])
    await agent.destroy()
  })

  it('[SEC-33] sends no client secret over plain http to another machine', async () => {
    const service = deployment({})
    const config = { tokenUrl: 'http://login.test/token', clientId: 'me', clientSecret: 'secret' }
    const agent = agentOf(service, 'https://localhost:8443', { type: 'client-credentials', config })
    expect(await rejection(agent.initialize())).toMatchObject({ name: 'AuthError', reason: 'token_request_failed' })
    expect(service.seen.filter(({ method }) => method === 'POST')).toEqual([])
    await agent.destroy()
  })

  it('[SEC-33] names no chat over plain ws on another machine', async () => {
    const service = deployment({ webSocketDomain: 'ws://chat.test' })
    const agent = agentOf(service, 'https://localhost:8443')
    expect(await rejection(agent.initialize())).toMatchObject({
      reason: 'body',
      message: expect.stringContaining('webSocketDomain'),
    })
    await agent.destroy()
  })

  it.each([
    ['https://localhost:8443', {}],
    ['https://127.0.0.1:8443', { webSocketDomain: 'ws://localhost:8600' }],
    ['http://deployment.test', { tokenUrl: 'http://login.test/token', webSocketDomain: 'ws://chat.test' }],
  ])(
    '[SEC-33] may name addresses on this machine, or any where the endpoint has http: at %s, %o',
    async (endpoint, more) => {
      const agent = agentOf(deployment(more), endpoint)
      await agent.initialize()
      expect(agent.getIsInitialized()).toBe(true)
      await agent.destroy()
    },
  )
})

describe('a deployment over https on another machine', () => {
  const remote = (more: Parameters<typeof deployment>[0] & { apiDomain?: string }) => {
    const { apiDomain = 'https://api.test', ...rest } = more
    return deployment({ tokenUrl: 'https://api.test/token', ...rest }).on(`GET ${paths.deploymentInfo()}`, {
      apiDomain,
      tenantId: 'T',
    })
  }

  it.each([
    ['its API', { apiDomain: API }, 'apiDomain'],
    ['its API, by name', { apiDomain: 'http://localhost:8600' }, 'apiDomain'],
    ['its API, by the address of IPv6', { apiDomain: 'http://[::1]:8600' }, 'apiDomain'],
    ['its chat', { webSocketDomain: 'ws://127.0.0.1:8600' }, 'webSocketDomain'],
    ['its token endpoint', { tokenUrl: `${API}/token` }, 'https'],
  ])('[SEC-69] cannot name a port of this machine over plain http for %s', async (_what, more, text) => {
    const service = remote(more)
    const agent = agentOf(service, 'https://deployment.test')
    expect(await rejection(agent.initialize())).toMatchObject({ message: expect.stringContaining(text) })
    expect(service.seen.filter(({ url }) => url.startsWith('http:'))).toEqual([])
    await agent.destroy()
  })

  it.each([
    ['login page', `${API}/acme/authorize`, 'https://login.test/acme/token'],
    ['token endpoint', 'https://login.test/acme/authorize', `${API}/acme/token`],
  ])('[SEC-69] opens no login whose %s it names on this machine over plain http', async (_what, authURL, token) => {
    const service = remote({})
      .on(`GET ${paths.deploymentInfo()}`, { apiDomain: 'https://api.test', clientId: 'app', domainHint: 'app.test' })
      .on(`GET ${paths.metadataOfDeployment()}`, {
        authenticationDetails: {
          oAuthAnonymousCustomer: [{ accessTokenURL: 'https://api.test/token' }],
          oAuthCustomer: [{ authURL, accessTokenURL: token }],
        },
        idpPolicies: { customerSigninPolicy: 'customers' },
      })
      .on(`GET ${paths.agentDetails('help')}`, { agentId: 'help', isAuthenticated: true, userType: 'customer' })
    const opened: unknown[] = []
    const page = pageWithWindow({
      location: { href: 'https://app.test/' },
      open: (address: string) => (opened.push(address), null),
    })
    const { agent } = setUp({}, { fetch: service.fetch, page }).make({
      endpoint: 'https://deployment.test',
      cache: { enabled: false },
    })
    expect(await rejection(agent.initialize())).toMatchObject({ name: 'AuthError', reason: 'metadata_failed' })
    expect(opened).toEqual([])
    expect(service.seen.filter(({ url }) => url.startsWith('http:'))).toEqual([])
    await agent.destroy()
  })

  it('[SEC-69] is used where it names addresses with https only', async () => {
    const agent = agentOf(remote({}), 'https://deployment.test')
    await agent.initialize()
    expect(agent.getIsInitialized()).toBe(true)
    await agent.destroy()
  })
})

describe('an address whose scheme is neither that of a request nor that of a chat', () => {
  const SCHEMES = ['ftp', 'file', 'data', 'blob', 'chrome-extension']

  it.each(SCHEMES)('[SEC-92] is refused as apiDomain, aiAgentDomain or webSocketDomain: %s', async scheme => {
    const named = `${scheme}://127.0.0.1/x`
    for (const endpoint of ['https://deployment.test', 'http://deployment.test'])
      for (const [member, service] of [
        ['apiDomain', deployment({}).on(`GET ${paths.deploymentInfo()}`, { apiDomain: named, tenantId: 'T' })],
        ['aiAgentDomain', deployment({}).on(`GET ${paths.deploymentInfo()}`, { apiDomain: 'a', aiAgentDomain: named })],
        ['webSocketDomain', deployment({ webSocketDomain: named, tokenUrl: 'https://login.test/token' })],
      ] as const) {
        if (member === 'webSocketDomain')
          service.on(`GET ${paths.deploymentInfo()}`, { apiDomain: 'https://api.test', tenantId: 'T' })
        const agent = agentOf(service, endpoint)
        const error = await rejection(agent.initialize())
        expect(error).toMatchObject({ reason: 'body', message: expect.stringContaining(member) })
        expect(service.seen.filter(({ url }) => !/^https?:/.test(url))).toEqual([])
        await agent.destroy()
      }
  })

  it.each(SCHEMES)('[SEC-92] gets no request that the host configures: %s', async scheme => {
    const service = deployment({})
    const address = `${scheme}://127.0.0.1/x`
    const environment = () => service.environment()
    expect(await rejection(agentOfAddress(address))).toMatchObject({ code: 'CONFIG_INVALID', field: 'endpoint' })
    const info = ApiHelper.getDeploymentInfo(address, { enabled: false }, { environment: environment() })
    expect(await rejection(info)).toMatchObject({ code: 'CONFIG_INVALID' })
    const api = new ApiHelper({ apiDomain: address, cache: { enabled: false } }, environment())
    expect(await rejection(api.getConnectedApps({ tenantId: 't', agentId: 'help' }))).toMatchObject({
      code: 'API_ERROR',
      message: expect.stringContaining(`${scheme}:`),
    })
    const config = { tokenUrl: address, clientId: 'me', clientSecret: 'secret' }
    const agent = agentOf(service, API, { type: 'client-credentials', config })
    expect(await rejection(agent.initialize())).toMatchObject({ name: 'AuthError', reason: 'token_request_failed' })
    await agent.destroy()
    expect(service.seen.filter(({ url }) => !/^https?:/.test(url))).toEqual([])
  })

  it.each(SCHEMES)('[SEC-92] opens no login that the host or the deployment names: %s', async scheme => {
    const address = `${scheme}://127.0.0.1/x`
    const login = { clientId: 'me', redirectUri: 'https://app.test/', knownAuthorities: [] }
    const metadata = { authorization_endpoint: address, token_endpoint: address }
    expect(() => new PKCEAuthStrategy({ ...login, authorizationUrl: address })).toThrow(
      expect.objectContaining({ reason: 'invalid_input' }),
    )
    const opened: unknown[] = []
    const page = pageWithWindow({
      location: { href: 'https://app.test/' },
      open: (url: string) => (opened.push(url), null),
    })
    const service = deployment({})
    const given = { ...login, authorizationUrl: 'https://login.test', authorityMetadata: JSON.stringify(metadata) }
    const { agent } = setUp({}, { fetch: service.fetch, page }).make({
      endpoint: API,
      cache: { enabled: false },
      auth: { type: 'pkce', config: given },
    })
    await rejection(agent.initialize())
    expect(opened).toEqual([])
    expect(service.seen.filter(({ url }) => !/^https?:/.test(url))).toEqual([])
    await agent.destroy()
  })
})

const agentOfAddress = async (endpoint: string) => setUp().make({ endpoint }).agent.initialize()
