import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DeploymentLogin } from '@aiagent/client/pkce'
import { afterEach, describe, expect, it } from 'vitest'
import { CommandFailure } from '../failure.ts'
import { TokenExchange } from './token-exchange.ts'

const SECRET = 'sentinel'
const never = new AbortController().signal
const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
})

/** What a provider answers. */
interface Answers {
  /** Answer to a request for tokens. */
  tokens?: [status: number, body: string, type?: string, more?: object]
  /** Answer to a request for the OpenID configuration, by the origin of the provider. */
  configuration?: [status: number, body: (origin: string) => string]
}

/** A provider, the forms that it received, and the paths of the other requests. */
async function provider({ tokens = [200, '{}'], configuration = [404, () => ''] }: Answers) {
  const asked: string[] = []
  const looked: (string | undefined)[] = []
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      looked.push(request.url)
      response.writeHead(configuration[0], { Connection: 'close' }).end(configuration[1](url))
      return
    }
    let form = ''
    for await (const chunk of request) form += String(chunk)
    asked.push(form)
    const [status, body, type = 'application/json', more = {}] = tokens
    response.writeHead(status, { 'Content-Type': type, ...more }).end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  undo.push(() => new Promise(resolve => (server.close(resolve), server.closeAllConnections())))
  return { asked, looked, url, login: loginAt(url) }
}

function loginAt(origin: string): DeploymentLogin {
  const authority = `${origin}/gate/policy`
  return {
    clientId: 'app',
    authority,
    host: new URL(origin).host,
    issuer: `${origin}/tfp/gate/policy/v2.0/`,
    authorizationEndpoint: `${origin}/gate/authorize`,
    tokenEndpoint: `${origin}/token`,
    endSessionEndpoint: `${authority}/oauth2/v2.0/logout`,
    jwksUri: `${authority}/discovery/v2.0/keys`,
    scopes: ['openid', 'a'],
  }
}

/** A token endpoint with one answer, and the requests it received. */
async function tokenEndpoint(...tokens: NonNullable<Answers['tokens']>) {
  const { login, ...rest } = await provider({ tokens })
  return { ...rest, exchange: await TokenExchange.open(login, never) }
}

/** An ID token. Its signature is not checked, since it comes from the token endpoint. */
function idToken(claims: object): string {
  const now = Math.floor(Date.now() / 1000)
  const all = { aud: 'app', sub: 'customer', iat: now, exp: now + 600, name: 'Customer', ...claims }
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256' })}.${part(all)}.c2ln`
}

async function failureOf(work: Promise<unknown>): Promise<CommandFailure> {
  const error: unknown = await work.then(
    () => undefined,
    error => error,
  )
  if (error instanceof CommandFailure) return error
  throw new Error(`It failed otherwise: ${error}`)
}

describe('renew', () => {
  it('brings new tokens, also from an answer without a token type', async () => {
    const { exchange, asked } = await tokenEndpoint(200, '{ "access_token": "t2", "refresh_token": "r2" }')
    expect(await exchange.renew('r1', never)).toEqual({ accessToken: 't2', refreshToken: 'r2' })
    expect(Object.fromEntries(new URLSearchParams(asked[0]))).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'r1',
      client_id: 'app',
    })
  })

  it.each<[string, number, string, RegExp]>([
    [
      'a refusal',
      400,
      '{ "error": "invalid_grant", "error_description": "used\\nup" }',
      /refuses: invalid_grant: used up\./,
    ],
    ['a refusal without a description', 400, '{ "error": "invalid_client" }', /refuses: invalid_client\. Start again/],
    ['trouble', 503, SECRET, /cannot be trusted or understood \(OAUTH_/],
    ['no JSON', 200, SECRET, /cannot be trusted or understood \(OAUTH_/],
    ['no token', 200, `{ "refresh_token": "${SECRET}" }`, /cannot be trusted or understood \(OAUTH_INVALID_RESPONSE\)/],
    [
      'an id token that is none',
      200,
      `{ "access_token": "${SECRET}", "id_token": "${SECRET}" }`,
      /cannot be trusted or understood \(OAUTH_/,
    ],
    [
      'a token of another type',
      200,
      `{ "access_token": "${SECRET}", "token_type": "mac" }`,
      /cannot be trusted or understood \(OAUTH_UNSUPPORTED_OPERATION\)/,
    ],
  ])('says in words that the answer was %s, and keeps what it held to itself', async (_what, status, body, text) => {
    const { exchange } = await tokenEndpoint(status, body)
    const error = await failureOf(exchange.renew(SECRET, never))
    expect(error.message).toMatch(text)
    expect(error.message + error.stack).not.toContain(SECRET)
    expect(error.cause).toBeUndefined()
  })

  it.each([302, 307, 308])(
    '[SEC-63] sends nothing to the target of a redirect, and names both origins (%i)',
    async status => {
      const target = await tokenEndpoint(200, '{ "access_token": "t2" }')
      const { exchange, url } = await tokenEndpoint(status, '', 'text/plain', { Location: `${target.url}/collect` })
      const { message } = await failureOf(exchange.renew(SECRET, never))
      expect(target.asked).toEqual([])
      expect(message).toContain(`${url} answered with a redirect to ${target.url} (HTTP ${status})`)
    },
  )

  it('reports an unreachable login', async () => {
    const { exchange } = await tokenEndpoint(200, '')
    for (const step of undo.splice(0)) await step()
    const { message } = await failureOf(exchange.renew('r1', never))
    expect(message).toMatch(/^The login of 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)\./)
  })

  it('rejects with the reason of the abort', async () => {
    const { exchange } = await tokenEndpoint(200, '{}')
    const reason = new Error('Given up.')
    await expect(exchange.renew('r1', AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})

describe('createRequest', () => {
  it('binds each to new secrets, and does not reveal the verifier', async () => {
    const { exchange } = await tokenEndpoint(200, '{}')
    const [one, two] = [await exchange.createRequest('http://127.0.0.1:1/callback'), await exchange.createRequest('x')]
    for (const name of ['state', 'nonce', 'verifier'] as const) {
      expect(one[name].length).toBeGreaterThanOrEqual(32)
      expect(one[name]).not.toBe(two[name])
    }
    expect(one.address).not.toContain(one.verifier)
  })
})

describe('redeem', () => {
  const answer = (values: Record<string, string>) => new URLSearchParams(values)

  it.each<[string, Record<string, string>, RegExp]>([
    ['another state', { code: SECRET, state: 'other' }, /OAUTH_INVALID_RESPONSE/],
    ['a cancelled login', { error: 'access_denied' }, /^Nobody was signed in: .*\(access_denied\)\.$/],
    ['an error', { error: 'server_error', error_description: 'Out of order' }, /refuses: server_error: Out of order\./],
  ])('refuses an answer with %s before anything is sent', async (_what, values, text) => {
    const { exchange, asked } = await tokenEndpoint(200, '{}')
    const request = await exchange.createRequest('http://127.0.0.1:1/callback')
    const error = await failureOf(exchange.redeem(answer({ state: request.state, ...values }), request, never))
    expect(error.message).toMatch(text)
    expect(error.message + error.stack).not.toContain(SECRET)
    expect(asked).toEqual([])
  })

  it('wants an id token, which ties the answer to the request', async () => {
    const { exchange, asked } = await tokenEndpoint(200, `{ "access_token": "${SECRET}" }`)
    const request = await exchange.createRequest('http://127.0.0.1:1/callback')
    const error = await failureOf(exchange.redeem(answer({ code: 'c', state: request.state }), request, never))
    expect(error.message).toContain('no ID token')
    expect(error.message + error.stack).not.toContain(SECRET)
    expect(Object.fromEntries(new URLSearchParams(asked[0]))).toEqual({
      grant_type: 'authorization_code',
      code: 'c',
      redirect_uri: 'http://127.0.0.1:1/callback',
      code_verifier: request.verifier,
      client_id: 'app',
    })
  })

  const published = (more: object = {}): NonNullable<Answers['configuration']> => [
    200,
    origin =>
      JSON.stringify({ issuer: `${origin}/own`, authorization_response_iss_parameter_supported: true, ...more }),
  ]
  /** A login whose answer has these parameters and whose ID token these claims; the claims get the request's nonce. */
  async function redeem(configuration: Answers['configuration'], parameters: object, claims: object) {
    const tokens: NonNullable<Answers['tokens']> = [200, '']
    const { url, login, asked } = await provider({ tokens, ...(configuration && { configuration }) })
    const exchange = await TokenExchange.open(login, never)
    const request = await exchange.createRequest('http://127.0.0.1:1/callback')
    const filled = (given: object) => JSON.parse(JSON.stringify(given).replaceAll('URL', url))
    const token = idToken({ nonce: request.nonce, ...filled(claims) })
    tokens[1] = JSON.stringify({ access_token: 'a', id_token: token })
    const granted = exchange.redeem(answer({ code: 'c', state: request.state, ...filled(parameters) }), request, never)
    return { granted, asked, url }
  }
  const OWN = { iss: 'URL/own' }
  const DAY = 24 * 60 * 60
  const now = Math.floor(Date.now() / 1000)

  it('signs the user in where all is in order', async () => {
    const { granted } = await redeem(published(), OWN, OWN)
    expect(await granted).toEqual({ accessToken: 'a', name: 'Customer' })
  })

  it.each([
    ['another issuer', { iss: 'https://other.test/' }],
    ['no issuer, which the provider promises to name', {}],
  ])('[SEC-65] sends no code of an answer with %s', async (_what, parameters) => {
    const { granted, asked } = await redeem(published(), parameters, OWN)
    expect((await failureOf(granted)).message).toContain('(OAUTH_INVALID_RESPONSE)')
    expect(asked).toEqual([])
  })

  it.each([
    ['SEC-64', 'without the nonce of the request', { ...OWN, nonce: 'other' }, /OAUTH_/],
    ['SEC-68', 'of two days ago', { ...OWN, iat: now - 2 * DAY, exp: now - DAY }, /more than a day .* clock/],
    ['SEC-68', 'of two days ahead', { ...OWN, iat: now + 2 * DAY, exp: now + 3 * DAY }, /more than a day .* clock/],
    ['SEC-66', 'of another issuer', { iss: 'https://other.test/' }, /OAUTH_/],
  ])('[%s] refuses an ID token %s', async (_rule, _what, claims, text) => {
    const { granted } = await redeem(published(), OWN, claims)
    expect((await failureOf(granted)).message).toMatch(text)
  })

  it.each([
    [404, 'not here'],
    [200, '<html>'],
    [200, '[]'],
    [200, '{ "issuer": 7 }'],
  ])('takes the issuer of the ID token where the provider publishes none (%i %s)', async (status, body) => {
    const { granted } = await redeem([status, () => body], {}, { iss: 'https://any.test/' })
    expect(await granted).toMatchObject({ accessToken: 'a' })
  })
})

describe('open', () => {
  it('looks for the configuration below the second version first, then below the authority', async () => {
    const { login, looked } = await provider({})
    await TokenExchange.open(login, never)
    const paths = ['/gate/policy/v2.0', '/gate/policy'].map(path => `${path}/.well-known/openid-configuration`)
    expect(looked).toEqual(paths)
  })

  it('[SEC-66] refuses a provider that publishes the issuer of another one', async () => {
    const { login } = await provider({ configuration: [200, () => '{ "issuer": "https://named.test/" }'] })
    expect((await failureOf(TokenExchange.open(login, never))).message).toContain('named.test')
  })

  it('sends nothing over plain http, except on this machine', async () => {
    const { message } = await failureOf(TokenExchange.open(loginAt('http://login.test'), never))
    expect(message).toContain('does not use https: http://login.test')
  })

  it('says that the provider has trouble, or is not there', async () => {
    const { login } = await provider({ configuration: [503, () => ''] })
    const { message } = await failureOf(TokenExchange.open(login, never))
    expect(message).toBe(`The login of ${login.host} failed (HTTP 503). Try again later.`)
    for (const step of undo.splice(0)) await step()
    expect((await failureOf(TokenExchange.open(login, never))).message).toBe(
      `The login of ${login.host} cannot be reached (ECONNREFUSED). Check your network, and try again in a while.`,
    )
  })

  it('rejects with the reason of the abort', async () => {
    const { login } = await provider({})
    const reason = new Error('Given up.')
    await expect(TokenExchange.open(login, AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})
