import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { FakeService, fakeToken } from '../../test/fake-service.ts'
import type { AuthenticationInput, AuthenticationServiceOptions } from './auth-strategy.ts'
import { AuthenticationService } from './authentication-service.ts'

const deploymentInfo = { apiDomain: 'api.example.test' }

/** A service with a handler of user changes that records the token in use while it runs. */
async function setUp(input: (issue: (claims: object) => string) => AuthenticationInput | undefined) {
  const service = new FakeService()
  let count = 0
  const issue = (claims: object) => fakeToken({ exp: service.clock.now() / 1000 + 3600, jti: ++count, ...claims })
  service.on('GET /core/authmgr/v3/metadata/deployment', {
    authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: 'https://login.example.test/token' }] },
  })
  service.on('POST /token', () => ({ access_token: issue({ sub: `anonymous ${count}` }) }))
  const changes: (string | null)[] = []
  const options: AuthenticationServiceOptions = {
    environment: service.environment(),
    onUserChange: () => void changes.push(auth.getCachedToken()),
  }
  const auth = new AuthenticationService(input(issue), options)
  await auth.initialize({ deploymentInfo })
  return { auth, clock: service.clock, issue, changes, options }
}

const preAuth = (claims: object) => (issue: (claims: object) => string) =>
  ({ type: 'pre-auth', accessToken: issue(claims) }) as const

describe('a token of another user', () => {
  it('[SEC-02] is reported before it is used, when a provider returns it', async () => {
    let token = ''
    const { auth, changes, issue } = await setUp(() => ({ getToken: () => token }))
    token = issue({ sub: 'ada' })
    await auth.getToken()
    token = issue({ sub: 'ada' })
    await auth.getToken()
    expect(changes).toEqual([])
    token = issue({ sub: 'bob' })
    expect(await auth.getToken()).toBe(token)
    expect(changes).toEqual([null])
  })

  it('[SEC-02] is reported when a renewal returns it', async () => {
    const renewed: string[] = []
    const { auth, changes, issue } = await setUp(make => ({
      type: 'pre-auth',
      accessToken: make({ sub: 'ada' }),
      refreshTokenFn: () => renewed[0] ?? '',
    }))
    await auth.getToken()
    renewed.push(issue({ sub: 'bob' }))
    expect(await auth.refresh()).toBe(renewed[0])
    expect(changes).toEqual([null])
  })

  it('[SEC-02] is reported when the host supplies it, and not twice', async () => {
    const { auth, changes, issue } = await setUp(preAuth({ sub: 'ada' }))
    await auth.getToken()
    const next = issue({ sub: 'bob' })
    await auth.updateToken(next)
    expect([await auth.getToken(), changes]).toEqual([next, [null]])
  })

  it('[SEC-02] is the one in use when the host supplies it right after one of the previous user', async () => {
    const { auth, issue } = await setUp(preAuth({ sub: 'ada' }))
    await auth.getToken()
    const [earlier, later] = [issue({ sub: 'ada' }), issue({ sub: 'bob' })]
    await Promise.all([auth.updateToken(earlier), auth.updateToken(later)])
    expect(await auth.getToken()).toBe(later)
  })

  it('[SEC-02] does not reach the strategy of the host after a sign-out, whenever that comes', async () => {
    for (let ticks = 0; ticks < 25; ticks++) {
      const given: string[] = []
      const updateToken = (token: string) => void given.push(token)
      const { auth, issue } = await setUp(() => ({
        initialize() {},
        authenticate() {},
        getToken: () => '',
        updateToken,
      }))
      const updating = auth.updateToken(issue({ sub: 'ada' })).catch(() => {})
      for (let tick = 0; tick < ticks; tick++) await undefined
      const leaving = auth.logout()
      const before = given.length
      await Promise.all([leaving, updating])
      expect(given.length).toBe(before)
    }
  })

  it('[SEC-02] is one with the same subject of another issuer', async () => {
    const { auth, changes, issue } = await setUp(preAuth({ iss: 'https://staff.test', sub: '1001' }))
    await auth.getToken()
    await auth.updateToken(issue({ iss: 'https://customers.test', sub: '1001' }))
    expect(changes).toEqual([null])
  })

  it('[SEC-02] reaches no caller before the handler has finished', async () => {
    const { auth, issue, options } = await setUp(preAuth({ sub: 'ada' }))
    await auth.getToken()
    let finish = () => {}
    options.onUserChange = () => new Promise<void>(resolve => (finish = resolve))
    const next = issue({ sub: 'bob' })
    const order: string[] = []
    const updated = auth.updateToken(next).then(() => order.push('updated'))
    const asked = auth.getToken().then(token => order.push(token === next ? 'token of the next user' : 'another token'))
    await turnEventLoop()
    expect(order).toEqual([])
    finish()
    await Promise.all([updated, asked])
    expect(order.sort()).toEqual(['token of the next user', 'updated'])
  })

  it('[SEC-02] is not used when the handler fails, and reported again with the next token', async () => {
    const { auth, issue, options } = await setUp(preAuth({ sub: 'ada' }))
    const first = await auth.getToken()
    let calls = 0
    options.onUserChange = () => {
      calls++
      if (calls === 1) throw new Error('The store is full')
    }
    await expect(auth.updateToken(issue({ sub: 'bob' }))).rejects.toMatchObject({ reason: 'token_request_failed' })
    expect(await auth.getToken()).toBe(first)
    await auth.updateToken(issue({ sub: 'bob' }))
    expect(calls).toBe(2)
  })

  it('[SEC-02] may be an unreadable one, if the host says so', async () => {
    const { auth, changes } = await setUp(() => ({ type: 'pre-auth', accessToken: 'opaque 1' }))
    await auth.getToken()
    await auth.updateToken('opaque 2')
    expect(changes).toEqual([])
    await auth.updateToken('opaque 3', { userChanged: true })
    expect(changes).toEqual([null])
  })

  it('[SEC-02] is detected although a token between the two was unreadable', async () => {
    const { auth, changes, issue } = await setUp(preAuth({ sub: 'ada' }))
    await auth.getToken()
    await auth.updateToken('opaque')
    await auth.updateToken(issue({ sub: 'bob' }))
    expect(changes).toEqual([null])
  })

  it('[SEC-02] is not reported after an anonymous token; an anonymous one after it is reported', async () => {
    const { auth, changes, issue, clock } = await setUp(() => undefined)
    await auth.getToken()
    await auth.refresh()
    await auth.updateToken(issue({ sub: 'ada' }))
    expect(changes).toEqual([])
    await clock.advance(3_400_000)
    await auth.getToken()
    expect(changes).toEqual([null])
  })

  it('[SEC-02] is not reported after a logout, which has removed everything already', async () => {
    const { auth, changes, issue } = await setUp(preAuth({ sub: 'ada' }))
    await auth.getToken()
    await auth.logout()
    await auth.updateToken(issue({ sub: 'bob' }))
    expect(changes).toEqual([])
  })
})

describe('a host function that does not settle', () => {
  it('[REL-50] costs its callers an AuthError after 30 seconds, and later callers nothing', async () => {
    let answer: (() => Promise<string>) | undefined
    const { auth, clock } = await setUp(() => ({
      getToken: () => answer?.() ?? new Promise<string>(() => {}),
    }))
    const asked = auth.getToken().catch(error => error.reason)
    await clock.advance(30_000)
    expect(await asked).toBe('token_request_failed')
    answer = async () => 'well again'
    expect(await auth.getToken()).toBe('well again')
    expect(clock.pendingTimers).toBe(0)
  })

  it('[REL-50] blocks no caller after updateToken()', async () => {
    const { auth, issue } = await setUp(make => ({
      type: 'pre-auth',
      accessToken: make({ sub: 'ada' }),
      refreshTokenFn: () => new Promise<string>(() => {}),
    }))
    const waiting = [auth.refresh(), auth.getToken()]
    await turnEventLoop()
    const given = issue({ sub: 'ada' })
    await auth.updateToken(given)
    expect(await Promise.all(waiting)).toEqual([given, given])
    expect(await auth.getToken()).toBe(given)
  })

  it('[REL-50] blocks no caller after logout(), including the next user', async () => {
    let isStuck = true
    const { auth, clock } = await setUp(() => ({
      getToken: () => (isStuck ? new Promise<string>(() => {}) : 'of the next user'),
    }))
    const asked = auth.getToken().catch(error => error.reason)
    await turnEventLoop()
    await auth.logout()
    expect(await asked).toBe('token_missing')
    isStuck = false
    await auth.initialize({ deploymentInfo })
    expect(await auth.getToken()).toBe('of the next user')
    expect(clock.pendingTimers).toBe(0)
  })

  it.each(['logout', 'cleanup'] as const)('[REL-50] ends a sign-in with %s()', async end => {
    const { auth } = await setUp(() => ({
      initialize() {},
      authenticate: () => new Promise<void>(() => {}),
      getToken: () => 'token',
    }))
    const signingIn = auth.authenticate().catch(error => error.reason)
    await auth[end]()
    expect(await signingIn).toBe('token_missing')
  })

  it('[REL-50] ends a sign-in with the signal of its caller', async () => {
    const { auth } = await setUp(() => ({
      initialize() {},
      authenticate: () => new Promise<void>(() => {}),
      getToken: () => 'token',
    }))
    const caller = new AbortController()
    const signingIn = auth.authenticate({ signal: caller.signal }).catch(error => error.reason)
    caller.abort()
    expect(await signingIn).toBe('token_missing')
  })

  it('[REL-50] keeps the message of its own error, without anything that looks like a token', async () => {
    const token = fakeToken({ sub: 'ada' })
    const cause = new Error(`Backend said 503 for ${token}.`)
    const { auth } = await setUp(() => ({ getToken: () => Promise.reject(cause) }))
    const error = await auth.getToken().catch(each => each)
    expect(error).toMatchObject({ name: 'AuthError', reason: 'token_request_failed', cause })
    expect(error.message).toContain('Backend said 503')
    expect(error.message).not.toContain(token)
  })
})

it('[REL-51] limits refreshes forced by rejected tokens: three at once, then one in five seconds', async () => {
  const refreshedAt: number[] = []
  const { auth, clock } = await setUp(() => ({
    initialize() {},
    authenticate() {},
    getToken: () => 'token',
    refresh: () => {
      refreshedAt.push(clock.now())
      return `token ${refreshedAt.length}`
    },
  }))
  const begin = clock.now()
  let isRefusing = true
  const service = (async () => {
    while (isRefusing) await auth.refresh()
  })()
  await clock.advance(20_000)
  isRefusing = false
  await clock.advance(5_000)
  await service
  expect(refreshedAt.map(at => at - begin).slice(0, 5)).toEqual([0, 0, 0, 5_000, 10_000])
  await clock.advance(60_000)
  const before = clock.now()
  await auth.refresh()
  expect(refreshedAt.at(-1)).toBe(before)
})

it('[AUTH-07] rejects a token that has expired and cannot be renewed, but not one inside the buffer', async () => {
  const { auth, clock } = await setUp(preAuth({ sub: 'ada' }))
  const token = await auth.getToken()
  await clock.advance(3_599_000)
  expect(await auth.getToken()).toBe(token)
  await clock.advance(1_000)
  await expect(auth.getToken()).rejects.toMatchObject({ reason: 'token_missing' })
})

it.each(['before', 'later'])(
  '[REL-07] rejects a token that has expired before it is first requested: supplied %s',
  async when => {
    const iat = new FakeService().clock.now() / 1000
    const { auth, clock, issue } = await setUp(preAuth({ sub: 'ada', iat }))
    if (when === 'later') await auth.updateToken(issue({ sub: 'ada', iat }))
    await clock.advance(3_601_000)
    await expect(auth.getToken()).rejects.toMatchObject({ reason: 'token_missing' })
  },
)

it('[AUTH-24] ignores the argument of postAuthentication', async () => {
  for (const passed of [undefined, null, 'text', { accessToken: 'other' }, 7]) {
    let complete: ((result?: unknown) => unknown) | undefined
    const { auth } = await setUp(() => ({
      initialize: ({ postAuthentication }) => void (complete = postAuthentication),
      authenticate: async () => void (await complete?.(passed)),
      getToken: () => 'the token',
    }))
    const told: string[] = []
    await auth.initialize({ deploymentInfo, postAuthentication: ({ accessToken }) => void told.push(accessToken) })
    await auth.authenticate()
    expect([told, auth.getCachedToken()]).toEqual([['the token'], 'the token'])
  }
})
