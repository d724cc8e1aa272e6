import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PKCEAuthStrategy } from '../src/auth/login/pkce-strategy.ts'
import { userKey } from '../src/auth/stored-login.ts'
import { ApiHelper, AuthenticationService } from '../src/index.ts'
import { defaultEnvironment } from '../src/platform/default-environment.ts'
import { failure } from './api-set-up.ts'
import { FakeLoginPage } from './fake-login-page.ts'
import { FakeStorage, fakeToken } from './fake-service.ts'
import { storedText } from './stored-text.ts'

const SECRET = 'the-secret-of-this-test'
const TOKEN = fakeToken({ sub: 'ann', jti: SECRET })
const METADATA = paths.metadataOfDeployment()

let undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(undo.splice(0).map(each => each()))
})

type Answer = { readonly status: number; readonly location?: string; readonly body?: object }

/** A real server. It records what it receives: address, headers and body as one text for each request. */
async function listen(answer: (path: string) => Answer) {
  const received: string[] = []
  const server = createServer(async (request, response) => {
    let text = `${request.method} ${request.url} ${JSON.stringify(request.headers)} `
    for await (const chunk of request) text += String(chunk)
    received.push(text)
    const { status, location, body = {} } = answer(request.url ?? '')
    response.writeHead(status, { 'Content-Type': 'application/json', ...(location && { location }) })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  undo.push(() => new Promise(resolve => (server.close(resolve), server.closeAllConnections())))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

let other: Awaited<ReturnType<typeof listen>>
let service: Awaited<ReturnType<typeof listen>>
let status = 307
/** Paths that do not redirect. */
let direct: Record<string, object> = {}

beforeEach(async () => {
  undo = []
  status = 307
  direct = {}
  other = await listen(() => ({ status: 200, body: { access_token: TOKEN, sessionId: 's-1', id: '7', name: 'Seven' } }))
  service = await listen(path => {
    const body = direct[path]
    return body ? { status: 200, body } : { status, location: `${other.origin}${path}` }
  })
})

const api = () => new ApiHelper({ apiDomain: service.origin, getToken: () => TOKEN, cache: { enabled: false } })

/** A login at the service. */
function login() {
  const page = new FakeLoginPage()
  const [sessionStorage, localStorage] = [new FakeStorage(), new FakeStorage()]
  const authority = `${service.origin}/acme/policy`
  const config = {
    clientId: 'client',
    redirectUri: 'https://app.test/callback.html',
    knownAuthorities: [],
    authorizationUrl: authority,
    authorityMetadata: JSON.stringify({
      authorization_endpoint: `${authority}/authorize`,
      token_endpoint: `${authority}/token`,
    }),
    authScheme: 'popup' as const,
    scopes: ['openid', 'offline_access'],
  }
  const environment = { ...defaultEnvironment(), sessionStorage, localStorage }
  const strategy = new PKCEAuthStrategy(config, { environment, page })
  return { page, sessionStorage, strategy, start: () => strategy.initialize({ deploymentInfo: { apiDomain: 'api' } }) }
}

async function codeLogin() {
  const { strategy, page, start } = login()
  await start()
  const signedIn = strategy.authenticate()
  await eventually(() => (page.windows[0]?.addresses.length ?? 0) > 0, 'a login page')
  const state = new URL(page.windows[0]?.address ?? '').searchParams.get('state')
  page.answer(`https://app.test/callback.html?code=${SECRET}&state=${state}`)
  return signedIn
}

/** Renews the user that an earlier page has stored. */
async function renewal() {
  const { strategy, sessionStorage, start } = login()
  const user = { accessToken: TOKEN, refreshToken: SECRET, loginId: 'one' }
  sessionStorage.setItem(userKey(`${service.origin}/acme/policy`, 'client'), storedText(user))
  await start()
  return strategy.refresh()
}

async function clientCredentials() {
  const config = { tokenUrl: `${service.origin}/token`, clientId: 'shop', clientSecret: SECRET }
  const authentication = new AuthenticationService({ type: 'client-credentials', config })
  await authentication.initialize({ deploymentInfo: { apiDomain: service.origin } })
  return authentication.getToken()
}

async function anonymousToken() {
  const accessTokenURL = `${service.origin}/token`
  direct[METADATA] = { authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL }] } }
  const authentication = new AuthenticationService(null)
  await authentication.initialize({ deploymentInfo: { apiDomain: service.origin } })
  return authentication.getToken()
}

const CALLS: Readonly<Record<string, () => Promise<unknown>>> = {
  'an API call with a body': () =>
    api().getAiAgentSession({ agentId: '7', context: { iban: { type: 'text', value: SECRET } } as never }),
  'an API call with a token': () => api().getAgentDetails({ agentId: '7' }),
  'the exchange of a code': codeLogin,
  'a renewal with a refresh token': renewal,
  'client credentials': clientCredentials,
  'an anonymous token': anonymousToken,
}

const cases = Object.keys(CALLS).flatMap(name => [301, 302, 303, 307, 308].map(code => [name, code] as const))

describe('a redirect', () => {
  it.each(cases)('[SEC-63] is not followed by %s (%i); the error names its origin', async (name, code) => {
    status = code
    const error = (await failure(CALLS[name]?.() ?? Promise.resolve())) as Error
    expect(other.received).toEqual([])
    expect(error.message).toContain(`${service.origin} answered with a redirect to ${other.origin} (HTTP ${code})`)
    expect(service.received.at(-1)).toMatch(/Bearer|client_secret|refresh_token|code_verifier/i)
  })

  it('[SEC-63] ends a call with the reason `redirect`, which is not retried', async () => {
    const error = await failure(api().getAgentDetails({ agentId: '7' }))
    expect(error).toMatchObject({ name: 'ApiError', code: 'API_ERROR', reason: 'redirect', status: 307 })
    expect(service.received).toHaveLength(1)
  })

  it('[SEC-63] of a platform that has followed it anyway is an error, and its response is not used', async () => {
    const fetch = async () =>
      Object.defineProperties(Response.json({ agentId: '7', name: 'Seven' }), {
        redirected: { value: true },
        url: { value: 'https://elsewhere.test/x' },
      })
    const config = { apiDomain: 'api.test', getToken: () => TOKEN, cache: { enabled: false } }
    const elsewhere = new ApiHelper(config, { ...defaultEnvironment(), fetch })
    expect(await failure(elsewhere.getAgentDetails({ agentId: '7' }))).toMatchObject({
      reason: 'redirect',
      message: expect.stringContaining('https://api.test answered with a redirect to https://elsewhere.test'),
    })
  })

  it('of the public deployment info is followed', async () => {
    const info = { apiDomain: 'api.test' }
    const answering = await listen(() => ({ status: 200, body: info }))
    const moved = await listen(path => ({ status: 308, location: answering.origin + path }))
    expect(await ApiHelper.getDeploymentInfo(moved.origin, { enabled: false })).toMatchObject(info)
    expect(answering.received).toHaveLength(1)
  })
})

describe("a host's own `fetch`", () => {
  it('may return a response of `ok`, `status` and `json()` only', async () => {
    const fetch = async () => ({ ok: true, status: 200, json: async () => ({ agentId: '7', name: 'Seven' }) })
    const config = { apiDomain: 'api.test', getToken: () => TOKEN, cache: { enabled: false } }
    const environment = { ...defaultEnvironment(), fetch: fetch as unknown as typeof globalThis.fetch }
    expect(await new ApiHelper(config, environment).getAgentDetails({ agentId: '7' })).toMatchObject({ name: 'Seven' })
  })
})
