import { createEmulator } from '@aiagent/emulator'
import { turnEventLoop } from '@aiagent/test-support'
import { afterEach, describe, expect, it } from 'vitest'
import { DETAILS, failure, setUpApi, TOKEN } from '../../test/api-set-up.ts'
import { FakeService, FakeStorage, fakeToken } from '../../test/fake-service.ts'
import type { CacheEntry } from '../storage/cache-adapter.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { ApiHelper } from './api-helper.ts'

afterEach(() => ApiHelper.setStaticCacheAdapter(undefined))

describe('getAgentDetails', () => {
  it('[REST-01] returns the details of an agent, including unknown members', async () => {
    const { service, api } = setUpApi()
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

  it('adds the id if the response has none', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${DETAILS}`, { name: 'Seven', agentId: '' })
    expect(await api.getAgentDetails({ agentId: '7' })).toMatchObject({ agentId: '7', name: 'Seven' })
  })

  it('requests once within five minutes, and again afterwards', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${DETAILS}`, { name: 'Seven' })
    await api.getAgentDetails({ agentId: '7' })
    await service.clock.advance(299_999)
    await api.getAgentDetails({ agentId: '7' })
    expect(service.seen).toHaveLength(1)
    await service.clock.advance(1)
    await api.getAgentDetails({ agentId: '7' })
    expect(service.seen).toHaveLength(2)
  })

  it('returns a copy to each caller', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${DETAILS}`, { portals: ['1'] })
    const [first, second] = await Promise.all([
      api.getAgentDetails({ agentId: '7' }),
      api.getAgentDetails({ agentId: '7' }),
    ])
    first.portals?.push('changed')
    second.name = 'changed'
    expect(await api.getAgentDetails({ agentId: '7' })).toEqual({ agentId: '7', portals: ['1'] })
    expect(service.seen).toHaveLength(1)
  })

  it('does not return the response of one API host to another', async () => {
    const service = new FakeService().on(`GET ${DETAILS}`, ({ url }: { url: string }) => ({ name: new URL(url).host }))
    const environment = service.environment()
    const ask = (apiDomain: string) =>
      new ApiHelper({ apiDomain, getToken: () => TOKEN }, environment).getAgentDetails({ agentId: '7' })
    expect((await ask('one.test')).name).toBe('one.test')
    expect((await ask('two.test')).name).toBe('two.test')
  })

  it('shares responses and requests among helpers over the same store', async () => {
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
  ] as const)('stores responses in the %s store, under its own prefix and name', async (storageType, name) => {
    const service = new FakeService().on(`GET ${DETAILS}`, { name: 'Seven' })
    const storage = new FakeStorage()
    const environment = service.environment({ [name]: storage })
    const config = { apiDomain: 'api.example.test', getToken: () => TOKEN, cache: { storageType } }
    await new ApiHelper(config, environment).getAgentDetails({ agentId: '7' })
    expect([...storage.items.keys()]).toEqual([
      'aiagent_cache_getAgentDetails:agentId=7&api=https%3A%2F%2Fapi.example.test',
    ])
  })

  it('stores nothing when the cache is off', async () => {
    const { service, api } = setUpApi({ cache: { enabled: false } })
    service.on(`GET ${DETAILS}`, { name: 'Seven' })
    await api.getAgentDetails({ agentId: '7' })
    await api.getAgentDetails({ agentId: '7' })
    expect(service.seen).toHaveLength(2)
  })

  it('removes by name or altogether, and keeps entries of others', async () => {
    const adapter = new MemoryCacheAdapter()
    adapter.set('shop_token', { value: 1, timestamp: 1 })
    const { service, api } = setUpApi({ cache: { adapter, keyPrefix: 'shop_' } })
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

  it('does not store a response that was requested before the cache was cleared', async () => {
    const { service, api } = setUpApi()
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

  it('works with a failing store of the host', async () => {
    const broken = () => Promise.reject(new Error('store down'))
    const adapter = { get: broken, set: broken, delete: broken, clear: broken, keys: broken }
    const told: string[] = []
    const console = { debug() {}, info() {}, error() {}, warn: (text: string) => void told.push(text) }
    const service = new FakeService().on(`GET ${DETAILS}`, { name: 'Seven' })
    const config = { apiDomain: 'api.example.test', getToken: () => TOKEN, cache: { adapter } }
    const api = new ApiHelper(config, service.environment({ console }))
    expect((await api.getAgentDetails({ agentId: '7' })).name).toBe('Seven')
    expect((await api.getAgentDetails({ agentId: '7' })).name).toBe('Seven')
    await api.clearCache()
    expect(service.seen).toHaveLength(2)
    expect(told).toEqual([
      expect.stringContaining('cache adapter failed'),
      expect.stringContaining('Could not remove cached responses'),
    ])
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

  it('[REST-11] needs no token and is requested once in five minutes for all callers', async () => {
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

  it.each([undefined, null, '', ' ', 5, 'http://', 'ftp://example.test', 'example.test?x=1'])(
    'refuses the endpoint %j before any request',
    async endpoint => {
      const service = new FakeService().on('GET /system/deploymentInfo', info)
      const options = { environment: service.environment() }
      expect(await failure(ApiHelper.getDeploymentInfo(endpoint as string, undefined, options))).toMatchObject({
        name: 'ConfigError',
        code: 'CONFIG_INVALID',
        field: 'endpoint',
      })
      expect(service.seen).toEqual([])
    },
  )

  it('empties the stores of every environment', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', info)
    const options = { environment: service.environment() }
    await ApiHelper.getDeploymentInfo('example.test', {}, options)
    await ApiHelper.clearDeploymentInfoCache()
    await ApiHelper.getDeploymentInfo('example.test', {}, options)
    expect(service.seen).toHaveLength(2)
  })

  it('empties the stores of an environment also where a call without the cache comes first', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', info)
    const options = { environment: service.environment() }
    await ApiHelper.getDeploymentInfo('example.test', {}, options)
    await ApiHelper.clearDeploymentInfoCache()
    await ApiHelper.getDeploymentInfo('example.test', { enabled: false }, options)
    await ApiHelper.getDeploymentInfo('example.test', {}, options)
    expect(service.seen).toHaveLength(3)
  })

  it('is not stored when it was emptied while the request was in flight, for later calls only', async () => {
    let answer: (body: unknown) => void = () => {}
    const service = new FakeService().on('GET /system/deploymentInfo', () => new Promise(resolve => (answer = resolve)))
    const adapter = new MemoryCacheAdapter()
    ApiHelper.setStaticCacheAdapter(adapter)
    const ask = () => ApiHelper.getDeploymentInfo('example.test', {}, { environment: service.environment() })
    const before = ask()
    await turnEventLoop()
    await ApiHelper.clearDeploymentInfoCache()
    answer(info)
    expect(await before).toEqual(info)
    expect(adapter.keys()).toEqual([])
    const after = ask()
    await turnEventLoop()
    answer({ ...info, tenantId: 'moved' })
    expect(await after).toMatchObject({ tenantId: 'moved' })
    expect(adapter.keys()).toHaveLength(1)
  })

  it('is stored in sessionStorage in a browser', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', info)
    const sessionStorage = new FakeStorage()
    await ApiHelper.getDeploymentInfo('example.test', {}, { environment: service.environment({ sessionStorage }) })
    expect([...sessionStorage.items.keys()]).toEqual(['aiagent_static_deployment-info-https://example.test'])
  })

  it('is requested every time when the cache is off', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', info)
    const options = { environment: service.environment() }
    await ApiHelper.getDeploymentInfo('example.test', { enabled: false }, options)
    await ApiHelper.getDeploymentInfo('example.test', { enabled: false }, options)
    expect(service.seen).toHaveLength(2)
  })

  it('rejects when its signal is aborted, while another caller still receives the response', async () => {
    let answer: (body: unknown) => void = () => {}
    const service = new FakeService().on('GET /system/deploymentInfo', () => new Promise(resolve => (answer = resolve)))
    const environment = service.environment()
    const controller = new AbortController()
    const { signal } = controller
    const mine = failure(ApiHelper.getDeploymentInfo('example.test', {}, { environment, signal }))
    const other = ApiHelper.getDeploymentInfo('example.test', {}, { environment })
    await turnEventLoop()
    controller.abort(new Error('enough'))
    expect(await mine).toMatchObject({ reason: 'aborted', message: expect.stringContaining('getDeploymentInfo') })
    answer(info)
    expect(await other).toEqual(info)
    expect(service.seen).toHaveLength(1)
  })

  it.each([7, 'text', {}, { apiDomain: 7 }, [info]])('is requested again when the store contains %j', async poison => {
    const service = new FakeService().on('GET /system/deploymentInfo', info)
    const adapter = new MemoryCacheAdapter()
    const environment = service.environment()
    ApiHelper.setStaticCacheAdapter(adapter)
    const key = 'aiagent_static_deployment-info-https://example.test'
    const ask = () => ApiHelper.getDeploymentInfo('example.test', {}, { environment })
    await ask()
    adapter.set(key, { ...(adapter.get(key) as CacheEntry), value: poison })
    expect(await ask()).toEqual(info)
    expect(adapter.get(key)?.value).toEqual(info)
    expect(service.seen).toHaveLength(2)
  })

  it('works with a shared store that fails, and can still be emptied', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', info)
    const environment = service.environment({ console: { debug() {}, info() {}, warn() {}, error() {} } })
    const broken = () => Promise.reject(new Error('store down'))
    ApiHelper.setStaticCacheAdapter({ get: broken, set: broken, delete: broken, clear: broken, keys: broken })
    expect(await ApiHelper.getDeploymentInfo('example.test', {}, { environment })).toEqual(info)
    ApiHelper.setStaticCacheAdapter(undefined)
    await ApiHelper.clearDeploymentInfoCache()
  })

  it('rejects a response without an API host, and requests again the next time', async () => {
    const service = new FakeService().on('GET /system/deploymentInfo', {})
    const options = { environment: service.environment() }
    const ask = () => ApiHelper.getDeploymentInfo('example.test', {}, options)
    expect(await failure(ask())).toMatchObject({ name: 'ApiError', reason: 'body' })
    service.on('GET /system/deploymentInfo', info)
    expect(await ask()).toEqual(info)
  })
})

describe('the language', () => {
  it('is en-us until it is set, and again when it is reset', () => {
    const { api } = setUpApi()
    expect(api.getLanguage()).toBe('en-us')
    api.setLanguage('fr-CA')
    expect(api.getLanguage()).toBe('fr-CA')
    api.setLanguage(null)
    expect(api.getLanguage()).toBe('en-us')
    expect(setUpApi({ language: 'de-DE' }).api.getLanguage()).toBe('de-DE')
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
    expect(await failure(expired.getAiAgentSession({ agentId: 'help' }))).toMatchObject({
      code: 'SESSION_UNAUTHORIZED',
    })
    emulator.close()
  })
})
