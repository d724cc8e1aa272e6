import { describe, expect, it } from 'vitest'
import { FakePage } from '../../test/fake-page.ts'
import { FakeService, fakeToken } from '../../test/fake-service.ts'
import type { ClientCredentialsAuthConfig } from './auth-strategy.ts'
import { AuthenticationService } from './authentication-service.ts'
import { ClientCredentialsAuthStrategy } from './client-credentials-strategy.ts'

const SECRET = 'sentinel-client-secret'
const config: ClientCredentialsAuthConfig = {
  tokenUrl: 'https://login.example.test/token',
  clientId: 'robot',
  clientSecret: SECRET,
}
const page = new FakePage()

function setUp(more: Partial<ClientCredentialsAuthConfig> = {}, lifeSeconds = 3600, apiDomain = 'api.example.test') {
  const service = new FakeService()
  let count = 0
  service.on('POST /token', () => ({
    access_token: fakeToken({ exp: service.clock.now() / 1000 + lifeSeconds, jti: ++count }),
  }))
  const strategy = new ClientCredentialsAuthStrategy({ ...config, ...more }, service.environment())
  void strategy.initialize({ deploymentInfo: { apiDomain } })
  return { service, strategy, clock: service.clock }
}

describe('client credentials', () => {
  it('[AUTH-04] obtain a token with the given id, secret and scopes', async () => {
    const { service, strategy } = setUp({ scopes: ['one', 'api://x/two'] })
    expect(await strategy.getToken()).toMatch(/^ey/)
    expect(Object.fromEntries(new URLSearchParams(service.seen[0]?.body))).toEqual({
      client_id: 'robot',
      client_secret: SECRET,
      grant_type: 'client_credentials',
      scope: 'one api://x/two',
    })
  })

  it('[AUTH-04] send no scopes if none are given', async () => {
    const { service, strategy } = setUp()
    await strategy.getToken()
    expect(new URLSearchParams(service.seen[0]?.body).has('scope')).toBe(false)
  })

  it('[AUTH-04] keep the token in memory and renew it five minutes before its expiry', async () => {
    const { service, strategy, clock } = setUp()
    const [first, same] = await Promise.all([strategy.getToken(), strategy.getToken()])
    expect(same).toBe(first)
    await clock.advance(3_299_999)
    expect(await strategy.getToken()).toBe(first)
    await clock.advance(1)
    expect(await strategy.getToken()).not.toBe(first)
    expect(service.seen).toHaveLength(2)
  })

  it('[AUTH-05] use a token with a short lifetime until it expires', async () => {
    const { service, strategy, clock } = setUp({}, 60)
    const first = await strategy.getToken()
    await clock.advance(59_999)
    expect(await strategy.getToken()).toBe(first)
    await clock.advance(1)
    await strategy.getToken()
    expect(service.seen).toHaveLength(2)
  })

  it('read the lifetime of an opaque token from the answer, and use a token without one until it is rejected', async () => {
    const { service, strategy, clock } = setUp()
    service.on('POST /token', { access_token: 'opaque', expires_in: 600 })
    await strategy.getToken()
    await clock.advance(299_999)
    await strategy.getToken()
    expect(service.seen).toHaveLength(1)
    service.on('POST /token', { access_token: 'endless' })
    await clock.advance(1)
    await strategy.getToken()
    await clock.advance(86_400_000)
    expect(await strategy.getToken()).toBe('endless')
    expect(service.seen).toHaveLength(2)
    await strategy.refresh()
    strategy.logout()
    await strategy.getToken()
    expect(service.seen).toHaveLength(4)
  })

  it('[AUTH-04] are rejected in a browser, unless allowed', async () => {
    const environment = new FakeService().environment({ page })
    const make = (allowInBrowser?: boolean) =>
      new AuthenticationService({ type: 'client-credentials', config: { ...config, allowInBrowser } }, { environment })
    expect(() => make()).toThrow(expect.objectContaining({ name: 'AuthError', reason: 'not_supported' }))
    expect(make(true).getAuthenticationType()).toBe('client-credentials')
  })

  it.each(['tokenUrl', 'clientId', 'clientSecret'] as const)('are rejected when %s is missing', field => {
    expect(() => setUp({ [field]: ' ' })).toThrow(
      expect.objectContaining({ reason: 'invalid_input', message: expect.stringContaining(field) }),
    )
  })

  it('do not send the secret over plain http, unless the deployment itself uses it', async () => {
    const tokenUrl = 'http://login.example.test/token'
    const refused = setUp({ tokenUrl })
    await expect(refused.strategy.getToken()).rejects.toMatchObject({ reason: 'token_request_failed' })
    expect(refused.service.seen).toEqual([])
    expect(await setUp({ tokenUrl }, 3600, 'http://api.example.test').strategy.getToken()).toMatch(/^ey/)
  })

  it('report the status of a rejection without the secret', async () => {
    const { service, strategy } = setUp()
    service.on('POST /token', Response.json({ error: 'invalid_client', error_description: SECRET }, { status: 401 }))
    const error = await strategy.authenticate().catch((caught: unknown) => caught)
    expect(error).toMatchObject({ name: 'AuthError', reason: 'token_request_failed', status: 401 })
    expect(`${(error as Error).stack} ${JSON.stringify(error)}`).not.toContain(SECRET)
  })
})
