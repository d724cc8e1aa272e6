import { parseOAuthMetadata, paths } from '@aiagent/protocol'
import { ManualClock } from '@aiagent/test-support'
import { decodeJwt, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { ServiceCaller } from '../../test/chat-client.ts'
import { createRandom } from '../random.ts'
import { tokenPaths } from './metadata.ts'

const start = () => {
  const clock = new ManualClock(1_790_000_000_000)
  const service = new ServiceCaller({ clock })
  const ask = async (path: string, form: Record<string, string>, headers: Record<string, string> = {}) => {
    const response = await service.emulator.fetch(service.emulator.origin + path, {
      method: 'POST',
      headers,
      body: new URLSearchParams(form),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { service, ask, ...service.emulator }
}

const anonymous = { client_id: 'clientId', client_secret: 'clientSecret', grant_type: 'client_credentials' }
const known = { client_id: 'demo-service', client_secret: 'demo-secret', grant_type: 'client_credentials' }

describe('metadata', () => {
  it.each([paths.metadataOfDeployment(), paths.metadataOfTenant('TEN0001')])(
    'contains the token endpoint (%s)',
    async path => {
      const { service, ask, origin } = start()
      const metadata = parseOAuthMetadata(await (await service.get(path)).json())
      const endpoint = metadata.authenticationDetails?.oAuthAnonymousCustomer?.[0]?.accessTokenURL ?? ''
      expect(endpoint).toBe(`${origin}/oauth/<DOMAIN_NAME>/anonymous/token`)
      expect(metadata.authenticationDetails?.apiPermissionPrefix).toBe('api://acme/')
      expect((await ask(new URL(endpoint.replace('<DOMAIN_NAME>', 'TEN0001')).pathname, anonymous)).status).toBe(200)
    },
  )

  it('answers 404 for an unknown tenant', async () => {
    const { service } = start()
    expect((await service.get(paths.metadataOfTenant('OTHER'))).status).toBe(404)
  })
})

describe('the anonymous endpoint', () => {
  it('grants every scope to the placeholder credentials, as a signed token', async () => {
    const { ask } = start()
    const { status, body } = await ask(tokenPaths.anonymous('TEN0001'), { ...anonymous, scope: 'api://acme/a b' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'api://acme/a b' })
    expect(decodeJwt(String(body.access_token))).toEqual({
      sub: 'anonymous',
      aud: 'TEN0001',
      scope: 'api://acme/a b',
      iat: 1_790_000_000,
      exp: 1_790_003_600,
      jti: '1',
    })
  })

  it('follows the setting for the lifetime of tokens', async () => {
    const { ask, settings } = start()
    settings.tokenLifeSeconds = 60
    const { body } = await ask(tokenPaths.anonymous('TEN0001'), anonymous)
    expect(body.expires_in).toBe(60)
    expect(decodeJwt(String(body.access_token)).exp).toBe(1_790_000_060)
  })
})

describe('the client-credentials endpoint', () => {
  it('accepts its clients, in the form or in a Basic header', async () => {
    const { ask } = start()
    const path = tokenPaths.clientCredentials('TEN0001')
    const inForm = await ask(path, known)
    expect(inForm.body.scope).toBe('knowledge.portalmgr.manage core.aiservices.read')
    expect(decodeJwt(String(inForm.body.access_token)).sub).toBe('demo-service')
    const authorization = `Basic ${btoa('demo-service:demo-secret')}`
    const inHeader = await ask(path, { grant_type: 'client_credentials', scope: 'only.this' }, { authorization })
    expect(inHeader).toMatchObject({ status: 200, body: { scope: 'only.this' } })
  })
})

describe('tokens', () => {
  it('are ordinary signed tokens: the secret verifies them', async () => {
    const { control } = start()
    const token = control.issueToken({ subject: 'somebody' })
    // The secret is the first thing that is drawn from the seed.
    const { payload } = await jwtVerify(token, createRandom(1).bytes(32), { currentDate: new Date(1_790_000_000_000) })
    expect(payload.sub).toBe('somebody')
    await expect(jwtVerify(token, createRandom(2).bytes(32))).rejects.toThrow('signature')
  })
})

describe('refusals', () => {
  it.each([
    ['anonymous', { ...anonymous, client_id: 'other' }, 401, 'invalid_client'],
    ['anonymous', { ...anonymous, client_secret: 'other' }, 401, 'invalid_client'],
    ['clientCredentials', { ...known, client_secret: 'other' }, 401, 'invalid_client'],
    ['clientCredentials', { ...known, client_id: 'other' }, 401, 'invalid_client'],
    ['clientCredentials', { grant_type: 'client_credentials' }, 401, 'invalid_client'],
    ['clientCredentials', { ...known, grant_type: 'password' }, 400, 'unsupported_grant_type'],
    ['anonymous', { client_id: 'clientId' }, 400, 'invalid_request'],
  ] as const)('%s %j is %i %s', async (endpoint, form, status, error) => {
    const { ask } = start()
    const answer = await ask(tokenPaths[endpoint]('TEN0001'), form)
    expect(answer).toMatchObject({ status, body: { error } })
    expect(answer.body.error_description).toMatch(/\.$/)
  })

  it('rejects another tenant, another encoding and a broken Basic header', async () => {
    const { ask } = start()
    const path = tokenPaths.clientCredentials('TEN0001')
    expect(await ask(tokenPaths.anonymous('OTHER'), anonymous)).toMatchObject({ status: 400 })
    expect(await ask(path, known, { 'content-type': 'application/json' })).toMatchObject({ status: 400 })
    const broken = { authorization: 'Basic %%%' }
    expect(await ask(path, { grant_type: 'client_credentials' }, broken)).toMatchObject({ status: 401 })
  })
})
