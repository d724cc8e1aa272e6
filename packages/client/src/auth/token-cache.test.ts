import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { fakeToken } from '../../test/fake-service.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { TokenCache } from './anonymous-strategy.ts'

const SCOPES = ['read', 'write']

function setUp(adapter: CacheAdapter = new MemoryCacheAdapter()) {
  const clock = new ManualClock()
  const cache = new TokenCache(adapter, clock, 'owner')
  const put = (value: unknown) => adapter.set(cache.keyOf(SCOPES), { value, timestamp: clock.now() } as never)
  return { clock, cache, put, adapter }
}

describe('anonymous tokens in a store', () => {
  it('are found by their scopes until five minutes before they expire', async () => {
    const { cache, clock } = setUp()
    expect(await cache.get(SCOPES)).toBeUndefined()
    const stored = await cache.set(SCOPES, 'opaque', 3_600_000)
    expect(stored).toEqual({ accessToken: 'opaque', expiresAt: clock.now() + 3_600_000 })
    expect(await cache.get(['write', 'read'])).toEqual(stored)
    expect(await cache.get(['read'])).toBeUndefined()
    await clock.advance(3_299_999)
    expect(await cache.get(SCOPES)).toEqual(stored)
    await clock.advance(1)
    expect(await cache.get(SCOPES)).toBeUndefined()
  })

  it('expire as they say themselves', async () => {
    const { cache, clock } = setUp()
    const expiresAt = clock.now() + 600_000
    const stored = await cache.set(SCOPES, fakeToken({ exp: expiresAt / 1000 }), 3_600_000)
    expect(stored.expiresAt).toBe(expiresAt)
  })

  it.each([
    null,
    undefined,
    7,
    'token',
    {},
    { accessToken: 'a' },
    { accessToken: 'a', expiresAt: '9999999999999' },
    { accessToken: '', expiresAt: 9_999_999_999_999 },
    { accessToken: 7, expiresAt: 9_999_999_999_999 },
    { expiresAt: 9_999_999_999_999 },
  ])('count as missing where the entry is %j', async value => {
    const { cache, put } = setUp()
    await put(value)
    expect(await cache.get(SCOPES)).toBeUndefined()
  })

  it('can be removed by scopes, or all those of the owner', async () => {
    const { cache, clock, adapter } = setUp()
    await cache.set(SCOPES, 'first', 3_600_000)
    await cache.set(['other'], 'second', 3_600_000)
    const foreign = new TokenCache(adapter, clock, 'other owner')
    await foreign.set(SCOPES, 'third', 3_600_000)
    await cache.delete(SCOPES)
    expect(await cache.get(SCOPES)).toBeUndefined()
    expect(await cache.get(['other'])).toMatchObject({ accessToken: 'second' })
    await cache.clear()
    expect(await cache.get(['other'])).toBeUndefined()
    expect(await foreign.get(SCOPES)).toMatchObject({ accessToken: 'third' })
  })

  it('are used without a store that works', async () => {
    const broken = () => Promise.reject(new Error('broken'))
    const { cache } = setUp({ get: broken, set: broken, delete: broken, clear: broken, keys: broken })
    expect(await cache.get(SCOPES)).toBeUndefined()
    expect(await cache.set(SCOPES, 'opaque', 1_000)).toMatchObject({ accessToken: 'opaque' })
  })
})
