import { describe, expect, it } from 'vitest'
import { FakeStorage } from '../../../test/fake-service.ts'
import type { StorageLike } from '../../platform/environment.ts'
import { MemoryCacheAdapter } from '../../storage/memory-cache-adapter.ts'
import { SelectedProfileStore, storagePrefix } from './selected-profile-store.ts'

const KEY = 'v2_acmeselectedProfile-5'

function setUp(storage?: StorageLike) {
  const memory = new MemoryCacheAdapter()
  const warnings: string[] = []
  const make = (endpoint = 'https://a.test') =>
    new SelectedProfileStore({ storage, memory, endpoint, now: () => 1, warn: message => warnings.push(message) })
  return { memory, warnings, make, store: make() }
}

describe('SelectedProfileStore', () => {
  it('[FLOW-13] writes name, id, use and portal under the shared key, and nothing else', async () => {
    const storage = new FakeStorage()
    const { store } = setUp(storage)
    const profile = { id: 10, name: 'Member', isLastUsedInPortal: true, further: 'x' }
    await store.remember('acme', 5, profile, 'ada')
    expect([...storage.items].filter(([key]) => key === KEY)).toEqual([
      [KEY, '{"name":"Member","id":10,"isLastUsedInPortal":true,"portalId":5}'],
    ])
    expect(await store.recall('acme', '5', 'ada')).toBe(10)
  })

  it('[FLOW-13] writes false if the profile does not state whether it was used last', async () => {
    const storage = new FakeStorage()
    await setUp(storage).store.remember('acme', 5, { id: 10 }, 'ada')
    expect(JSON.parse(storage.items.get(KEY) ?? '')).toEqual({
      name: '',
      id: 10,
      isLastUsedInPortal: false,
      portalId: 5,
    })
  })

  it('separates portals and deployments', async () => {
    const { store } = setUp(new FakeStorage())
    await store.remember('acme', 5, { id: 10 }, 'ada')
    await store.remember('', 5, { id: 11 }, 'ada')
    expect(await store.recall('acme', 6, 'ada')).toBeUndefined()
    expect(await store.recall('other', 5, 'ada')).toBeUndefined()
    expect(await store.recall('', 5, 'ada')).toBe(11)
  })

  it('[SEC-26] ignores a selection of another user or deployment, and keeps entries of the host pages', async () => {
    const storage = new FakeStorage()
    const { make, store } = setUp(storage)
    await store.remember('acme', 5, { id: 10 }, 'ada')
    expect(await store.recall('acme', 5, 'bob')).toBeUndefined()
    const other = make('https://b.test')
    expect(await other.recall('acme', 5, 'ada')).toBeUndefined()
    await other.remember('acme', 6, { id: 12 }, 'ada')
    storage.setItem('v2_acmeselectedProfile-7', '{"id":13,"portalId":7}')
    await store.claim('acme', 'bob')
    expect([storage.getItem(KEY), await store.recall('acme', 7, 'bob')]).toEqual([null, 13])
    await store.forget('acme')
    expect([await store.recall('acme', 7, 'bob'), await other.recall('acme', 6, 'ada')]).toEqual([undefined, 12])
  })

  it.each([
    ['of another portal', '{"id":10,"portalId":6}'],
    ['without a portal', '{"id":10}'],
    ['without an id', '{"portalId":5}'],
    ['with an odd id', '{"id":{},"portalId":5}'],
    ['that is invalid JSON', '{'],
    ['that is not an object', '[1]'],
    ['that is empty', ''],
  ])('ignores an entry %s', async (_case, entry) => {
    const storage = new FakeStorage()
    storage.setItem(KEY, entry)
    expect(await setUp(storage).store.recall('acme', 5, 'ada')).toBeUndefined()
  })

  it('uses memory if there is no session storage, shared by all with the same key', async () => {
    const { store, make } = setUp()
    await store.remember('acme', 5, { id: 10 }, 'ada')
    expect(await make().recall('acme', 5, 'ada')).toBe(10)
  })

  it('keeps in memory what the store rejects, warns once, and uses the store again when possible', async () => {
    const storage = new FakeStorage()
    const { store, warnings } = setUp(storage)
    await store.remember('acme', 5, { id: 10 }, 'ada')
    storage.full = true
    await store.remember('acme', 5, { id: 11 }, 'ada')
    await store.remember('acme', 6, { id: 12 }, 'ada')
    expect(await store.recall('acme', 5, 'ada')).toBe(11)
    expect(storage.items.get(KEY)).toBeUndefined()
    expect(warnings).toEqual([expect.any(String)])
    storage.full = false
    await store.remember('acme', 5, { id: 13 }, 'ada')
    expect(await store.recall('acme', 5, 'ada')).toBe(13)
  })

  it('never fails, even if everything else does', async () => {
    const throws = () => {
      throw new Error('forbidden')
    }
    const storage = { getItem: throws, setItem: throws, removeItem: throws, key: throws, length: 0 }
    const broken = () => Promise.reject(new Error('down'))
    const memory = { get: broken, set: broken, delete: broken, clear: broken, keys: broken }
    const store = new SelectedProfileStore({ storage, memory, endpoint: 'a.test', now: () => 1, warn() {} })
    await store.remember('acme', 5, { id: 10 }, 'ada')
    expect(await store.recall('acme', 5, 'ada')).toBeUndefined()
  })
})

describe('the prefix of the keys', () => {
  it.each([
    [{ tenant_identifier: 'acme' }, 'https://example.test/shop', 'acme'],
    [{ tenant_identifier: ' ' }, 'https://example.test/shop/more', 'shop'],
    [{}, 'wss://example.test/shop/', 'shop'],
    [{ tenant_identifier: null }, 'example.test', ''],
    [{}, 'http://127.0.0.1:8600/', ''],
  ])('[FLOW-13] of %j at %s is %j', (deployment, endpoint, prefix) => {
    expect(storagePrefix(deployment, endpoint)).toBe(prefix)
  })
})
