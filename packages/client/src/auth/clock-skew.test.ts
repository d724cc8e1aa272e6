import { describe, expect, it } from 'vitest'
import { FakeService, fakeToken } from '../../test/fake-service.ts'
import { AuthenticationService } from './authentication-service.ts'

const deploymentInfo = { apiDomain: 'api.example.test', tenantId: 'T1' }
const HOUR_MS = 3_600_000

/** A service with a clock some hours behind that of the client. Its tokens are valid for an hour. */
async function setUp(input: 'anonymous' | 'client-credentials', hoursAhead: number) {
  const service = new FakeService()
  const { clock } = service
  service.on('GET /core/authmgr/v3/metadata/deployment', {
    authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: 'https://login.example.test/token' }] },
  })
  let count = 0
  service.on('POST /token', () => {
    const iat = Math.floor((clock.now() - hoursAhead * HOUR_MS) / 1000)
    return { access_token: fakeToken({ iat, exp: iat + 3600, jti: ++count }), expires_in: 3600 }
  })
  const config = { tokenUrl: 'https://login.example.test/token', clientId: 'me', clientSecret: 'secret' }
  const auth = new AuthenticationService(input === 'anonymous' ? undefined : { type: input, config }, {
    environment: service.environment(),
  })
  const expiring: number[] = []
  auth.setTokenExpiringCallback(({ expiresAt }) => expiring.push(expiresAt))
  await auth.initialize({ deploymentInfo })
  const requests = () => service.seen.filter(({ path }) => path === '/token').length
  return { auth, clock, expiring, requests }
}

describe.each([-3, 3, 48])('a clock that is %i hours ahead', hours => {
  it.each(['anonymous', 'client-credentials'] as const)('[REL-53] costs no further %s tokens', async input => {
    const { auth, clock, expiring, requests } = await setUp(input, hours)
    const token = await auth.getToken()
    await clock.advance(0.9 * HOUR_MS)
    expect([await auth.getToken(), requests(), expiring]).toEqual([token, 1, []])
    await clock.advance(0.05 * HOUR_MS)
    expect(await auth.getToken()).not.toBe(token)
    expect([requests(), expiring.length]).toEqual([2, 1])
  })
})
