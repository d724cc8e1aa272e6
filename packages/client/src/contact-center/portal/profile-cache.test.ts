import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import type { CacheAdapter } from '../../storage/cache-adapter.ts'
import { EmptyCacheAdapter } from '../../storage/create-cache-adapter.ts'
import { MemoryCacheAdapter } from '../../storage/memory-cache-adapter.ts'
import { ProfileCache } from './profile-cache.ts'

const profiles = [{ id: 10, name: 'Member' }]

function setUp(adapter: CacheAdapter = new MemoryCacheAdapter()) {
  const clock = new ManualClock()
  const make = (agentId = '7', isShared = false, endpoint = 'https://a.test') =>
    new ProfileCache({ adapter, isShared, agentId, endpoint, ttlMs: 1_000, now: clock.now })
  return { adapter, clock, make, cache: make() }
}

describe('ProfileCache', () => {
  it('stores a list per agent, portal and user, under a key of these', async () => {
    const { adapter, cache, make } = setUp()
    await cache.keep(5, 'ada', profiles)
    expect(await adapter.keys()).toEqual(['vendor_profiles_7_5_https://a.test_ada'])
    expect(await cache.get('5', 'ada')).toEqual(profiles)
    expect(await cache.get(6, 'ada')).toBeUndefined()
    expect(await cache.get(5, 'bob')).toBeUndefined()
    expect(await make('8').get(5, 'ada')).toBeUndefined()
  })

  it('stores a list per language of the host, and removes those of all languages', async () => {
    const { adapter, clock, cache } = setUp()
    let language: string | undefined = 'fr-CA'
    const options = { adapter, agentId: '7', endpoint: 'https://a.test', ttlMs: 1_000, now: clock.now }
    const choosing = new ProfileCache({ ...options, language: () => language })
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
    await choosing.forget(5)
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
    await make().forget()
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
    await first.forget()
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
    await cache.forget(5)
    expect([await cache.get(5, 'ada'), await cache.get(5, 'bob')]).toEqual([undefined, undefined])
    expect(await cache.get(6, 'bob')).toEqual(profiles)
    await cache.forget()
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
    for (const adapter of [new EmptyCacheAdapter(), failing]) {
      const { cache } = setUp(adapter)
      await cache.keep(5, 'ada', profiles)
      expect(await cache.get(5, 'ada')).toBeUndefined()
      await cache.forget()
    }
  })
})
