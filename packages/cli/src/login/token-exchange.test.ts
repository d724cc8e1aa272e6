import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { CommandFailure } from '../failure.ts'
import { TokenExchange } from './token-exchange.ts'

const SECRET = 'sentinel'
const never = new AbortController().signal
const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
})

/** A token endpoint with one answer, and the request it received. */
async function tokenEndpoint(status: number, body: string, type = 'application/json', more: object = {}) {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let form = ''
    for await (const chunk of request) form += String(chunk)
    asked.push(form)
    response.writeHead(status, { 'Content-Type': type, ...more }).end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  undo.push(() => new Promise(resolve => (server.close(resolve), server.closeAllConnections())))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { asked, url, exchange: exchangeAt(`${url}/token`) }
}

function exchangeAt(address: string): TokenExchange {
  const login = {
    clientId: 'app',
    authorizationEndpoint: 'https://login.test/authorize',
    tokenEndpoint: address,
    scopes: ['openid', 'a'],
  }
  return new TokenExchange(login, { issuer: 'https://login.test/' })
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
      expect(message).toContain(`${url} answered the request for a token with a redirect to ${target.url}`)
    },
  )

  it('reports an unreachable login', async () => {
    const { exchange } = await tokenEndpoint(200, '')
    for (const step of undo.splice(0)) await step()
    const { message } = await failureOf(exchange.renew('r1', never))
    expect(message).toMatch(/^The login of 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)\./)
  })

  it('sends nothing over plain http, except on this machine', async () => {
    const { message } = await failureOf(exchangeAt('http://login.test/token').renew('r1', never))
    expect(message).toContain('(OAUTH_HTTP_REQUEST_FORBIDDEN)')
  })

  it('rejects with the reason of the abort', async () => {
    const { exchange } = await tokenEndpoint(200, '{}')
    const reason = new Error('Given up.')
    await expect(exchange.renew('r1', AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})

describe('createRequest', () => {
  it('binds each to new secrets, and does not reveal the verifier', async () => {
    const exchange = exchangeAt('https://login.test/token')
    const [one, two] = [await exchange.createRequest('http://127.0.0.1:1/callback'), await exchange.createRequest('x')]
    for (const name of ['state', 'nonce', 'codeVerifier'] as const) {
      expect(one[name]).toHaveLength(43)
      expect(one[name]).not.toBe(two[name])
    }
    expect(one.address).not.toContain(one.codeVerifier)
  })
})

describe('redeem', () => {
  const answer = (values: Record<string, string>) => new URLSearchParams(values)

  it.each<[string, Record<string, string>, RegExp]>([
    ['another state', { code: SECRET, state: 'other' }, /OAUTH_INVALID_RESPONSE/],
    ['another provider', { code: SECRET, iss: 'https://other.test/' }, /OAUTH_INVALID_RESPONSE/],
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
    expect(error.message).toContain('(OAUTH_INVALID_RESPONSE)')
    expect(Object.fromEntries(new URLSearchParams(asked[0]))).toEqual({
      grant_type: 'authorization_code',
      code: 'c',
      redirect_uri: 'http://127.0.0.1:1/callback',
      code_verifier: request.codeVerifier,
      client_id: 'app',
    })
  })
})
