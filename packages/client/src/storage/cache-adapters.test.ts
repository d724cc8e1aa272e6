import { afterEach, describe, expect, it, vi } from 'vitest'
import { FakeStorage } from '../../test/fake-service.ts'
import { NativeDevice } from '../../test/native-parts.ts'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'
import { createCacheAdapter, StorageCacheAdapter } from './storage-cache-adapter.ts'

const entry = (value: unknown) => ({ value, timestamp: 1 })
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

describe.each([
  ['MemoryCacheAdapter', () => new MemoryCacheAdapter()],
  ['StorageCacheAdapter', () => new StorageCacheAdapter(new FakeStorage())],
])('%s', (_name, make) => {
  it('returns what was set, and null otherwise', () => {
    const adapter = make()
    adapter.set('aiagent_a', entry({ x: [1] }))
    expect(adapter.get('aiagent_a')).toEqual(entry({ x: [1] }))
    expect(adapter.get('aiagent_b')).toBeNull()
    adapter.delete('aiagent_a')
    expect(adapter.get('aiagent_a')).toBeNull()
  })

  it('lists and removes by prefix', () => {
    const adapter = make()
    for (const key of ['aiagent_a1', 'aiagent_a2', 'aiagent_b']) adapter.set(key, entry(1))
    expect(adapter.keys('aiagent_a')).toEqual(['aiagent_a1', 'aiagent_a2'])
    adapter.clear('aiagent_a')
    expect(adapter.keys()).toEqual(['aiagent_b'])
  })
})

describe('StorageCacheAdapter', () => {
  afterEach(() => vi.unstubAllGlobals())

  it.each(['session', 'local'] as const)('[ADOPT-11] finds what an earlier page left in the %s storage', name => {
    const storage = new FakeStorage()
    vi.stubGlobal(`${name}Storage`, storage)
    new StorageCacheAdapter(name).set('aiagent_a', entry(1))
    expect([...storage.items.keys()]).toEqual(['aiagent_a'])
    expect(new StorageCacheAdapter(name).get<number>('aiagent_a')?.value).toBe(1)
  })

  it.each([
    ['has none', undefined],
    ['forbids access', new DOMException('denied', 'SecurityError')],
  ])('[ADOPT-11] stays in memory and warns once where the browser %s', (_what, error) => {
    vi.stubGlobal('sessionStorage', undefined)
    Object.defineProperty(globalThis, 'sessionStorage', {
      configurable: true,
      get() {
        if (error) throw error
      },
    })
    const warnings: string[] = []
    const adapter = new StorageCacheAdapter('session', message => warnings.push(message))
    for (const key of ['aiagent_a', 'aiagent_b']) adapter.set(key, entry(1))
    expect([adapter.get('aiagent_a'), adapter.keys('aiagent_').sort(), warnings.length]).toEqual([
      entry(1),
      ['aiagent_a', 'aiagent_b'],
      1,
    ])
  })

  it.each([undefined, null, 7, 'memory', 'sessionStorage', {}, new Map(), new NativeDevice().asyncStorage])(
    '[ADOPT-11] refuses %o',
    storage => {
      expect(() => new StorageCacheAdapter(storage as never)).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          field: 'storage',
          message: expect.stringContaining('session'),
        }),
      )
    },
  )

  it('keeps in memory what the store rejects, and warns once', () => {
    const storage = new FakeStorage()
    const warnings: string[] = []
    const adapter = new StorageCacheAdapter(storage, message => warnings.push(message))
    adapter.set('aiagent_a', entry('old'))
    storage.full = true
    adapter.set('aiagent_a', entry('new'))
    adapter.set('aiagent_b', entry('other'))
    expect(adapter.get('aiagent_a')).toEqual(entry('new'))
    expect(adapter.keys('aiagent_').sort()).toEqual(['aiagent_a', 'aiagent_b'])
    expect(warnings).toHaveLength(1)
  })

  it('removes an older value from the store when it rejects the newer one', () => {
    const storage = new FakeStorage()
    const adapter = new StorageCacheAdapter(storage)
    adapter.set('aiagent_a', entry('old'))
    storage.full = true
    adapter.set('aiagent_a', entry('new'))
    expect(new StorageCacheAdapter(storage).get('aiagent_a')).toBeNull()
  })

  it.each(['{"value":', 'null', '7', '{"x":1}', ''])('reads the broken entry %j as null', text => {
    const storage = new FakeStorage()
    storage.setItem('aiagent_a', text)
    expect(new StorageCacheAdapter(storage).get('aiagent_a')).toBeNull()
  })

  it('without a prefix, clears only entries of the library', () => {
    const storage = new FakeStorage()
    const own = ['aiagent_cache_x', 'aiagent_auth_y', 'vendor_profiles_1', 'v2_acme_selectedProfile-2']
    for (const key of [...own, 'cart', 'v2_settings', 'my_aiagent_']) storage.setItem(key, '{}')
    new StorageCacheAdapter(storage).clear()
    expect([...storage.items.keys()]).toEqual(['cart', 'v2_settings', 'my_aiagent_'])
  })

  it('behaves as an empty store if the browser forbids access', () => {
    const forbid = (): never => {
      throw new DOMException('denied', 'SecurityError')
    }
    const adapter = new StorageCacheAdapter({
      get length() {
        return forbid()
      },
      getItem: forbid,
      setItem: forbid,
      removeItem: forbid,
      key: forbid,
    })
    expect(adapter.get('aiagent_a')).toBeNull()
    adapter.set('aiagent_a', entry(1))
    expect(adapter.get('aiagent_a')).toEqual(entry(1))
    adapter.clear()
    expect(adapter.keys()).toEqual([])
  })
})

describe('createCacheAdapter', () => {
  it('uses the configured store, by default the session storage', () => {
    const [sessionStorage, localStorage, memory] = [new FakeStorage(), new FakeStorage(), new MemoryCacheAdapter()]
    const stores = { sessionStorage, localStorage, memory, console: quiet }
    void createCacheAdapter(undefined, stores).set('aiagent_s', entry(1))
    void createCacheAdapter('local', stores).set('aiagent_l', entry(1))
    void createCacheAdapter('memory', stores).set('aiagent_m', entry(1))
    expect([...sessionStorage.items.keys()]).toEqual(['aiagent_s'])
    expect([...localStorage.items.keys()]).toEqual(['aiagent_l'])
    expect(memory.keys()).toEqual(['aiagent_m'])
  })

  it('uses memory if there is no store or it cannot be written', () => {
    const memory = new MemoryCacheAdapter()
    const sessionStorage = new FakeStorage()
    sessionStorage.full = true
    expect(createCacheAdapter('session', { memory, sessionStorage, console: quiet })).toBe(memory)
    expect(createCacheAdapter('local', { memory, console: quiet })).toBe(memory)
  })

  it('shares with every agent of a page what the store rejected', () => {
    const sessionStorage = new FakeStorage()
    const stores = { sessionStorage, memory: new MemoryCacheAdapter(), console: quiet }
    const first = createCacheAdapter('session', stores)
    sessionStorage.full = true
    void first.set('aiagent_a', entry(1))
    expect(createCacheAdapter('session', stores).get('aiagent_a')).toEqual(entry(1))
  })
})

it('[OWN-01] a store that claims more keys than it has is listed to its end', () => {
  const keys = ['aiagent_a', 'aiagent_b']
  const storage = Object.assign(new FakeStorage(), { key: (index: number) => keys[index] ?? null })
  Object.defineProperty(storage, 'length', { value: 1e300 })
  expect(new StorageCacheAdapter(storage).keys()).toEqual(keys)
})
