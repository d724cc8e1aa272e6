import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { FakeService, FakeStorage, fakeToken } from '../../test/fake-service.ts'
import { Logger, LogLevel } from '../logger.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { StorageCacheAdapter } from '../storage/storage-cache-adapter.ts'
import { ApiHelper } from './api-helper.ts'

/** Helpers of several users of one service, over one store. */
function setUpUsers(adapter?: CacheAdapter, sessionStorage?: FakeStorage) {
  const service = new FakeService()
  service.on('GET /knowledge/portalmgr/v3/myportals', { portal: [{ id: 1 }] })
  service.on('GET /core/aiservices/v4/aiagent/details/agent/help', { agentId: 'help' })
  const environment = service.environment({ sessionStorage })
  const told: string[] = []
  const logger = new Logger({ level: LogLevel.WARN, enableConsole: false })
  logger.subscribe('log', ({ message }) => told.push(message))
  const as = (sub: string, apiDomain = 'api.test') =>
    new ApiHelper(
      { apiDomain, getToken: () => fakeToken({ sub }), cache: adapter ? { adapter } : {}, logger },
      environment,
    )
  return { service, environment, told, as }
}

const keysOf = (adapter: CacheAdapter) => adapter.keys() as string[]

/** Loads a response that depends on the user, and one that does not. */
async function load(api: ApiHelper) {
  await api.getMyPortals()
  await api.getAgentDetails({ agentId: 'help' })
}

describe('a store that several users share', () => {
  it('[SEC-27] loses only the responses of the user who logs out', async () => {
    const adapter = new MemoryCacheAdapter()
    const { service, as } = setUpUsers(adapter)
    const users = ['ada', 'bob', 'eve'].map(sub => as(sub))
    for (const api of users) await load(api)
    expect(keysOf(adapter)).toHaveLength(4)
    await users[0]?.clearUserCache()
    expect(keysOf(adapter)).toHaveLength(3)
    const before = service.seen.length
    await load(as('bob'))
    expect(service.seen).toHaveLength(before)
    await load(as('ada'))
    expect(service.seen.map(({ path }) => path).slice(before)).toEqual([expect.stringContaining('myportals')])
  })

  it('[SEC-27] loses the responses of a user for whom another helper made the calls', async () => {
    const adapter = new MemoryCacheAdapter()
    const { as } = setUpUsers(adapter)
    await load(as('ada'))
    await as('ada').clearUserCache(fakeToken({ sub: 'ada', more: 1 }))
    expect(keysOf(adapter)).toEqual([expect.stringContaining('getAgentDetails')])
  })

  it('[SEC-27] is the memory of a process, too', async () => {
    const { environment, as } = setUpUsers()
    const ada = as('ada')
    await load(ada)
    await load(as('bob'))
    await ada.clearUserCache()
    expect(keysOf(environment.memory)).toHaveLength(2)
  })

  it('may be an adapter of this library over a store of the page', async () => {
    const storage = new FakeStorage()
    const { service, as } = setUpUsers(new StorageCacheAdapter(storage))
    await load(as('ada'))
    await load(as('ada'))
    expect(service.seen).toHaveLength(2)
    await as('ada').clearUserCache(fakeToken({ sub: 'ada' }))
    expect([...storage.items.keys()]).toEqual([expect.stringContaining('getAgentDetails')])
  })

  it('[SEC-27] stores no response for which a helper of the same user asked before the removal', async () => {
    const adapter = new MemoryCacheAdapter()
    const { service, as } = setUpUsers(adapter)
    const answers: (() => void)[] = []
    service.on(
      'GET /knowledge/portalmgr/v3/myportals',
      () => new Promise(resolve => answers.push(() => resolve({ portal: [] }))),
    )
    const loads = ['ada', 'bob'].map(sub => as(sub).getMyPortals())
    await eventually(() => answers.length === 2)
    await as('ada').clearUserCache(fakeToken({ sub: 'ada' }))
    for (const answer of answers) answer()
    await Promise.all(loads)
    expect(keysOf(adapter)).toHaveLength(1)
  })

  it('[SEC-27] reports that entries may remain when the store fails or does not answer', async () => {
    const memory = new MemoryCacheAdapter()
    let keys: () => string[] | Promise<string[]> = () => new Promise(() => {})
    const adapter: CacheAdapter = {
      get: key => memory.get(key),
      set: (key, entry) => memory.set(key, entry),
      delete: key => memory.delete(key),
      clear: prefix => memory.clear(prefix),
      keys: () => keys(),
    }
    const { service, told, as } = setUpUsers(adapter)
    const api = as('ada')
    await load(api)
    const removed = api.clearUserCache().catch(error => error)
    await service.clock.advance(10_000)
    expect(await removed).toMatchObject({ name: 'TimeLimitError' })
    keys = () => Promise.reject(new Error('down'))
    await expect(api.clearUserCache()).rejects.toThrow('down')
    await api.clearCache()
    expect(told).toEqual([expect.stringContaining('Could not remove cached responses')])
  })
})

describe('a page’s own store', () => {
  it('[SEC-27] loses every response of the API host, and keeps those of another', async () => {
    const sessionStorage = new FakeStorage()
    const { as } = setUpUsers(undefined, sessionStorage)
    await load(as('ada'))
    await load(as('ada', 'other.test'))
    await as('ada').clearUserCache()
    const keys = [...sessionStorage.items.keys()]
    expect([keys.length, keys.every(key => key.includes('other.test'))]).toEqual([2, true])
  })

  it('[SEC-21] never gives one user the masking rules of another', async () => {
    const { service, as } = setUpUsers(new MemoryCacheAdapter())
    const rules = (name: string) => ({ patterns: [{ name, javascriptRegularExpression: 'x' }], configuration: {} })
    const path = 'GET /core/securitymgr/v4/departments/9/maskingpatterns/chat'
    const answers = [rules('of ada'), rules('of bob')]
    service.on(path, () => answers.shift())
    for (const user of ['ada', 'bob', 'ada', 'bob'])
      expect(await as(user).getMaskingPatterns({ departmentId: 9 })).toEqual(rules(`of ${user}`))
    expect(answers).toEqual([])
  })

  it('[REL-112] is not fresh for longer because the clock was set back', async () => {
    const sessionStorage = new FakeStorage()
    const { service, as } = setUpUsers(undefined, sessionStorage)
    await as('ada').getMyPortals()
    await as('bob').getMyPortals()
    service.clock.shiftWallClock(-3_600_000)
    await as('ada').getMyPortals()
    expect(service.seen).toHaveLength(3)
    // The response of the other user is swept although its time has not come yet.
    expect(sessionStorage.items.size).toBe(1)
  })

  it('[REL-21] loses an expired response that is read, also when the call that follows fails', async () => {
    const adapter = new MemoryCacheAdapter()
    // Only the library's own stores are swept.
    const { service, as } = setUpUsers({
      get: key => adapter.get(key),
      set: (key, entry) => adapter.set(key, entry),
      delete: key => adapter.delete(key),
      clear: prefix => adapter.clear(prefix),
      keys: prefix => adapter.keys(prefix),
    })
    await as('ada').getMyPortals()
    await service.clock.advance(300_000)
    service.on('GET /knowledge/portalmgr/v3/myportals', () => new Response('{}', { status: 500 }))
    const failing = as('ada')
      .getMyPortals()
      .catch(error => error.status)
    for (let steps = 0; steps < 40; steps++) await service.clock.advance(1_000)
    expect([await failing, keysOf(adapter)]).toEqual([500, []])
  })

  it('[REL-21] sweeps expired responses, at most once a minute', async () => {
    const sessionStorage = new FakeStorage()
    const { service, environment, as } = setUpUsers(undefined, sessionStorage)
    for (const store of [sessionStorage, undefined]) {
      const adapter = store ? undefined : environment.memory
      const api = (sub: string) =>
        store
          ? as(sub)
          : new ApiHelper(
              { apiDomain: 'api.test', getToken: () => fakeToken({ sub }), cache: { storageType: 'memory' } },
              environment,
            )
      for (let user = 0; user < 20; user++) await api(`user ${user}`).getMyPortals()
      const count = () => (adapter ? keysOf(adapter) : [...sessionStorage.items.keys()]).length
      expect(count()).toBe(20)
      await service.clock.advance(300_000)
      await api('another').getMyPortals()
      expect(count()).toBe(1)
    }
  })
})

describe('stored data of another version', () => {
  it('[REL-22] is ignored and replaced', async () => {
    const sessionStorage = new FakeStorage()
    const { service, as } = setUpUsers(undefined, sessionStorage)
    await load(as('ada'))
    for (const format of [undefined, 1, 99]) {
      for (const [key, text] of sessionStorage.items)
        sessionStorage.setItem(key, JSON.stringify({ ...JSON.parse(text), format }))
      const before = service.seen.length
      await load(as('ada'))
      expect(service.seen).toHaveLength(before + 2)
      await load(as('ada'))
      expect(service.seen).toHaveLength(before + 2)
    }
  })
})

describe('a response that is too large', () => {
  it('[REL-23] is aborted at 8 MiB, and the error states the limit', async () => {
    let pieces = 0
    let isCancelled = false
    const { service, as } = setUpUsers()
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: controller => {
            pieces++
            controller.enqueue(new Uint8Array(1 << 20).fill(32))
          },
          cancel: () => {
            isCancelled = true
          },
        }),
      )
    service.on('GET /knowledge/portalmgr/v3/myportals', endless)
    await expect(as('ada').getMyPortals()).rejects.toMatchObject({
      name: 'ApiError',
      reason: 'body',
      status: 200,
      message: expect.stringContaining('larger than 8 MiB'),
    })
    expect([pieces < 12, isCancelled]).toEqual([true, true])
  })

  it('[REL-23] is read completely below the limit, regardless of how characters are split', async () => {
    const name = 'ü€😀'.repeat(300_000)
    const { service, as } = setUpUsers()
    service.on('GET /knowledge/portalmgr/v3/myportals', { portal: [{ id: 1, name }] })
    expect(await as('ada').getMyPortals()).toEqual([{ id: 1, name }])
  })
})
