import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { FakeStorage } from '../../../test/fake-service.ts'
import { resolveEnvironment } from '../../platform/default-environment.ts'
import type { StorageLike } from '../../platform/environment.ts'
import type { CacheAdapter } from '../../storage/cache-adapter.ts'
import { MemoryCacheAdapter } from '../../storage/memory-cache-adapter.ts'
import { ProfileCache, SelectedProfileStore, storagePrefix } from './profile-stores.ts'

const profiles = [{ id: 10, name: 'Member' }]

function setUp(adapter: CacheAdapter = new MemoryCacheAdapter()) {
  const clock = new ManualClock()
  const environment = resolveEnvironment({ clock })
  // Another clock has another guard, which knows the store as one of the host.
  const sharing = resolveEnvironment({ clock: new ManualClock() })
  const make = (agent = '7', isShared = false, deployment = 'https://a.test') => {
    const place = isShared
      ? { environment: sharing, cache: { ttl: 1_000, adapter } }
      : { environment, cache: { ttl: 1_000 }, adapter }
    return new ProfileCache({ ...place, deployment, agent })
  }
  return { adapter, clock, environment, make, cache: make() }
}

describe('ProfileCache', () => {
  it('stores a list per agent, portal and user, under a key of these', async () => {
    const { adapter, cache, make } = setUp()
    await cache.keep(5, 'ada', profiles)
    expect(await adapter.keys()).toEqual(['vendor_profiles_7_5_https://a.test_ada_'])
    expect(await cache.get('5', 'ada')).toEqual(profiles)
    expect(await cache.get(6, 'ada')).toBeUndefined()
    expect(await cache.get(5, 'bob')).toBeUndefined()
    expect(await make('8').get(5, 'ada')).toBeUndefined()
  })

  it('stores a list per language of the host, and removes those of all languages', async () => {
    const { adapter, environment, cache } = setUp()
    let language: string | undefined = 'fr-CA'
    const place = { environment, adapter, deployment: 'https://a.test', agent: '7' }
    const choosing = new ProfileCache(place, () => language)
    await choosing.keep(5, 'ada', profiles)
    language = 'FR-ca'
    expect(await choosing.get(5, 'ada')).toEqual(profiles)
    expect(await cache.get(5, 'ada')).toBeUndefined()
    language = 'de-DE'
    expect(await choosing.get(5, 'ada')).toBeUndefined()
    language = undefined
    expect(await choosing.get(5, 'ada')).toBeUndefined()
    await choosing.keep(5, 'ada', [])
    expect(await cache.get(5, 'ada')).toEqual([])
    await choosing.forget('ada', 5)
    expect(await adapter.keys()).toEqual([])
  })

  it.each([
    ['agent a_b, portal c', ['a_b', 'c', 'ada'], ['a', 'b_c', 'ada']],
    ['an escaped separator', ['a%5Fb', 'c', 'ada'], ['a_b', 'c', 'ada']],
    ['portal and user', ['a', 'b', 'c_d'], ['a', 'b_c', 'd']],
  ])('[SEC-25] separates lists whose ids join to the same text: %s', async (_case, one, other) => {
    const { make } = setUp()
    const [agent = '', portal = '', user = ''] = one
    const [otherAgent, otherPortal = '', otherUser = ''] = other
    await make(agent).keep(portal, user, profiles)
    expect(await make(otherAgent).get(otherPortal, otherUser)).toBeUndefined()
  })

  it('[SEC-25] separates deployments, and removes neither another one’s lists nor those of a longer agent id', async () => {
    const { make } = setUp()
    const [other, longer] = [make('7', false, 'https://b.test'), make('7_2')]
    for (const each of [make(), other, longer]) await each.keep(5, 'ada', profiles)
    await make().forget('ada')
    expect(await Promise.all([make(), other, longer].map(each => each.get(5, 'ada')))).toEqual([
      undefined,
      profiles,
      profiles,
    ])
  })

  it('[SEC-26] removes the lists of other users when a user is claimed, except in a shared store', async () => {
    const { adapter, make } = setUp()
    await make().keep(5, 'ada', profiles)
    await make('7', true).claim('bob')
    expect(await adapter.keys()).toHaveLength(1)
    await make().claim('bob')
    expect(await adapter.keys()).toEqual([])
  })

  it('[SEC-27] removes only the lists of its own users from a shared store', async () => {
    const { make } = setUp()
    const [first, second] = [make('7', true), make('7', true)]
    await first.keep(5, 'ada', profiles)
    await second.keep(5, 'bob', profiles)
    await first.forget('ada')
    expect([await first.get(5, 'ada'), await first.get(5, 'bob')]).toEqual([undefined, profiles])
  })

  it('treats a list as fresh for its time only, and does not prolong it by use', async () => {
    const { cache, clock } = setUp()
    await cache.keep(5, 'ada', profiles)
    await clock.advance(999)
    expect(await cache.get(5, 'ada')).toEqual(profiles)
    await cache.keep(5, 'ada', [{ id: 11 }])
    await clock.advance(1)
    expect(await cache.get(5, 'ada')).toBeUndefined()
    await cache.keep(5, 'ada', [{ id: 11 }])
    expect(await cache.get(5, 'ada')).toEqual([{ id: 11 }])
  })

  it('stores an empty list', async () => {
    const { cache } = setUp()
    await cache.keep(5, 'ada', [])
    expect(await cache.get(5, 'ada')).toEqual([])
  })

  it('gives copies', async () => {
    const { cache } = setUp()
    const given = [{ id: 10, name: 'Member' }]
    await cache.keep(5, 'ada', given)
    given.pop()
    const first = (await cache.get(5, 'ada')) as Array<{ id: unknown; name?: unknown }>
    if (first[0]) first[0].name = 'changed'
    expect(await cache.get(5, 'ada')).toEqual(profiles)
  })

  it('[FLOW-15] removes one portal for all users, or every portal of this agent and no other', async () => {
    const { cache, make } = setUp()
    const other = make('8')
    for (const person of ['ada', 'bob']) for (const portal of [5, 6]) await cache.keep(portal, person, profiles)
    await other.keep(5, 'ada', profiles)
    await cache.forget('ada', 5)
    expect([await cache.get(5, 'ada'), await cache.get(5, 'bob')]).toEqual([undefined, undefined])
    expect(await cache.get(6, 'bob')).toEqual(profiles)
    await cache.forget('ada')
    expect(await cache.get(6, 'bob')).toBeUndefined()
    expect(await other.get(5, 'ada')).toEqual(profiles)
  })

  it.each([['text'], [{}], [[null]], [[{ name: 'no id' }]]])('ignores an entry that contains %j', async value => {
    const { adapter, cache, clock } = setUp()
    await adapter.set('vendor_profiles_7_5_https://a.test_ada', { value, timestamp: clock.now() })
    expect(await cache.get(5, 'ada')).toBeUndefined()
  })

  it('[FLOW-18] is empty over a store that stores nothing, and over one that fails', async () => {
    const broken = () => Promise.reject(new Error('down'))
    const failing = { get: broken, set: broken, delete: broken, clear: broken, keys: broken }
    for (const config of [{ enabled: false }, { adapter: failing }]) {
      const { environment } = setUp()
      const place = { environment, cache: config, deployment: 'https://a.test', agent: '7', warn() {} }
      const cache = new ProfileCache(place)
      await cache.keep(5, 'ada', profiles)
      expect(await cache.get(5, 'ada')).toBeUndefined()
      await cache.forget('ada')
    }
  })
})

const KEY = 'v2_acmeselectedProfile-5'

function setUpSelection(sessionStorage?: StorageLike) {
  const warnings: string[] = []
  const page = { getElement: () => null } as never
  const environment = resolveEnvironment({ memory: new MemoryCacheAdapter(), sessionStorage, page })
  const make = (deployment = 'https://a.test') =>
    new SelectedProfileStore({ environment, deployment, logger: { warn: message => void warnings.push(message) } })
  return { warnings, make, store: make() }
}

describe('SelectedProfileStore', () => {
  it('[FLOW-13] writes name, id, use and portal under the shared key, and nothing else', async () => {
    const storage = new FakeStorage()
    const { store } = setUpSelection(storage)
    const profile = { id: 10, name: 'Member', isLastUsedInPortal: true, further: 'x' }
    await store.remember('acme', 5, profile, 'ada')
    expect([...storage.items].filter(([key]) => key === KEY)).toEqual([
      [KEY, '{"name":"Member","id":10,"isLastUsedInPortal":true,"portalId":5}'],
    ])
    expect(await store.load('acme', '5', 'ada')).toBe(10)
  })

  it('[FLOW-13] writes false if the profile does not state whether it was used last', async () => {
    const storage = new FakeStorage()
    await setUpSelection(storage).store.remember('acme', 5, { id: 10 }, 'ada')
    expect(JSON.parse(storage.items.get(KEY) ?? '')).toEqual({
      name: '',
      id: 10,
      isLastUsedInPortal: false,
      portalId: 5,
    })
  })

  it('separates portals and deployments', async () => {
    const { store } = setUpSelection(new FakeStorage())
    await store.remember('acme', 5, { id: 10 }, 'ada')
    await store.remember('', 5, { id: 11 }, 'ada')
    expect(await store.load('acme', 6, 'ada')).toBeUndefined()
    expect(await store.load('other', 5, 'ada')).toBeUndefined()
    expect(await store.load('', 5, 'ada')).toBe(11)
  })

  it('[SEC-26] ignores a selection of another user or deployment, and keeps entries of the host pages', async () => {
    const storage = new FakeStorage()
    const { make, store } = setUpSelection(storage)
    await store.remember('acme', 5, { id: 10 }, 'ada')
    expect(await store.load('acme', 5, 'bob')).toBeUndefined()
    const other = make('https://b.test')
    expect(await other.load('acme', 5, 'ada')).toBeUndefined()
    await other.remember('acme', 6, { id: 12 }, 'ada')
    storage.setItem('v2_acmeselectedProfile-7', '{"id":13,"portalId":7}')
    await store.claim('acme', 'bob')
    expect([storage.getItem(KEY), await store.load('acme', 7, 'bob')]).toEqual([null, 13])
    expect(await other.load('acme', 6, 'ada')).toBe(12)
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
    expect(await setUpSelection(storage).store.load('acme', 5, 'ada')).toBeUndefined()
  })

  it('uses memory if there is no session storage, shared by all with the same key', async () => {
    const { store, make } = setUpSelection()
    await store.remember('acme', 5, { id: 10 }, 'ada')
    expect(await make().load('acme', 5, 'ada')).toBe(10)
  })

  it('keeps in memory what the store rejects, warns once, and uses the store again when possible', async () => {
    const storage = new FakeStorage()
    const { store, warnings } = setUpSelection(storage)
    await store.remember('acme', 5, { id: 10 }, 'ada')
    storage.full = true
    await store.remember('acme', 5, { id: 11 }, 'ada')
    await store.remember('acme', 6, { id: 12 }, 'ada')
    expect(await store.load('acme', 5, 'ada')).toBe(11)
    expect(storage.items.get(KEY)).toBeUndefined()
    expect(warnings).toEqual([expect.any(String)])
    storage.full = false
    await store.remember('acme', 5, { id: 13 }, 'ada')
    expect(await store.load('acme', 5, 'ada')).toBe(13)
  })

  it('keeps a selection in memory where the browser forbids its store', async () => {
    const throws = () => {
      throw new Error('forbidden')
    }
    const storage = { getItem: throws, setItem: throws, removeItem: throws, key: throws, length: 0 }
    const { store } = setUpSelection(storage)
    await store.remember('acme', 5, { id: 10 }, 'ada')
    expect(await store.load('acme', 5, 'ada')).toBe(10)
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
