import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { fetchLoginMetadata, fetchProviderFacts } from './login-addresses.ts'

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
})

/** A service with the same answer to all requests. */
async function serve(answer: RequestListener): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  undo.push(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

const says =
  (status: number, body: string): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(body)
const never = new AbortController().signal
const plan = (authority: string) => ({ authority, issuer: 'https://planned.test/' })

describe('fetchProviderFacts', () => {
  it('reads the provider’s own name and its way to sign, and nothing else', async () => {
    const { url } = await serve(
      says(
        200,
        JSON.stringify({
          issuer: 'https://named.test/',
          token_endpoint: 'https://elsewhere.test/',
          id_token_signing_alg_values_supported: ['ES256', 7],
          authorization_response_iss_parameter_supported: true,
        }),
      ),
    )
    expect(await fetchProviderFacts(plan(url), never)).toEqual({
      issuer: 'https://named.test/',
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
    })
  })

  it('looks below the second version first, then below the authority', async () => {
    const asked: (string | undefined)[] = []
    const { url } = await serve((request, response) => {
      asked.push(request.url)
      response.writeHead(request.url?.startsWith('/v2.0') ? 404 : 200).end('{ "issuer": "https://named.test/" }')
    })
    expect(await fetchProviderFacts(plan(url), never)).toEqual({ issuer: 'https://named.test/' })
    expect(asked).toEqual(['/v2.0/.well-known/openid-configuration', '/.well-known/openid-configuration'])
  })

  it.each([
    [404, 'not here'],
    [200, '<html>'],
    [200, '[]'],
    [200, '{ "issuer": 7 }'],
  ])('takes the deployment’s word where the provider has no configuration (%i %s)', async (status, body) => {
    const { url } = await serve(says(status, body))
    expect(await fetchProviderFacts(plan(url), never)).toEqual({ issuer: 'https://planned.test/' })
  })

  it('says that the provider has trouble, or is not there', async () => {
    const { url, close } = await serve(says(503, ''))
    const { host } = new URL(url)
    await expect(fetchProviderFacts(plan(url), never)).rejects.toThrow(
      `The login of ${host} failed (HTTP 503). Try again later.`,
    )
    await close()
    await expect(fetchProviderFacts(plan(url), never)).rejects.toThrow(
      `The login of ${host} cannot be reached (ECONNREFUSED). Check your network, and try again in a while.`,
    )
  })

  it('rejects with the reason of the abort', async () => {
    const { url } = await serve(() => {})
    const controller = new AbortController()
    const facts = fetchProviderFacts(plan(url), controller.signal)
    const reason = new Error('Given up.')
    controller.abort(reason)
    await expect(facts).rejects.toBe(reason)
  })
})

describe('fetchLoginMetadata', () => {
  it('reads the metadata', async () => {
    const { url } = await serve(says(200, '{ "idpPolicies": { "userSigninPolicy": "p" } }'))
    expect(await fetchLoginMetadata(url, '/m', never)).toEqual({ idpPolicies: { userSigninPolicy: 'p' } })
  })

  it.each([
    [500, '{}'],
    [200, 'no JSON'],
    [200, '{ "idpPolicies": 7 }'],
  ])('says that there are none (%i %s)', async (status, body) => {
    const { url } = await serve(says(status, body))
    await expect(fetchLoginMetadata(url, '/m', never)).rejects.toThrow(
      `${new URL(url).host} did not return the addresses of the login (HTTP ${status}). Try again later.`,
    )
  })
})
