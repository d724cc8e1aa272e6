import { createEmulator } from '@aiagent/emulator'
import { turnEventLoop } from '@aiagent/test-support'
import { afterEach, describe, expect, it } from 'vitest'
import { FakeService, FakeStorage, fakeToken } from '../../test/fake-service.ts'
import { ApiError, AuthError, SDKError } from '../errors.ts'
import { Logger } from '../logger.ts'
import { MemoryCacheAdapter } from '../platform/memory-cache-adapter.ts'
import { ApiHelper, type ApiHelperConfig } from './api-helper.ts'

const DETAILS = '/core/aiservices/v4/aiagent/details/agent/7'
const SESSION = '/core/aiservices/v4/aiagent/chat/agent/7/session'
const TOKEN = 'secret-token'

function setUp(config: Partial<ApiHelperConfig> = {}) {
  const service = new FakeService()
  const api = new ApiHelper({ apiDomain: 'api.example.test', getToken: () => TOKEN, ...config }, service.environment())
  return { service, api }
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error('It should have failed.')
    },
    (error: unknown) => error,
  )

afterEach(() => ApiHelper.setStaticCacheAdapter(undefined))

describe('getAgentDetails', () => {
  it('[REST-01] returns what the service says of an agent, unknown members too', async () => {
    const { service, api } = setUp()
    const details = {
      agentId: '7',
      webSocketDomain: 'chat.example.test',
      extraScopes: ['a.b'],
      clientAppId: 'app',
      languageCode: 'fr-fr',
      enableDataMasking: true,
      isAuthenticated: true,
      departmentId: 12,
      portals: ['1', { id: 2 }],
      userType: 'customer',
      further: { x: 1 },
    }
    service.on(`GET ${DETAILS}`, details)
    expect(await api.getAgentDetails({ agentId: '7' })).toEqual(details)
    expect(service.seen).toHaveLength(1)
    expect(service.seen[0]?.url).toBe(`https://api.example.test${DETAILS}`)
    expect(service.seen[0]?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`)
    expect(service.seen[0]?.headers.get('accept-language')).toBeNull()
  })

  it('fills in the id where the answer has none', async () => {
    const { service, api } = setUp()
    service.on(`GET ${DETAILS}`, { name: 'Seven', agentId: '' })
    expect(await api.getAgentDetails({ agentId: '7' })).toMatchObject({ agentId: '7', name: 'Seven' })
  })

  it('asks once within five minutes, and again after them', async () => {
    const { service, api } = setUp()
    service.on(`GET ${DETAILS}`, { name: 'Seven' })
    await api.getAgentDetails({ agentId: '7' })
    await service.clock.advance(299_999)
    await api.getAgentDetails({ agentId: '7' })
    expect(service.seen).toHaveLength(1)
    await service.clock.advance(1)
    await api.getAgentDetails({ agentId: '7' })
    expect(service.seen).toHaveLength(2)
  })

  it('gives each caller a copy: changing one changes no other', async () => {
    const { service, api } = setUp()
    service.on(`GET ${DETAILS}`, { portals: ['1'] })
    const [first, second] = await Promise.all([api.getAgentDetails({ agentId: '7' }), api.getAgentDetails({ agentId: '7' })])
    first.portals?.push('changed')
    second.name = 'changed'
    expect(await api.getAgentDetails({ agentId: '7' })).toEqual({ agentId: '7', portals: ['1'] })
    expect(service.seen).toHaveLength(1)
  })

  it('does not serve the answer of one API host to another', async () => {
    const service = new FakeService().on(`GET ${DETAILS}`, ({ url }: { url: string }) => ({ name: new URL(url).host }))
    const environment = service.environment()
    const ask = (apiDomain: string) =>
      new ApiHelper({ apiDomain, getToken: () => TOKEN }, environment).getAgentDetails({ agentId: '7' })
    expect((await ask('one.test')).name).toBe('one.test')
    expect((await ask('two.test')).name).toBe('two.test')
  })

  it('shares answers and requests among helpers over the same store', async () => {
    const service = new FakeService().on(`GET ${DETAILS}`, { name: 'Seven' })
    const environment = service.environment()
    const make = () => new ApiHelper({ apiDomain: 'api.example.test', getToken: () => TOKEN }, environment)
    await Promise.all([make().getAgentDetails({ agentId: '7' }), make().getAgentDetails({ agentId: '7' })])
    await make().getAgentDetails({ agentId: '7' })
    expect(service.seen).toHaveLength(1)
  })

  it.each([
    ['session', 'sessionStorage'],
    ['local', 'localStorage'],
  ] as const)('keeps answers in the %s store, under its own prefix and name', async (storageType, name) => {
    const service = new FakeService().on(`GET ${DETAILS}`, { name: 'Seven' })
    const storage = new FakeStorage()
    const environment = service.environment({ [name]: storage })
    const config = { apiDomain: 'api.example.test', getToken: () => TOKEN, cache: { storageType } }
    await new ApiHelper(config, environment).getAgentDetails({ agentId: '7' })
    expect([...storage.items.keys()]).toEqual(['aiagent_cache_getAgentDetails:agentId=7&api=https%3A%2F%2Fapi.example.test'])
  })

  it('keeps nothing when the cache is off', async () => {
    const { service, api } = setUp({ cache: { enabled: false } })
    service.on(`GET ${DETAILS}`, { name: 'Seven' })
    await api.getAgentDetails({ agentId: '7' })
    await api.getAgentDetails({ agentId: '7' })
    expect(service.seen).toHaveLength(2)
  })

  it('forgets by name or altogether, and leaves what is not its own', async () => {
    const adapter = new MemoryCacheAdapter()
    adapter.set('shop_token', { value: 1, timestamp: 1 })
    const { service, api } = setUp({ cache: { adapter, keyPrefix: 'shop_' } })
    service.on(`GET ${DETAILS}`, { name: 'Seven' })
    const ask = () => api.getAgentDetails({ agentId: '7' })
    await ask()
    await api.invalidateCache('getPortals')
    await ask()
    expect(service.seen).toHaveLength(1)
    await api.invalidateCache('getAgentDetails')
    await ask()
    expect(service.seen).toHaveLength(2)
    await api.clearCache()
    await ask()
    expect(service.seen).toHaveLength(3)
    expect(adapter.keys('shop_token')).toEqual(['shop_token'])
  })

  it('does not keep an answer that was asked for before the cache was cleared', async () => {
    const { service, api } = setUp()
    let answer: (body: unknown) => void = () => {}
    service.on(`GET ${DETAILS}`, () => new Promise(resolve => (answer = resolve)))
    const early = api.getAgentDetails({ agentId: '7' })
    await turnEventLoop()
    await api.clearCache()
    answer({ name: 'old' })
    expect((await early).name).toBe('old')
    service.on(`GET ${DETAILS}`, { name: 'new' })
    expect((await api.getAgentDetails({ agentId: '7' })).name).toBe('new')
  })

  it('works with a host’s store that fails', async () => {
    const broken = () => Promise.reject(new Error('store down'))
    const adapter = { get: broken, set: broken, delete: broken, clear: broken, keys: broken }
    const { service, api } = setUp({ cache: { adapter } })
    service.on(`GET ${DETAILS}`, { name: 'Seven' })
    expect((await api.getAgentDetails({ agentId: '7' })).name).toBe('Seven')
  })
})

describe('the access token of a call', () => {
  it('[REST-08] is the one given with the call, else the one of getToken', async () => {
    const { service, api } = setUp({ cache: { enabled: false } })
    service.on(`GET ${DETAILS}`, {})
    await api.getAgentDetails({ agentId: '7', authToken: 'per-call' })
    await api.getAgentDetails({ agentId: '7', authToken: '  ' })
    await api.getAgentDetails({ agentId: '7' })
    expect(service.seen.map(request => request.headers.get('authorization'))).toEqual([
      'Bearer per-call',
      `Bearer ${TOKEN}`,
      `Bearer ${TOKEN}`,
    ])
  })

  it.each([['getToken missing', undefined], ['null', () => null], ['blank', async () => ' ']])(
    '[REST-08] is missing (%s): a clear error names the call, before any request',
    async (_case, getToken) => {
      const { service, api } = setUp({ getToken })
      for (const [name, call] of [
        ['getAgentDetails', api.getAgentDetails({ agentId: '7' })],
        ['getAiAgentSession', api.getAiAgentSession({ agentId: '7' })],
      ] as const) {
        const error = await failure(call)
        expect(error).toBeInstanceOf(AuthError)
        expect(error).toMatchObject({ reason: 'token_missing', message: expect.stringContaining(name) })
      }
      expect(service.seen).toEqual([])
    },
  )
})

describe('a failing call', () => {
  const text = (body: string, status = 200) => () => new Response(body, { status, headers: { 'Content-Type': 'text/html' } })

  it.each([
    ['JSON', 500, '{"code":"500-001","message":"down for repairs"}', { code: '500-001', message: 'down for repairs' }],
    ['text', 502, '<h1>Bad gateway</h1>', '<h1>Bad gateway</h1>'],
    ['long text', 502, 'x'.repeat(2_000), 'x'.repeat(1_000)],
    ['nothing', 404, '', ''],
  ])('[REST-09] tells the call, the status and what the body said: %s', async (_case, status, body, kept) => {
    const { service, api } = setUp()
    service.on(`GET ${DETAILS}`, text(body, status))
    const error = await failure(api.getAgentDetails({ agentId: '7' }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: 'API_ERROR', reason: 'status', status, body: kept, method: 'GET', path: DETAILS })
    expect(String(error)).toContain('getAgentDetails')
    expect(String(error)).toContain(String(status))
    if (typeof kept === 'object') expect(String(error)).toContain(kept.message)
  })

  it.each([
    ['HTML', '<!doctype html><p>Sign in'],
    ['nothing', ''],
    ['half of it', '{"agentId":"7","na'],
    ['a list', '[]'],
    ['wrong members', '{"isAuthenticated":"yes"}'],
  ])('[REST-09] is one whose 2xx body cannot be read: %s', async (_case, body) => {
    const { service, api } = setUp()
    service.on(`GET ${DETAILS}`, text(body))
    const error = await failure(api.getAgentDetails({ agentId: '7' }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ reason: 'body', status: 200 })
    expect(String(error)).toContain('getAgentDetails')
  })

  it('[REST-09] is one whose body breaks off on the way', async () => {
    const { service, api } = setUp()
    const stream = () =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"agentId"'))
          controller.error(new TypeError('terminated'))
        },
      })
    service.on(`GET ${DETAILS}`, () => new Response(stream()))
    expect(await failure(api.getAgentDetails({ agentId: '7' }))).toMatchObject({ reason: 'body', status: 200 })
  })

  it.each([
    ['no answer at all', () => new Promise(() => {})],
    ['a body that never ends', () => new Response(new ReadableStream({ start() {} }))],
  ])('[REST-09] is one with %s within thirty seconds', async (_case, answer) => {
    const { service, api } = setUp()
    service.on(`GET ${DETAILS}`, answer)
    const outcome = failure(api.getAgentDetails({ agentId: '7' }))
    await service.clock.advance(29_999)
    expect(service.clock.pendingTimers).toBe(1)
    await service.clock.advance(1)
    expect(await outcome).toMatchObject({ name: 'ApiError', reason: 'timeout', path: DETAILS })
    expect(service.clock.pendingTimers).toBe(0)
  })

  it('[REST-09] is one that reaches nobody', async () => {
    const { service, api } = setUp()
    const cause = new TypeError('fetch failed')
    service.on(`GET ${DETAILS}`, () => Promise.reject(cause))
    expect(await failure(api.getAgentDetails({ agentId: '7' }))).toMatchObject({ reason: 'network', status: undefined, cause })
  })

  it('is not kept: the next call asks again', async () => {
    const { service, api } = setUp()
    service.on(`GET ${DETAILS}`, text('', 500))
    await failure(api.getAgentDetails({ agentId: '7' }))
    service.on(`GET ${DETAILS}`, { name: 'Seven' })
    expect((await api.getAgentDetails({ agentId: '7' })).name).toBe('Seven')
  })

  it('ends with its caller’s signal, while another caller of the same still gets the answer', async () => {
    const { service, api } = setUp()
    let answer: (body: unknown) => void = () => {}
    service.on(`GET ${DETAILS}`, () => new Promise(resolve => (answer = resolve)))
    const controller = new AbortController()
    const first = failure(api.getAgentDetails({ agentId: '7', signal: controller.signal }))
    const second = api.getAgentDetails({ agentId: '7' })
    await turnEventLoop()
    controller.abort()
    expect(await first).toMatchObject({ name: 'ApiError', reason: 'aborted', path: DETAILS })
    answer({ name: 'Seven' })
    expect((await second).name).toBe('Seven')
  })

  it('ends with its caller’s signal also while it waits for a token', async () => {
    const waiting = () => new Promise<string>(() => {})
    const { service, api } = setUp({ getToken: waiting })
    const controller = new AbortController()
    const calls = [
      api.getAgentDetails({ agentId: '7', signal: controller.signal }),
      api.getAiAgentSession({ agentId: '7', signal: controller.signal }),
    ].map(failure)
    const renewing = new ApiHelper(
      { apiDomain: 'api.example.test', getToken: () => TOKEN, refreshToken: waiting },
      service.environment(),
    )
    service.on(`POST ${SESSION}`, () => new Response('', { status: 401 }))
    const renewed = failure(renewing.getAiAgentSession({ agentId: '7', signal: controller.signal }))
    while (service.seen.length < 1) await turnEventLoop()
    controller.abort()
    for (const error of await Promise.all([...calls, renewed])) {
      expect(error).toMatchObject({ name: 'ApiError', reason: 'aborted' })
    }
  })

  it('does not repeat the token, even where the service does', async () => {
    const { service, api } = setUp()
    service.on(`GET ${DETAILS}`, text(JSON.stringify({ message: `bad token ${TOKEN}` }), 403))
    const error = (await failure(api.getAgentDetails({ agentId: '7' }))) as ApiError
    expect(`${error.message} ${JSON.stringify(error.body)} ${error.stack}`).not.toContain(TOKEN)
  })
})

describe('getAiAgentSession', () => {
  const opened = { sessionId: 's-1' }

  it('[REST-02] posts the context and returns the session id', async () => {
    const { service, api } = setUp()
    service.on(`POST ${SESSION}`, opened)
    expect(await api.getAiAgentSession({ agentId: '7', context: { page: 'cart' } })).toBe('s-1')
    expect(await api.getAiAgentSession({ agentId: '7' })).toBe('s-1')
    expect(service.seen.map(request => JSON.parse(request.body))).toEqual([{ context: { page: 'cart' } }, {}])
    expect(service.seen[0]?.headers.get('content-type')).toBe('application/json')
  })

  it.each([403, 404, 405])('[REST-02] falls back to GET after a %i, and warns that the context is lost', async status => {
    const logger = new Logger({ enableConsole: false })
    const warnings: string[] = []
    logger.on('log', entry => warnings.push(entry.message))
    const { service, api } = setUp({ logger })
    service.on(`POST ${SESSION}`, () => new Response('', { status })).on(`GET ${SESSION}`, opened)
    expect(await api.getAiAgentSession({ agentId: '7' })).toBe('s-1')
    expect(warnings).toEqual([])
    expect(await api.getAiAgentSession({ agentId: '7', context: { page: 'cart' } })).toBe('s-1')
    expect(warnings).toEqual([expect.stringContaining('without the context')])
    const fallback = service.seen.at(-1)
    expect([...(fallback?.headers.keys() ?? [])]).toEqual(['authorization'])
    expect(fallback?.body).toBe('')
  })

  it('[REST-02] lets the answer of the GET alone decide', async () => {
    const { service, api } = setUp()
    service.on(`POST ${SESSION}`, () => new Response('', { status: 405 }))
    service.on(`GET ${SESSION}`, () => new Response('', { status: 403 }))
    expect(await failure(api.getAiAgentSession({ agentId: '7' }))).toMatchObject({ reason: 'status', status: 403 })
    expect(service.seen.map(request => request.method)).toEqual(['POST', 'GET'])
  })

  it.each([400, 409, 429, 500])('does not fall back after a %i', async status => {
    const { service, api } = setUp()
    service.on(`POST ${SESSION}`, () => new Response('', { status })).on(`GET ${SESSION}`, opened)
    expect(await failure(api.getAiAgentSession({ agentId: '7' }))).toMatchObject({ status })
    expect(service.seen).toHaveLength(1)
  })

  it.each(['', '  ', 'undefined', 'null', 'NULL', 'NaN', ' Undefined ', null, undefined, true, {}])(
    '[REST-10] refuses the session id %j of an answer',
    async sessionId => {
      const { service, api } = setUp()
      service.on(`POST ${SESSION}`, { sessionId })
      const error = await failure(api.getAiAgentSession({ agentId: '7' }))
      expect(error).toBeInstanceOf(SDKError)
      expect(error).toMatchObject({ code: 'SESSION_ID_INVALID' })
    },
  )

  it('takes a finite number as its text', async () => {
    const { service, api } = setUp()
    service.on(`POST ${SESSION}`, { sessionId: 42 })
    expect(await api.getAiAgentSession({ agentId: '7' })).toBe('42')
  })

  it('renews the token once after a 401 and asks again', async () => {
    const { service, api } = setUp({ refreshToken: async () => 'renewed' })
    service.on(`POST ${SESSION}`, ({ headers }: { headers: Headers }) =>
      headers.get('authorization') === 'Bearer renewed' ? opened : new Response('{}', { status: 401 }),
    )
    expect(await api.getAiAgentSession({ agentId: '7' })).toBe('s-1')
    expect(service.seen).toHaveLength(2)
  })

  it.each<[string, ApiHelperConfig['refreshToken'], number]>([
    ['no way to renew', undefined, 1],
    ['a renewal that brings the same token', async () => TOKEN, 1],
    ['a renewal that fails', () => Promise.reject(new AuthError('no', 'token_request_failed')), 1],
    ['a renewed token that is refused as well', async () => 'renewed', 2],
  ])('[ERR-04] tells a refused token by its code: %s', async (_case, refreshToken, requests) => {
    const { service, api } = setUp({ refreshToken })
    service.on(`POST ${SESSION}`, () => Response.json({ message: 'Token will expire soon' }, { status: 401 }))
    const error = await failure(api.getAiAgentSession({ agentId: '7' }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: 'SESSION_UNAUTHORIZED', status: 401, message: expect.stringContaining('Token will expire soon') })
    expect(service.seen).toHaveLength(requests)
  })

  it('is never cached', async () => {
    const { service, api } = setUp()
    let count = 0
    service.on(`POST ${SESSION}`, () => ({ sessionId: `s-${++count}` }))
    expect(await api.getAiAgentSession({ agentId: '7' })).toBe('s-1')
    expect(await api.getAiAgentSession({ agentId: '7' })).toBe('s-2')
  })
})

describe('getDeploymentInfo', () => {
  const info = {
    apiDomain: 'api.example.test',
    aiAgentDomain: 'agent.example.test',
    tenant_identifier: 'acme',
    intClientId: 'int',
    extClientId: 'ext',
    clientId: 'any',
  }

  it('[REST-11] needs no token and is asked for once in five minutes, by whomever', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', info)
    const options = { environment: service.environment() }
    const ask = () => ApiHelper.getDeploymentInfo('wss://example.test/', undefined, options)
    expect(await Promise.all([ask(), ask()])).toEqual([info, info])
    expect(await ask()).toEqual(info)
    expect(service.seen).toHaveLength(1)
    expect(service.seen[0]?.url).toBe('https://example.test/system/deploymentInfo')
    expect([...(service.seen[0]?.headers.keys() ?? [])]).toEqual([])
    await service.clock.advance(300_000)
    await ask()
    expect(service.seen).toHaveLength(2)
  })

  it('[REST-11] uses the shared store, which can be replaced and emptied', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', info)
    const options = { environment: service.environment() }
    const adapter = new MemoryCacheAdapter()
    ApiHelper.setStaticCacheAdapter(adapter)
    await ApiHelper.getDeploymentInfo('example.test', {}, options)
    expect(adapter.keys()).toEqual(['aiagent_static_deployment-info-https://example.test'])
    await ApiHelper.clearDeploymentInfoCache()
    expect(adapter.keys()).toEqual([])
    await ApiHelper.getDeploymentInfo('example.test', {}, options)
    expect(service.seen).toHaveLength(2)
  })

  it('empties the stores of every environment', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', info)
    const options = { environment: service.environment() }
    await ApiHelper.getDeploymentInfo('example.test', {}, options)
    await ApiHelper.clearDeploymentInfoCache()
    await ApiHelper.getDeploymentInfo('example.test', {}, options)
    expect(service.seen).toHaveLength(2)
  })

  it('is kept in the tab’s store in a browser', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', info)
    const sessionStorage = new FakeStorage()
    await ApiHelper.getDeploymentInfo('example.test', {}, { environment: service.environment({ sessionStorage }) })
    expect([...sessionStorage.items.keys()]).toEqual(['aiagent_static_deployment-info-https://example.test'])
  })

  it('is asked for every time when the cache is off', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', info)
    const options = { environment: service.environment() }
    await ApiHelper.getDeploymentInfo('example.test', { enabled: false }, options)
    await ApiHelper.getDeploymentInfo('example.test', { enabled: false }, options)
    expect(service.seen).toHaveLength(2)
  })

  it('rejects an answer without an API host, and asks again the next time', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', {})
    const options = { environment: service.environment() }
    const ask = () => ApiHelper.getDeploymentInfo('example.test', {}, options)
    expect(await failure(ask())).toMatchObject({ name: 'ApiError', reason: 'body' })
    service.on('GET /system/deploymentInfo', info)
    expect(await ask()).toEqual(info)
  })
})

describe('the language', () => {
  it('is en-us until it is set, and again when it is taken back', () => {
    const { api } = setUp()
    expect(api.getLanguage()).toBe('en-us')
    api.setLanguage('fr-CA')
    expect(api.getLanguage()).toBe('fr-CA')
    api.setLanguage(null)
    expect(api.getLanguage()).toBe('en-us')
    expect(setUp({ language: 'de-DE' }).api.getLanguage()).toBe('de-DE')
  })
})

describe('against the emulator', () => {
  it('[REST-01] [REST-02] [REST-11] goes from the deployment to an open session', async () => {
    const emulator = createEmulator()
    const environment = { fetch: emulator.fetch, memory: new MemoryCacheAdapter() }
    const { apiDomain } = await ApiHelper.getDeploymentInfo(emulator.origin, undefined, { environment })
    const token = emulator.control.issueToken()
    const api = new ApiHelper({ apiDomain, getToken: () => token }, environment)
    expect(await api.getAgentDetails({ agentId: 'help' })).toMatchObject({ agentId: 'help', name: 'Help Centre' })
    const sessionId = await api.getAiAgentSession({ agentId: 'help', context: { page: 'cart' } })
    expect(sessionId).toBeTruthy()
    emulator.settings.postSession = false
    expect(await api.getAiAgentSession({ agentId: 'help' })).not.toBe(sessionId)
    const expired = new ApiHelper({ apiDomain, getToken: () => fakeToken({ exp: 1 }) }, environment)
    expect(await failure(expired.getAiAgentSession({ agentId: 'help' }))).toMatchObject({ code: 'SESSION_UNAUTHORIZED' })
    emulator.close()
  })
})
