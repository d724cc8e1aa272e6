import { createEmulator } from '@aiagent/emulator'
import { eventually, ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { failure } from '../../test/api-set-up.ts'
import { FakeService, FakeStorage, fakeToken } from '../../test/fake-service.ts'
import { AuthError } from '../errors.ts'
import type { Environment } from '../platform/environment.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { AnonymousAuthStrategy } from './anonymous-strategy.ts'
import type { AnonymousAuthConfig, AuthenticationResult } from './auth-strategy.ts'
import { scopeFingerprint } from './scopes.ts'

const METADATA = '/core/authmgr/v3/metadata/deployment'
const TOKEN_PATH = '/TEN0001/token'
const deploymentInfo = { apiDomain: 'api.example.test', tenantId: 'TEN0001' }
const metadata = {
  authenticationDetails: {
    oAuthAnonymousCustomer: [{ accessTokenURL: 'https://login.example.test/<DOMAIN_NAME>/token' }],
    apiPermissionPrefix: 'api://acme/',
  },
}

/** A service that issues numbered tokens with a lifetime in seconds. */
function setUp(
  { life = 3600, ...config }: AnonymousAuthConfig & { life?: number } = {},
  overrides: Partial<Environment> = {},
) {
  const service = new FakeService()
  let count = 0
  service.on(`GET ${METADATA}`, metadata)
  service.on(`POST ${TOKEN_PATH}`, () => {
    const exp = service.clock.now() / 1000 + life
    return { access_token: fakeToken({ exp, jti: ++count }), expires_in: life }
  })
  const environment = service.environment(overrides)
  const make = () => {
    const strategy = new AnonymousAuthStrategy(config, environment)
    strategy.initialize({ deploymentInfo })
    return strategy
  }
  const requests = (path: string) => service.seen.filter(request => request.path === path)
  return { service, environment, make, strategy: make(), requests }
}

describe('AnonymousAuthStrategy', () => {
  it('[AUTH-02] sends the placeholder credentials, in the field order of the gateway, with prefixed scopes', async () => {
    const { strategy, requests } = setUp()
    await strategy.getToken()
    const [request] = requests(TOKEN_PATH)
    expect(request?.url).toBe('https://login.example.test/TEN0001/token')
    expect([...new URLSearchParams(request?.body)]).toEqual([
      ['client_id', 'clientId'],
      ['client_secret', 'clientSecret'],
      ['grant_type', 'client_credentials'],
      ['scope', 'api://acme/knowledge.portalmgr.manage api://acme/core.aiservices.read'],
    ])
    expect(request?.headers.get('content-type')).toBe('application/x-www-form-urlencoded')
    expect(request?.headers.get('accept')).toBe('application/json')
    expect(request?.headers.get('authorization')).toBeNull()
  })

  it('[AUTH-13] stores the token in session storage, under a key with the fingerprint of its scopes', async () => {
    const sessionStorage = new FakeStorage()
    const { strategy } = setUp({}, { sessionStorage })
    const token = await strategy.getToken()
    const fingerprint = scopeFingerprint(['core.aiservices.read', 'knowledge.portalmgr.manage'])
    const key = [...sessionStorage.items.keys()].find(each => each.endsWith(`:anonymous_token:${fingerprint}`))
    expect(key).toMatch(/^aiagent_auth_TEN0001:/)
    expect(JSON.parse(sessionStorage.getItem(key ?? '') ?? '').value.accessToken).toBe(token)
  })

  it('[AUTH-13] never uses a token of a smaller scope set for a larger one, and reuses each for its own set', async () => {
    const { strategy, requests } = setUp()
    strategy.updateScopes(['a'])
    const small = await strategy.getToken()
    strategy.updateScopes(['a', 'b'])
    const large = await strategy.getToken()
    expect(large).not.toBe(small)
    strategy.updateScopes(['b', ' a', 'b'])
    expect(await strategy.getToken()).toBe(large)
    strategy.updateScopes(['a'])
    expect(await strategy.getToken()).toBe(small)
    expect(requests(TOKEN_PATH)).toHaveLength(2)
    expect(requests(METADATA)).toHaveLength(1)
  })

  it.each([
    null,
    'token',
    {},
    { accessToken: 'planted' },
    { accessToken: 'planted', expiresAt: '9999999999999' },
    { accessToken: '', expiresAt: 9_999_999_999_999 },
    { accessToken: 7, expiresAt: 9_999_999_999_999 },
    { expiresAt: 9_999_999_999_999 },
  ])('ignores a stored %j', async value => {
    const sessionStorage = new FakeStorage()
    const first = setUp({}, { sessionStorage })
    const token = await first.strategy.getToken()
    const [key = ''] = [...sessionStorage.items.keys()].filter(each => each.includes(':anonymous_token:'))
    const stored = JSON.parse(sessionStorage.getItem(key) ?? '{}')
    sessionStorage.setItem(key, JSON.stringify({ ...stored, value }))
    const { strategy } = setUp({}, { sessionStorage })
    expect(await strategy.getToken()).toBe(token)
    expect(JSON.parse(sessionStorage.getItem(key) ?? '{}').value).toMatchObject({ accessToken: token })
  })

  it('[AUTH-13] ignores an entry without a fingerprint', async () => {
    const sessionStorage = new FakeStorage()
    const planted = JSON.stringify({ value: { accessToken: 'planted', expiresAt: 9e15 }, timestamp: 1 })
    sessionStorage.setItem('aiagent_auth_TEN0001:anonymous_token', planted)
    sessionStorage.setItem('aiagent_auth_TEN0001:https://api.example.test:anonymous_token:', planted)
    const { strategy } = setUp({}, { sessionStorage })
    expect(await strategy.getToken()).not.toBe('planted')
  })

  it('keeps the token in cleanup(), so that a remount reuses it', async () => {
    const { strategy, make, requests } = setUp()
    const token = await strategy.getToken()
    strategy.cleanup()
    expect(await make().getToken()).toBe(token)
    expect(requests(TOKEN_PATH)).toHaveLength(1)
  })

  it('never returns a refused token while a new one is requested', async () => {
    const { service, strategy, make, requests } = setUp()
    const refused = await strategy.getToken()
    let answer = () => {}
    service.on(`POST ${TOKEN_PATH}`, () => {
      return new Promise(resolve => {
        answer = () => resolve(Response.json({ access_token: fakeToken({ exp: 9e9, jti: 'new' }), expires_in: 3600 }))
      })
    })
    const refreshed = strategy.refresh()
    const other = make().getToken()
    await eventually(() => requests(TOKEN_PATH).length === 2)
    answer()
    expect(await other).toBe(await refreshed)
    expect(await other).not.toBe(refused)
  })

  it('requests a new token after clearTokenCache(), and the metadata after clearMetadataCache()', async () => {
    const { strategy, requests } = setUp()
    const token = await strategy.getToken()
    await strategy.clearMetadataCache()
    expect(await strategy.getToken()).toBe(token)
    await strategy.clearTokenCache()
    expect(await strategy.getToken()).not.toBe(token)
    expect([requests(TOKEN_PATH).length, requests(METADATA).length]).toEqual([2, 2])
  })

  it('stores no token that was requested before clearTokenCache()', async () => {
    const { service, strategy, make, requests } = setUp()
    const answers: ((jti: string) => void)[] = []
    service.on(`POST ${TOKEN_PATH}`, () => {
      const respond = (jti: string) => Response.json({ access_token: fakeToken({ exp: 9e9, jti }), expires_in: 3600 })
      return new Promise(resolve => answers.push(jti => resolve(respond(jti))))
    })
    const before = strategy.getToken()
    await eventually(() => answers.length === 1)
    await strategy.clearTokenCache()
    answers[0]?.('old')
    const old = await before
    const after = make().getToken()
    await eventually(() => answers.length === 2)
    answers[1]?.('new')
    expect(await after).not.toBe(old)
    expect(await make().getToken()).toBe(await after)
    expect(requests(TOKEN_PATH)).toHaveLength(2)
  })

  it('replaces a token five minutes before its expiry', async () => {
    const { service, strategy } = setUp({ life: 3600 })
    const token = await strategy.getToken()
    await service.clock.advance(3_299_999)
    expect(await strategy.getToken()).toBe(token)
    await service.clock.advance(1)
    expect(await strategy.getToken()).not.toBe(token)
  })

  it('uses a token with a short lifetime until it expires, without a loop of requests', async () => {
    const { service, strategy, requests } = setUp({ life: 120 })
    const token = await strategy.getToken()
    await service.clock.advance(119_999)
    expect(await strategy.getToken()).toBe(token)
    expect(requests(TOKEN_PATH)).toHaveLength(1)
    await service.clock.advance(1)
    await strategy.getToken()
    expect(requests(TOKEN_PATH)).toHaveLength(2)
  })

  it('reads the lifetime of an opaque token from expires_in, and assumes five minutes if that is missing', async () => {
    const { service, strategy, requests } = setUp()
    service.on(`POST ${TOKEN_PATH}`, { access_token: 'opaque', expires_in: 1000 })
    await strategy.getToken()
    await service.clock.advance(699_999)
    await strategy.getToken()
    expect(requests(TOKEN_PATH)).toHaveLength(1)
    await service.clock.advance(1)
    service.on(`POST ${TOKEN_PATH}`, { access_token: 'opaque 2', expires_in: null })
    await strategy.getToken()
    await service.clock.advance(299_999)
    expect(await strategy.getToken()).toBe('opaque 2')
    expect(requests(TOKEN_PATH)).toHaveLength(2)
    await service.clock.advance(1)
    await strategy.getToken()
    expect(requests(TOKEN_PATH)).toHaveLength(3)
  })

  it('shares one request among callers and among strategies over the same store', async () => {
    const { strategy, make, requests } = setUp()
    const tokens = await Promise.all([strategy.getToken(), strategy.getToken(), make().getToken(), strategy.refresh()])
    expect(new Set(tokens).size).toBe(1)
    expect(requests(TOKEN_PATH)).toHaveLength(1)
  })

  it('obtains a new token by refresh() although the current one is valid', async () => {
    const { strategy } = setUp()
    const token = await strategy.getToken()
    const renewed = await strategy.refresh()
    expect(renewed).not.toBe(token)
    expect(await strategy.getToken()).toBe(renewed)
  })

  it('keeps one token in memory when its cache is off', async () => {
    const sessionStorage = new FakeStorage()
    const { strategy, make, requests } = setUp({ cache: { enabled: false } }, { sessionStorage })
    expect(await strategy.getToken()).toBe(await strategy.getToken())
    await make().getToken()
    expect(requests(TOKEN_PATH)).toHaveLength(2)
    expect([...sessionStorage.items.keys()]).toEqual([])
  })

  it('works with a failing store of the host', async () => {
    const broken = () => Promise.reject(new Error('store down'))
    const adapter = { get: broken, set: broken, delete: broken, clear: broken, keys: broken }
    const { strategy } = setUp({ cache: { adapter } }, { console: { debug() {}, info() {}, warn() {}, error() {} } })
    expect(await strategy.getToken()).toBeTruthy()
  })

  it('does not mix the tokens of two deployments with the same tenant', async () => {
    const { service, environment, strategy } = setUp()
    service.on(`GET ${METADATA}`, metadata)
    const other = new AnonymousAuthStrategy({}, environment)
    other.initialize({ deploymentInfo: { ...deploymentInfo, apiDomain: 'other.example.test' } })
    expect(await other.getToken()).not.toBe(await strategy.getToken())
  })

  it('does not mix the metadata of two tenants of one host', async () => {
    const { service, environment, strategy, requests } = setUp()
    service.on('POST /TEN0002/token', { access_token: 'second', expires_in: 1000 })
    const other = new AnonymousAuthStrategy({}, environment)
    other.initialize({ deploymentInfo: { ...deploymentInfo, tenantId: 'TEN0002' } })
    await strategy.getToken()
    expect(await other.getToken()).toBe('second')
    expect(requests(METADATA)).toHaveLength(2)
  })

  it('calls postAuthentication after authenticate()', async () => {
    const { strategy } = setUp()
    const told: string[] = []
    strategy.initialize({
      deploymentInfo,
      postAuthentication: result => void told.push((result as AuthenticationResult).accessToken),
    })
    await strategy.authenticate()
    expect(told).toEqual([await strategy.getToken()])
  })

  it.each(['getToken', 'refresh'] as const)(
    '[SEC-04] a logout ends %s(), whenever it comes, and no token is stored after it',
    async call => {
      for (let ticks = 0; ticks < 60; ticks++) {
        const sessionStorage = new FakeStorage()
        const { strategy } = setUp({}, { sessionStorage })
        const asked = strategy[call]().catch(() => {})
        for (let tick = 0; tick < ticks; tick++) await undefined
        await Promise.all([strategy.logout(), asked])
        await turnEventLoop()
        expect([...sessionStorage.items.keys()]).toEqual([])
      }
    },
  )

  it('[SEC-27] removes its token from a page’s own store on logout, but not from a shared store', async () => {
    const { strategy: shared } = setUp()
    const kept = await shared.getToken()
    await shared.logout()
    expect(await shared.getToken()).toBe(kept)
    const { strategy } = setUp({}, { sessionStorage: new FakeStorage() })
    const token = await strategy.getToken()
    await strategy.logout()
    expect(await strategy.getToken()).not.toBe(token)
  })

  describe('when no token can be obtained', () => {
    it.each([
      ['no authenticationDetails', {}, /authenticationDetails/],
      ['no list', { authenticationDetails: {} }, /oAuthAnonymousCustomer/],
      ['an empty list', { authenticationDetails: { oAuthAnonymousCustomer: [] } }, /oAuthAnonymousCustomer/],
      ['no address', { authenticationDetails: { oAuthAnonymousCustomer: [{}] } }, /accessTokenURL/],
      ['invalid JSON', () => new Response('<html>'), /JSON/],
      ['a list', [], /OAuth metadata/],
      ['a failure', () => new Response('', { status: 503 }), /503/],
    ])('reports the problem with the metadata: %s', async (_case, answer, message) => {
      const { service, strategy, requests } = setUp()
      service.on(`GET ${METADATA}`, answer)
      const error = await failure(strategy.getToken())
      expect(error).toBeInstanceOf(AuthError)
      expect(error).toMatchObject({ reason: 'metadata_failed', message: expect.stringMatching(message) })
      service.on(`GET ${METADATA}`, metadata)
      expect(await strategy.getToken()).toBeTruthy()
      expect(requests(METADATA).length).toBeGreaterThan(0)
    })

    it('reports that the tenant is missing if the address needs one', async () => {
      const { strategy } = setUp()
      strategy.initialize({ deploymentInfo: { apiDomain: 'api.example.test' } })
      expect(await failure(strategy.getToken())).toMatchObject({ message: expect.stringMatching(/tenantId/) })
    })

    it.each<[string, () => unknown, number | undefined]>([
      ['an OAuth error', () => Response.json({ error: 'invalid_scope' }, { status: 400 }), 400],
      ['a refusal', () => new Response('no', { status: 401 }), 401],
      ['a page', () => new Response('<html>', { status: 500 }), 500],
      ['no token', () => ({ expires_in: 3600 }), 200],
      ['an empty token', () => ({ access_token: '' }), 200],
      ['no JSON', () => new Response('<html>'), 200],
      ['no content', () => new Response(null, { status: 204 }), 204],
      ['a network error', () => Promise.reject(new TypeError('fetch failed')), undefined],
    ])('reports the status of the token endpoint: %s', async (_case, answer, status) => {
      const { service, strategy } = setUp()
      service.on(`POST ${TOKEN_PATH}`, answer)
      const error = await failure(strategy.getToken())
      expect(error).toBeInstanceOf(AuthError)
      expect(error).toMatchObject({ reason: 'token_request_failed', status })
      if (status !== undefined && status >= 300) expect(String(error)).toContain(String(status))
    })

    it('times out if the token endpoint does not answer', async () => {
      const { service, strategy } = setUp()
      service.on(`POST ${TOKEN_PATH}`, () => new Promise(() => {}))
      const outcome = failure(strategy.getToken())
      while (service.seen.length < 2) await turnEventLoop()
      await service.clock.advance(30_000)
      expect(await outcome).toMatchObject({ reason: 'token_request_failed', status: undefined })
    })

    it('sends no credentials over plain http if the deployment itself uses https', async () => {
      const { service, strategy, requests } = setUp()
      const url = 'http://login.example.test/TEN0001/token'
      service.on(`GET ${METADATA}`, { authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: url }] } })
      expect(await failure(strategy.getToken())).toMatchObject({ message: expect.stringMatching(/https/) })
      expect(requests(TOKEN_PATH)).toEqual([])
    })

    it.each([
      ['127.0.0.1:8600', 'api.example.test'],
      ['localhost:8600', 'api.example.test'],
      ['[::1]:8600', 'api.example.test'],
      ['login.example.test', 'http://api.example.test'],
    ])('accepts plain http at %s for the deployment %s', async (host, apiDomain) => {
      const { service, strategy } = setUp()
      const url = `http://${host}/TEN0001/token`
      service.on(`GET ${METADATA}`, { authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: url }] } })
      strategy.initialize({ deploymentInfo: { ...deploymentInfo, apiDomain } })
      expect(await strategy.getToken()).toBeTruthy()
    })
  })

  it('[AUTH-02] obtains tokens that the emulator accepts', async () => {
    const clock = new ManualClock()
    const emulator = createEmulator({ clock })
    const { environment } = setUp({}, { fetch: emulator.fetch, clock, memory: new MemoryCacheAdapter() })
    const strategy = new AnonymousAuthStrategy({}, environment)
    strategy.initialize({ deploymentInfo: { apiDomain: emulator.origin, tenantId: 'TEN0001' } })
    const Authorization = `Bearer ${await strategy.getToken()}`
    const address = `${emulator.origin}/core/aiservices/v4/aiagent/details/agent/help`
    expect((await emulator.fetch(address, { headers: { Authorization } })).status).toBe(200)
    emulator.close()
  })
})

describe('what an anonymous strategy tells and takes', () => {
  it('is the expiry of its token, stored or new', async () => {
    const { strategy, make, service } = setUp({ life: 1_800 })
    expect(strategy.expiresAt).toBeUndefined()
    await strategy.getToken()
    const expiresAt = service.clock.now() + 1_800_000
    expect(strategy.expiresAt).toBe(expiresAt)
    const other = make()
    await other.getToken()
    expect(other.expiresAt).toBe(expiresAt)
  })

  it('is scopes without blanks around them, from initialize() too', async () => {
    const { strategy, requests } = setUp()
    strategy.initialize({ deploymentInfo, scopes: [' one ', '', ' ', 'two', 'one'] })
    await strategy.getToken()
    const [request] = requests(TOKEN_PATH)
    expect(new URLSearchParams(request?.body).get('scope')).toBe('api://acme/one api://acme/two')
  })

  it('is a token without a callback, and a refusal before initialize()', async () => {
    const { strategy, environment } = setUp()
    await expect(strategy.authenticate()).resolves.toBeUndefined()
    const early = new AnonymousAuthStrategy({}, environment)
    await expect(early.getToken()).rejects.toMatchObject({
      reason: 'token_missing',
      message: expect.stringContaining('initialize()'),
    })
  })

  it('is a request that cleanup() ends, and the next one works', async () => {
    const { service, strategy } = setUp()
    service.on(`GET ${METADATA}`, () => new Promise(() => {}))
    const request = failure(strategy.getToken())
    await turnEventLoop()
    strategy.cleanup()
    expect(await request).toMatchObject({ reason: 'token_missing', message: expect.stringContaining('cleanup()') })
    service.on(`GET ${METADATA}`, metadata)
    expect(await strategy.getToken()).toBeTruthy()
  })

  it('is a prefix of the host, behind which its tokens stay apart from responses', async () => {
    const sessionStorage = new FakeStorage()
    const { strategy } = setUp({ cache: { keyPrefix: 'host_' } }, { sessionStorage })
    await strategy.getToken()
    const keys = [...sessionStorage.items.keys()]
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) expect(key).toMatch(/^host_auth_/)
  })
})
