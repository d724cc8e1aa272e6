import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { CommandFailure } from '../failure.ts'
import { loadLogin } from './login-addresses.ts'

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

describe('loadLogin', () => {
  const customer = { userType: 'customer' }
  const deploymentAt = (apiDomain: string) => ({ apiDomain, tenantId: 'T1', extClientId: 'customer-app' })
  const metadataWith = (host: string) => ({
    authenticationDetails: {
      oAuthCustomer: [{ authURL: `${host}/gate/authorize?p=x`, accessTokenURL: `${host}/gate/token?p=x` }],
    },
    idpPolicies: { customerSigninPolicy: 'people-in' },
    apiMetadata: { CORE: { apiPermissionPrefix: 'api://all/' } },
  })

  it('reads the login of the agent from the metadata of the tenant', async () => {
    const asked: (string | undefined)[] = []
    const { url } = await serve((request, response) => {
      asked.push(request.url)
      response.end(JSON.stringify(metadataWith('https://people.test')))
    })
    const agent = { ...customer, extraScopes: 'mine api://all/b other://c' }
    expect(await loadLogin({ deployment: deploymentAt(url), agent }, never)).toMatchObject({
      clientId: 'customer-app',
      authority: 'https://people.test/gate/people-in',
      issuer: 'https://people.test/tfp/gate/people-in/v2.0/',
      authorizationEndpoint: 'https://people.test/gate/authorize',
      tokenEndpoint: 'https://people.test/gate/token?p=x',
      scopes: [
        'openid',
        'profile',
        'offline_access',
        'api://all/knowledge.portalmgr.manage',
        'api://all/core.aiservices.read',
        'api://all/core.customermgr.read',
        'api://all/mine',
        'api://all/b',
        'other://c',
      ],
    })
    expect(asked).toEqual(['/core/authmgr/v3/metadata/tenant/T1'])
  })

  it('[AUTH-12] prefers the client id of the command line', async () => {
    const { url } = await serve(says(200, JSON.stringify(metadataWith('https://people.test'))))
    const agent = { ...customer, clientAppId: 'agent-app' }
    const { clientId } = await loadLogin({ deployment: deploymentAt(url), agent, clientId: 'mine' }, never)
    expect(clientId).toBe('mine')
  })

  it.each([
    ['http://people.test', 'https://people.test'],
    ['http://127.0.0.1:8600', 'http://127.0.0.1:8600'],
  ])('[SEC-11] goes over https except on this machine: for %s to %s', async (given, origin) => {
    const { url } = await serve(says(200, JSON.stringify(metadataWith(given))))
    const login = await loadLogin({ deployment: deploymentAt(url), agent: customer }, never)
    const addresses = [login.authority, login.authorizationEndpoint, login.tokenEndpoint]
    expect(addresses.map(address => new URL(address).origin)).toEqual([origin, origin, origin])
  })

  it('[SEC-69] refuses plain http on this machine that a deployment elsewhere names', async () => {
    const asked: string[] = []
    const page = globalThis.fetch
    undo.push(async () => void (globalThis.fetch = page))
    globalThis.fetch = async address => {
      asked.push(String(address))
      return Response.json(metadataWith('http://127.0.0.1:8600'))
    }
    const login = loadLogin({ deployment: deploymentAt('https://api.test'), agent: customer }, never)
    await expect(login).rejects.toThrow(/^The deployment has no login for this agent\. .*plain http/)
    expect(asked).toEqual(['https://api.test/core/authmgr/v3/metadata/tenant/T1'])
  })

  it.each<[string, Partial<Parameters<typeof loadLogin>[0]>, object, RegExp]>([
    ['an agent without a user type', { agent: { userType: 'other' } }, {}, /userType/],
    ['metadata without a login', { agent: { userType: 'agent' } }, {}, /oAuthUser\[0\]\.authURL/],
    ['metadata without a policy', {}, { idpPolicies: null }, /customerSigninPolicy/],
    ['no client id', { deployment: { apiDomain: '' } }, {}, /client id .*Set --client-id\.$/],
  ])('names the missing fact: %s', async (_what, facts, changes, text) => {
    const { url } = await serve(says(200, JSON.stringify({ ...metadataWith('https://people.test'), ...changes })))
    const deployment = facts.deployment ? { ...facts.deployment, apiDomain: url } : deploymentAt(url)
    const login = loadLogin({ agent: customer, ...facts, deployment }, never)
    await expect(login).rejects.toThrow(CommandFailure)
    await expect(login).rejects.toThrow(/^The deployment has no login for this agent\. /)
    await expect(login).rejects.toThrow(text)
  })

  it.each([
    [500, '{}'],
    [200, 'no JSON'],
    [200, '{ "idpPolicies": 7 }'],
  ])('rejects when there are no metadata (%i %s)', async (status, body) => {
    const { url } = await serve(says(status, body))
    await expect(loadLogin({ deployment: deploymentAt(url), agent: customer }, never)).rejects.toThrow(
      `${new URL(url).host} did not return the addresses of the login (HTTP ${status}). Try again later.`,
    )
  })
})
