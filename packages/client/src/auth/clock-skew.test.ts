import { describe, expect, it, vi } from 'vitest'
import { payloadsOf, rejection, setUp as setUpAgent } from '../../test/agent-harness.ts'
import { FakeProvider } from '../../test/fake-login.ts'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import { FakeService, FakeStorage, fakeToken } from '../../test/fake-service.ts'
import type { AuthenticationInput } from './auth-strategy.ts'
import { AuthenticationService } from './authentication-service.ts'

const deploymentInfo = { apiDomain: 'api.example.test', tenantId: 'T1' }
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

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
  const correct = () => {
    clock.shiftWallClock(-hoursAhead * HOUR_MS)
    hoursAhead = 0
  }
  return { auth, clock, expiring, requests, correct }
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

describe('a stored anonymous token', () => {
  /** Pages of a tab, on a device whose clock is two hours ahead at first. */
  async function setUpTab() {
    const service = new FakeService()
    const { clock } = service
    service.on('GET /core/authmgr/v3/metadata/deployment', {
      authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: 'https://login.example.test/token' }] },
    })
    let count = 0
    let hoursAhead = 2
    service.on('POST /token', () => {
      const iat = Math.floor((clock.now() - hoursAhead * HOUR_MS) / 1000)
      return { access_token: fakeToken({ iat, exp: iat + 3600, jti: ++count }), expires_in: 3600 }
    })
    const environment = service.environment({ sessionStorage: new FakeStorage() })
    const open = async () => {
      const auth = new AuthenticationService(undefined, { environment })
      await auth.initialize({ deploymentInfo })
      return auth
    }
    const correct = () => {
      clock.shiftWallClock(-hoursAhead * HOUR_MS)
      hoursAhead = 0
    }
    return { clock, open, correct }
  }

  it.each(['the page that obtained it', 'the next page'])(
    '[AUTH-05] is not returned after its own expiry, although the clock was ahead when it was stored: %s',
    async page => {
      const { clock, open, correct } = await setUpTab()
      const first = await open()
      const token = await first.getToken()
      expect(await first.getToken()).toBe(token)
      correct()
      const later = page === 'the next page' ? await open() : first
      expect(await later.getToken()).toBe(token)
      await clock.advance(HOUR_MS)
      expect(await later.getToken()).not.toBe(token)
    },
  )
})

it('[AUTH-05] an anonymous token is renewed before it expires although the clock was set back meanwhile', async () => {
  const { auth, clock, requests } = await setUp('anonymous', 0)
  const token = await auth.getToken()
  clock.shiftWallClock(-48 * HOUR_MS)
  await clock.advance(54 * MINUTE_MS)
  expect([await auth.getToken(), requests()]).toEqual([token, 1])
  await clock.advance(2 * MINUTE_MS)
  expect(await auth.getToken()).not.toBe(token)
  await auth.cleanup()
})

/** Agents whose clock is some hours ahead of that of the service, with tokens of the host that are valid for 15 minutes. */
function setUpHost(hoursAhead: number) {
  const { clock, emulator, make } = setUpAgent()
  const ahead = { now: () => clock.now() + hoursAhead * HOUR_MS }
  const issue = () => emulator.control.issueToken({ subject: 'customer', lifeSeconds: 15 * 60 })
  const makeAgent = (auth: AuthenticationInput) =>
    make({ id: 'account', auth }, { clock: Object.assign(Object.create(clock), clock, ahead) })
  return { clock, issue, makeAgent }
}

describe.each([-3, 3, 48])('tokens of the host on a device whose clock is %i hours ahead', hours => {
  it.each(['a token', 'a token and its renewal', 'a provider'])('[REL-39] open a chat, from %s', async kind => {
    const { clock, issue, makeAgent } = setUpHost(hours)
    let token = issue()
    const renew = vi.fn(async () => (token = issue()))
    const auth = {
      'a token': { type: 'pre-auth', accessToken: token },
      'a token and its renewal': { type: 'pre-auth', accessToken: token, refreshTokenFn: renew },
      'a provider': { getToken: async () => token },
    }[kind] as AuthenticationInput
    const { agent, told } = makeAgent(auth)
    await agent.initialize()
    await agent.connect()
    await clock.advance(8 * MINUTE_MS)
    expect(await agent.getAccessToken()).toBe(token)
    expect([renew.mock.calls.length, payloadsOf(told, 'tokenExpiring')]).toEqual([0, []])
    // The end of the token is still noticed.
    await clock.advance(3 * MINUTE_MS)
    if (kind === 'a token and its renewal') expect(renew).toHaveBeenCalled()
    else expect(payloadsOf(told, 'tokenExpiring').filter(({ reason }) => reason === 'expiring')).toHaveLength(1)
    if (kind === 'a provider') token = issue()
    if (kind !== 'a token') expect(await agent.getAccessToken()).toBe(token)
    await clock.advance(5 * MINUTE_MS)
    if (kind === 'a token')
      expect(await rejection(agent.getAccessToken())).toMatchObject({ name: 'AuthError', reason: 'token_missing' })
    await agent.destroy()
  })
})

it('[REL-39] a new token of a provider is used although the clock of the device was set ahead meanwhile', async () => {
  const service = new FakeService()
  const { clock } = service
  const realTime = clock.now()
  const issue = (at: number) => fakeToken({ iat: at / 1000, exp: at / 1000 + 3600, sub: 'customer' })
  let token = issue(realTime)
  const auth = new AuthenticationService({ getToken: () => token }, { environment: service.environment() })
  await auth.initialize({ deploymentInfo })
  expect(await auth.getToken()).toBe(token)
  clock.shiftWallClock(5 * HOUR_MS)
  // The same token again looks expired.
  await expect(auth.getToken()).rejects.toMatchObject({ reason: 'token_missing' })
  token = issue(realTime + 1_000)
  expect(await auth.getToken()).toBe(token)
  // After the clock is right again, the expiry of the next token is too.
  clock.shiftWallClock(-5 * HOUR_MS)
  token = issue(realTime + 2_000)
  expect(await auth.getToken()).toBe(token)
  await clock.advance(HOUR_MS + 10_000)
  await expect(auth.getToken()).rejects.toMatchObject({ reason: 'token_missing' })
  await auth.cleanup()
})

it('[REL-39] a token of a provider is used again after a clock that was set back has been corrected', async () => {
  const service = new FakeService()
  const { clock } = service
  const token = fakeToken({ iat: clock.now() / 1000, exp: clock.now() / 1000 + 3600, sub: 'customer' })
  const auth = new AuthenticationService({ getToken: () => token }, { environment: service.environment() })
  await auth.initialize({ deploymentInfo })
  clock.shiftWallClock(-48 * HOUR_MS)
  expect(await auth.getToken()).toBe(token)
  await clock.advance(10 * MINUTE_MS)
  expect(await auth.getToken()).toBe(token)
  clock.shiftWallClock(48 * HOUR_MS)
  expect(await auth.getToken()).toBe(token)
  await clock.advance(50 * MINUTE_MS)
  await expect(auth.getToken()).rejects.toMatchObject({ reason: 'token_missing' })
  await auth.cleanup()
})

it.each(['a token', 'a provider'])(
  '[REL-39] %s ends with its expiry after a clock that was ahead is corrected',
  async kind => {
    const service = new FakeService()
    const { clock } = service
    const issuedAt = clock.now()
    clock.shiftWallClock(2 * HOUR_MS)
    const token = fakeToken({ iat: issuedAt / 1000, exp: issuedAt / 1000 + 3600, sub: 'customer' })
    const input: AuthenticationInput =
      kind === 'a token' ? { type: 'pre-auth', accessToken: token } : { getToken: () => token }
    const auth = new AuthenticationService(input, { environment: service.environment() })
    await auth.initialize({ deploymentInfo })
    expect(await auth.getToken()).toBe(token)
    await clock.advance(30 * MINUTE_MS)
    clock.shiftWallClock(-2 * HOUR_MS)
    expect(await auth.getToken()).toBe(token)
    await clock.advance(31 * MINUTE_MS)
    await expect(auth.getToken()).rejects.toMatchObject({ reason: 'token_missing' })
    await auth.cleanup()
  },
)

it('[AUTH-07] a token of the host is reported five minutes before its expiry after a clock that was ahead is corrected', async () => {
  const service = new FakeService()
  const { clock } = service
  const issuedAt = clock.now()
  clock.shiftWallClock(2 * HOUR_MS)
  const accessToken = fakeToken({ iat: issuedAt / 1000, exp: issuedAt / 1000 + 3600, sub: 'customer' })
  const auth = new AuthenticationService({ type: 'pre-auth', accessToken }, { environment: service.environment() })
  const reported: number[] = []
  auth.setTokenExpiringCallback(() => reported.push(clock.now() - issuedAt))
  await auth.initialize({ deploymentInfo })
  await auth.getToken()
  await clock.advance(30 * MINUTE_MS)
  clock.shiftWallClock(-2 * HOUR_MS)
  await clock.advance(25 * MINUTE_MS - 1_000)
  expect(reported).toEqual([])
  await clock.advance(2_000)
  expect(reported).toEqual([55 * MINUTE_MS])
  await auth.cleanup()
})

describe('a clock that was two hours ahead is corrected', () => {
  const AHEAD_MS = 2 * HOUR_MS

  it('[AUTH-07] the reported expiry of the token is by the corrected clock', async () => {
    const service = new FakeService()
    const { clock } = service
    const issuedAt = clock.now()
    clock.shiftWallClock(AHEAD_MS)
    const accessToken = fakeToken({ iat: issuedAt / 1000, exp: issuedAt / 1000 + 3600, sub: 'customer' })
    const auth = new AuthenticationService({ type: 'pre-auth', accessToken }, { environment: service.environment() })
    const expiring: number[] = []
    auth.setTokenExpiringCallback(({ expiresAt }) => expiring.push(expiresAt))
    await auth.initialize({ deploymentInfo })
    await auth.getToken()
    clock.shiftWallClock(-AHEAD_MS)
    await clock.advance(HOUR_MS)
    expect(expiring).toEqual([issuedAt + HOUR_MS])
    await auth.cleanup()
  })

  it('[AUTH-05] a token that the host supplied is replaced by one of the strategy before it expires', async () => {
    const { auth, clock, correct } = await setUp('anonymous', 2)
    const issuedAt = clock.now() - AHEAD_MS
    const supplied = fakeToken({ iat: issuedAt / 1000, exp: issuedAt / 1000 + 3600, jti: 'supplied' })
    await auth.updateToken(supplied)
    correct()
    await clock.advance(54 * MINUTE_MS)
    expect(await auth.getToken()).toBe(supplied)
    await clock.advance(2 * MINUTE_MS)
    expect(await auth.getToken()).not.toBe(supplied)
    await auth.cleanup()
  })

  it('[AUTH-05] client credentials are renewed before they expire', async () => {
    const { auth, clock, correct, requests } = await setUp('client-credentials', 2)
    const token = await auth.getToken()
    correct()
    await clock.advance(54 * MINUTE_MS)
    expect([await auth.getToken(), requests()]).toEqual([token, 1])
    await clock.advance(2 * MINUTE_MS)
    expect(await auth.getToken()).not.toBe(token)
    await auth.cleanup()
  })

  it('[AUTH-05] a token of `refreshTokenFn` is renewed before it expires', async () => {
    const service = new FakeService()
    const { clock } = service
    let hoursAhead = 2
    let count = 0
    const issue = () => {
      const iat = clock.now() / 1000 - hoursAhead * 3600
      return fakeToken({ iat, exp: iat + 3600, jti: ++count, sub: 'ann' })
    }
    clock.shiftWallClock(AHEAD_MS)
    const input: AuthenticationInput = { type: 'pre-auth', accessToken: issue(), refreshTokenFn: issue }
    const auth = new AuthenticationService(input, { environment: service.environment() })
    await auth.initialize({ deploymentInfo })
    const token = await auth.refresh()
    clock.shiftWallClock(-AHEAD_MS)
    hoursAhead = 0
    await clock.advance(54 * MINUTE_MS)
    expect(await auth.getToken()).toBe(token)
    await clock.advance(2 * MINUTE_MS)
    expect(await auth.getToken()).not.toBe(token)
    await auth.cleanup()
  })

  it('[AUTH-08] the token of a login is renewed before it expires', async () => {
    const service = new FakeService()
    const { clock } = service
    const provider = new FakeProvider()
    let hoursAhead = 2
    let count = 0
    const session = async () => {
      const iat = clock.now() / 1000 - hoursAhead * 3600
      return {
        accessToken: fakeToken({ iat, exp: iat + 3600, jti: ++count, sub: 'ann' }),
        // As a token endpoint answers, by the clock of this device.
        expiresAt: clock.now() + HOUR_MS,
      }
    }
    provider.signIn = provider.renewed = session
    const environment = service.environment({ page: pageWithWindow({ location: { href: 'https://app.test/' } }) })
    const login = provider.login(
      { clientId: 'client', redirectUri: 'https://app.test/callback.html', knownAuthorities: ['login.test'] },
      { environment },
    )
    const auth = new AuthenticationService(login, { environment })
    await auth.initialize({ deploymentInfo })
    await auth.authenticate()
    const token = await auth.getToken()
    clock.shiftWallClock(-2 * HOUR_MS)
    hoursAhead = 0
    await clock.advance(54 * MINUTE_MS)
    expect(await auth.getToken()).toBe(token)
    await clock.advance(2 * MINUTE_MS)
    expect(await auth.getToken()).not.toBe(token)
    await auth.cleanup()
  })
})
