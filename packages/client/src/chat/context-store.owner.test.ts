import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { setUpScope } from '../../test/fake-scope.ts'
import type { CacheEntry } from '../storage/cache-adapter.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { ContextStore } from './context-store.ts'

const KEY = 'aiagent_context_help'
const OTHER_KEY = 'aiagent_context_sales'

/** A store that says what is done to it. */
class NotingAdapter extends MemoryCacheAdapter {
  readonly log: string[] = []
  override get<T>(key: string): CacheEntry<T> | null {
    this.log.push(`get ${key}`)
    return super.get<T>(key)
  }
  override set(key: string, entry: CacheEntry): void {
    this.log.push(`set ${key}`)
    super.set(key, entry)
  }
  override delete(key: string): void {
    this.log.push(`delete ${key}`)
    super.delete(key)
  }
}

function setUp(stored: Record<string, unknown> = {}) {
  const adapter = new NotingAdapter()
  for (const [key, entry] of Object.entries(stored)) adapter.set(key, entry as CacheEntry)
  adapter.log.length = 0
  const failures: unknown[] = []
  const logger = { warn: (_text: string, details?: Record<string, unknown>) => void failures.push(details?.['error']) }
  const scope = setUpScope({ logger, environment: { clock: new ManualClock(7) } })
  const store = new ContextStore(scope, adapter)
  const entryOf = (key: string) => MemoryCacheAdapter.prototype.get.call(adapter, key)
  return { store, scope, adapter, failures, entryOf }
}

const API = 'https://a.test'
const entry = (value: unknown, owner?: unknown) => ({
  value,
  timestamp: 1,
  deployment: API,
  ...(owner !== undefined && { user: owner }),
})

describe('another agent continues the conversation', () => {
  it('[FLOW-08] stores the attributes under its key, merged over the stored ones, and no longer under the old key', async () => {
    const { store, adapter, entryOf } = setUp({ [OTHER_KEY]: entry({ plan: 'silver', city: 'Rome' }) })
    store.merge({ plan: 'gold' })
    await store.moveTo('sales')
    expect(store.get()).toEqual({ plan: 'gold', city: 'Rome' })
    expect(adapter.keys()).toEqual([OTHER_KEY])
    expect(entryOf(OTHER_KEY)?.value).toEqual({ plan: 'gold', city: 'Rome' })
    store.merge({ more: 1 })
    expect(adapter.keys()).toEqual([OTHER_KEY])
  })

  it('without attributes nothing is written, and what lies under the old key goes', async () => {
    const { store, adapter } = setUp({ [KEY]: entry({ old: 1 }) })
    await store.moveTo('sales')
    expect(store.get()).toBeNull()
    expect(adapter.log).toEqual([`get ${OTHER_KEY}`, `get ${KEY}`, `delete ${KEY}`])
  })

  it('nothing happens when it is the same agent', async () => {
    const { store, adapter } = setUp()
    store.merge({ plan: 'gold' })
    adapter.log.length = 0
    await store.moveTo('help')
    expect(adapter.log).toEqual([])
    expect(store.get()).toEqual({ plan: 'gold' })
  })

  it('a store that cannot delete costs the deletion and nothing else', async () => {
    const { store, adapter, failures, entryOf } = setUp()
    const broken = new Error('disk on fire')
    adapter.delete = () => {
      throw broken
    }
    store.merge({ plan: 'gold' })
    await store.moveTo('sales')
    expect(failures).toEqual([broken])
    expect(entryOf(OTHER_KEY)?.value).toEqual({ plan: 'gold' })
  })
})

describe('whose attributes they are', () => {
  it('is stored with them', () => {
    const { store, entryOf } = setUp()
    store.belongTo('ada')
    store.merge({ plan: 'gold' })
    expect(entryOf(KEY)).toEqual({ value: { plan: 'gold' }, timestamp: 7, deployment: API, user: 'ada' })
  })

  it('anybody’s go along into a sign-in', () => {
    const { store, entryOf } = setUp({ [KEY]: entry({ plan: 'gold' }) })
    void store.restore()
    store.belongTo('ada')
    expect(store.get()).toEqual({ plan: 'gold' })
    expect(entryOf(KEY)).toMatchObject({ value: { plan: 'gold' }, user: 'ada' })
  })

  it.each<[string, string | undefined, string | undefined, boolean]>([
    ['one’s own are kept', 'ada', 'ada', true],
    ['another person’s are forgotten', 'ada', 'eve', false],
    ['those of a person are forgotten where nobody signs in', 'ada', undefined, false],
  ])('of what an earlier page stored %s', (_case, stored, owner, kept) => {
    const { store, adapter } = setUp({ [KEY]: entry({ plan: 'gold' }, stored) })
    void store.restore()
    expect(store.get()).toEqual({ plan: 'gold' })
    store.belongTo(owner)
    expect(store.get()).toEqual(kept ? { plan: 'gold' } : null)
    expect(adapter.keys()).toEqual(kept ? [KEY] : [])
  })

  it.each<[string, string | undefined, unknown, boolean]>([
    ['one’s own are taken', 'ada', 'ada', true],
    ['anybody’s are taken', 'ada', undefined, true],
    ['another person’s are left', 'ada', 'eve', false],
    ['a person’s are left where nobody has signed in', undefined, 'ada', false],
    ['anybody’s are taken by anybody', undefined, undefined, true],
    ['those of an owner that cannot be read are left', 'ada', 5, false],
  ])('of what is read after a sign-in %s', (_case, owner, stored, taken) => {
    const { store, failures } = setUp({ [KEY]: entry({ plan: 'gold' }, stored) })
    store.belongTo(owner)
    void store.restore()
    expect(store.get()).toEqual(taken ? { plan: 'gold' } : null)
    expect(failures).toEqual([])
  })

  it('nothing stored is nothing to take, and no failure', () => {
    const { store, failures } = setUp()
    store.belongTo('ada')
    void store.restore()
    expect([store.get(), failures]).toEqual([null, []])
  })

  it('an owner that cannot be read is anybody', () => {
    const { store } = setUp({ [KEY]: entry({ plan: 'gold' }, 5) })
    void store.restore()
    store.belongTo('ada')
    expect(store.get()).toEqual({ plan: 'gold' })
  })

  it('what this page has set itself outlives a change of persons', () => {
    const { store, entryOf } = setUp({ [KEY]: entry({ plan: 'gold', city: 'Rome' }, 'ada') })
    void store.restore()
    store.merge({ city: 'Oslo' })
    store.belongTo('eve')
    expect(store.get()).toEqual({ city: 'Oslo' })
    expect(Object.isFrozen(store.get())).toBe(true)
    expect(entryOf(KEY)).toMatchObject({ value: { city: 'Oslo' }, user: 'eve' })
  })

  it('what was removed no longer counts as set by this page', async () => {
    const { store } = setUp({ [OTHER_KEY]: entry({ city: 'Rome' }, 'ada') })
    store.merge({ city: 'Oslo' })
    void store.remove()
    await store.moveTo('sales')
    store.belongTo('eve')
    expect(store.get()).toBeNull()
  })

  it('writes nothing when the user stays the same, or without attributes', () => {
    const { store, adapter } = setUp()
    store.belongTo('ada')
    store.belongTo('eve')
    expect(adapter.log).toEqual([])
    store.merge({ plan: 'gold' })
    adapter.log.length = 0
    store.belongTo('eve')
    expect(adapter.log).toEqual([])
  })
})

describe('another deployment whose agent has the same id', () => {
  it.each([
    ['another deployment', { deployment: 'https://b.test' }],
    ['an unknown deployment', { deployment: undefined }],
  ])('[SEC-25] ignores the context of %s', (_case, more) => {
    const { store } = setUp({ [KEY]: { ...entry({ iban: 'DE02' }), ...more } })
    void store.restore()
    store.merge({ plan: 'gold' })
    expect(store.get()).toEqual({ plan: 'gold' })
  })

  it('[SEC-25] does not delete the context of another deployment', async () => {
    const { store, entryOf } = setUp({ [KEY]: { ...entry({ iban: 'DE02' }), deployment: 'https://b.test' } })
    void store.restore()
    await store.remove()
    expect(entryOf(KEY)?.value).toEqual({ iban: 'DE02' })
    await store.moveTo('sales')
    expect(entryOf(KEY)?.value).toEqual({ iban: 'DE02' })
  })
})

it('[AUTH-23] has no owner after a sign-out: attributes that an anonymous user sets then are restored', async () => {
  const { store, scope, adapter } = setUp()
  store.belongTo('ada')
  store.merge({ plan: 'gold' })
  await store.forgetUser()
  store.merge({ page: 'prices' })
  const nextPage = new ContextStore(scope, adapter)
  await nextPage.restore()
  nextPage.belongTo(undefined)
  expect(nextPage.get()).toEqual({ page: 'prices' })
})
