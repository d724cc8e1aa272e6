import { ManualClock } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { setUpScope } from '../../test/fake-scope.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import type { CacheAdapter, CacheEntry } from '../storage/cache-adapter.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { StorageCacheAdapter } from '../storage/storage-cache-adapter.ts'
import { ContextStore } from './context-store.ts'

const KEY = 'aiagent_context_help'

function setUp(adapter: CacheAdapter = new MemoryCacheAdapter(), more: { keyPrefix?: string; agentId?: string } = {}) {
  const failures: unknown[] = []
  const { agentId = 'help', keyPrefix } = more
  const scope = setUpScope({
    config: {
      id: agentId,
      ...(keyPrefix !== undefined && { cache: { contextPrefix: keyPrefix } }),
    },
    logger: { warn: (_text, details) => void failures.push(details?.['error']) },
    environment: { clock: { ...new ManualClock(), now: () => 7 } as never },
  })
  const store = new ContextStore(scope, adapter)
  return { store, adapter, failures }
}

/** A store that answers when the test says so. */
class SlowAdapter implements CacheAdapter {
  readonly kept = new MemoryCacheAdapter()
  readonly #pending: Array<() => void> = []
  readonly log: string[] = []

  #later<T>(name: string, work: () => T): Promise<T> {
    this.log.push(name)
    return new Promise(resolve => this.#pending.push(() => resolve(work())))
  }
  get = (key: string) => this.#later('get', () => this.kept.get(key))
  set = (key: string, entry: CacheEntry) => this.#later('set', () => this.kept.set(key, entry))
  delete = (key: string) => this.#later('delete', () => this.kept.delete(key))
  clear = () => this.#later('clear', () => this.kept.clear())
  keys = () => this.#later('keys', () => this.kept.keys())

  /** Answers one call, and lets everything happen that follows from it. */
  async answerOne(): Promise<void> {
    this.#pending.shift()?.()
    await new Promise<void>(resolve => setImmediate(resolve))
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 10; round++) await this.answerOne()
  }
}

const failing = (error: unknown, later: boolean): CacheAdapter => {
  const fail = () => {
    if (later) return Promise.reject(error)
    throw error
  }
  return { get: fail, set: fail, delete: fail, clear: fail, keys: fail }
}

describe('merging', () => {
  it('starts with nothing', () => {
    expect(setUp().store.get()).toBeNull()
  })

  it('replaces by name and not deeper, and keeps the rest', () => {
    const { store } = setUp()
    store.merge({ plan: 'gold', user: { name: 'Customer', age: 36 } })
    store.merge({ user: { name: 'Somebody else' } })
    expect(store.get()).toEqual({ plan: 'gold', user: { name: 'Somebody else' } })
  })

  it.each<[object, object, object]>([
    [{ a: 1 }, { a: 1 }, {}],
    [{ a: 1 }, { a: 2 }, { a: 2 }],
    [{ a: 1 }, { a: '1' }, { a: '1' }],
    [{ a: 1 }, { b: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 2 }, { b: 2 }],
    [{ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }, {}],
    [{ a: { x: [{ p: 1, q: 2 }] } }, { a: { x: [{ q: 2, p: 1 }] } }, {}],
    [{ a: { x: 1 } }, { a: { x: 1, y: 2 } }, { a: { x: 1, y: 2 } }],
    [{ a: { x: 1, y: 2 } }, { a: { x: 1 } }, { a: { x: 1 } }],
    [{ a: [1, 2] }, { a: [2, 1] }, { a: [2, 1] }],
    [{ a: [1] }, { a: { 0: 1 } }, { a: { 0: 1 } }],
    [{ a: null }, { a: null }, {}],
    [{ a: null }, { a: {} }, { a: {} }],
    [{}, { a: null }, { a: null }],
    [{ a: 0 }, { a: -0 }, {}],
    [{ a: 1 }, { a: undefined }, {}],
    [{ a: 1 }, {}, {}],
    [{}, { toString: 1 }, { toString: 1 }],
    [{}, { a: new Date(0) }, { a: '1970-01-01T00:00:00.000Z' }],
    [{ a: '1970-01-01T00:00:00.000Z' }, { a: new Date(0) }, {}],
  ])('over %j, of %j only %j is new', (before, given, changed) => {
    const { store } = setUp()
    store.merge(before as Record<string, unknown>)
    expect(store.changesOf(given as Record<string, unknown>)).toEqual(changed)
  })

  it('no other order of members is a change, for any JSON', () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, each]) => [name, shuffled(each)]),
      )
    }
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), attributes => {
        const { store } = setUp()
        store.merge(attributes)
        expect(store.changesOf(shuffled(attributes) as Record<string, unknown>)).toEqual({})
      }),
    )
  })

  it('is the same frozen object, through and through, until it changes', () => {
    const { store } = setUp()
    store.merge({ user: { tags: ['a'] } })
    const first = store.get() as { user: { tags: string[] } }
    store.merge({ user: { tags: ['a'] } })
    expect(store.get()).toBe(first)
    expect(() => first.user.tags.push('b')).toThrow(TypeError)
    store.merge({ more: 1 })
    expect(store.get()).not.toBe(first)
    expect(first).toEqual({ user: { tags: ['a'] } })
  })

  it('later changes to objects of the host have no effect', () => {
    const { store } = setUp()
    const user = { name: 'Customer' }
    store.merge({ user })
    user.name = 'Somebody else'
    expect(store.get()).toEqual({ user: { name: 'Customer' } })
    expect(store.changesOf({ user })).toEqual({ user: { name: 'Somebody else' } })
  })

  it('names that mean something to JavaScript are names like others', () => {
    const { store, adapter } = setUp()
    store.merge(JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'))
    expect({}).not.toHaveProperty('polluted')
    expect((store.get() as { polluted?: boolean }).polluted).toBeUndefined()
    expect(Object.keys(store.get() ?? {})).toEqual(['__proto__', 'constructor'])
    const again = setUp(adapter)
    void again.store.restore()
    expect(JSON.stringify(again.store.get())).toBe(JSON.stringify(store.get()))
    expect((again.store.get() as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('a name that every object inherits is new like any other', () => {
    const { store } = setUp()
    store.merge({ a: 1 })
    expect(Object.keys(store.changesOf(JSON.parse('{"__proto__":{}}')))).toEqual(['__proto__'])
  })

  it.each([
    [
      'a circular reference',
      Object.assign(
        {},
        {
          get self(): object {
            return this
          },
        },
      ),
    ],
    ['a BigInt', { n: 1n }],
    ['a text', 'name'],
    ['a list', [1]],
    ['null', null],
    ['nothing', undefined],
    ['a date', new Date(0)],
    ['a function', () => {}],
  ])('%s is a MessageError and changes nothing', (_case, given) => {
    const { store } = setUp()
    store.merge({ a: 1 })
    for (const call of [store.merge, store.changesOf])
      expect(() => call.call(store, given as never)).toThrowError(
        expect.objectContaining({ name: 'MessageError', code: 'MESSAGE_ERROR', reason: 'invalid' }),
      )
    expect(store.get()).toEqual({ a: 1 })
  })
})

describe('what is wrong with a context', () => {
  it.each([
    ['a BigInt', { n: 1n }, 'cannot be written as JSON', expect.any(TypeError)],
    ['a text', 'name', 'not an object of attributes', undefined],
    ['nothing', undefined, 'not an object of attributes', undefined],
  ])('is said about %s', (_case, given, reason, cause) => {
    const { store } = setUp()
    let error: unknown
    try {
      store.merge(given as never)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ name: 'MessageError', message: expect.stringContaining(reason) })
    expect((error as Error).cause).toEqual(cause)
  })
})

describe('storing', () => {
  it('is there after a reload', () => {
    const storage = new FakeStorage()
    const before = setUp(new StorageCacheAdapter(storage)).store
    before.merge({ user: { name: 'Customer' } })
    before.merge({ plan: 'gold' })
    expect(JSON.parse(storage.getItem(KEY) ?? '')).toEqual({
      value: { user: { name: 'Customer' }, plan: 'gold' },
      timestamp: 7,
      format: 2,
      deployment: 'https://a.test',
    })
    const after = setUp(new StorageCacheAdapter(storage)).store
    void after.restore()
    expect(after.get()).toEqual({ user: { name: 'Customer' }, plan: 'gold' })
    expect(after.changesOf({ plan: 'gold' })).toEqual({})
  })

  it('what was removed is not there after a reload', () => {
    const { store, adapter } = setUp()
    store.merge({ a: 1 })
    void store.remove()
    expect(store.get()).toBeNull()
    const after = setUp(adapter).store
    void after.restore()
    expect(after.get()).toBeNull()
    expect(adapter.keys()).toEqual([])
  })

  it('agents do not share a context, and a prefix of the host stands before the key', () => {
    const adapter = new MemoryCacheAdapter()
    setUp(adapter).store.merge({ a: 1 })
    setUp(adapter, { agentId: 'other' }).store.merge({ a: 2 })
    setUp(adapter, { keyPrefix: 'acme_' }).store.merge({ a: 3 })
    expect(adapter.keys().sort()).toEqual(['acme_context_help', KEY, 'aiagent_context_other'].sort())
  })

  it.each([
    '',
    '{',
    '[]',
    '1',
    'null',
    '{"value":1,"timestamp":7,"deployment":"https://a.test"}',
    '{"value":[1],"timestamp":7,"deployment":"https://a.test"}',
    '{"value":null,"timestamp":7,"deployment":"https://a.test"}',
    '{"timestamp":7,"deployment":"https://a.test"}',
  ])('a stored %j reads as nothing', text => {
    const storage = new FakeStorage()
    storage.setItem(KEY, text)
    const { store, failures } = setUp(new StorageCacheAdapter(storage))
    void store.restore()
    expect(store.get()).toBeNull()
    expect(failures).toEqual([])
    store.merge({ a: 1 })
    expect(store.get()).toEqual({ a: 1 })
  })

  it('takes a copy of what a store of the host hands out', () => {
    const value = { user: { name: 'Customer' } }
    const adapter = new MemoryCacheAdapter()
    adapter.set(KEY, { value, timestamp: 7, deployment: 'https://a.test' } as CacheEntry)
    const { store } = setUp(adapter)
    void store.restore()
    value.user.name = 'Somebody else'
    expect(store.get()).toEqual({ user: { name: 'Customer' } })
  })

  it.each([false, true])('a store that fails (later: %s) costs the copy and nothing else', async later => {
    const broken = new Error('disk on fire')
    const { store, failures } = setUp(failing(broken, later))
    await store.restore()
    store.merge({ a: 1 })
    expect(store.get()).toEqual({ a: 1 })
    await store.remove()
    expect(store.get()).toBeNull()
    expect(failures).toEqual([broken])
  })
})

describe('a store that takes its time', () => {
  it('what was set meanwhile stays on top, and both are stored', async () => {
    const adapter = new SlowAdapter()
    adapter.kept.set(KEY, { value: { a: 'old', b: 'old' }, timestamp: 1, deployment: 'https://a.test' } as CacheEntry)
    const { store } = setUp(adapter)
    const restored = store.restore()
    store.merge({ b: 'new', c: 'new' })
    expect(store.get()).toEqual({ b: 'new', c: 'new' })
    await adapter.settle()
    await restored
    expect(store.get()).toEqual({ a: 'old', b: 'new', c: 'new' })
    expect(adapter.kept.get(KEY)?.value).toEqual({ a: 'old', b: 'new', c: 'new' })
    expect(adapter.log).toEqual(['get', 'set'])
  })

  it('what was removed before it was read does not come back', async () => {
    const adapter = new SlowAdapter()
    adapter.kept.set(KEY, { value: { secret: 1 }, timestamp: 1, deployment: 'https://a.test' } as CacheEntry)
    const { store } = setUp(adapter)
    void store.restore()
    void store.remove()
    store.merge({ a: 1 })
    await adapter.settle()
    expect(store.get()).toEqual({ a: 1 })
    expect(adapter.kept.get(KEY)?.value).toEqual({ a: 1 })
  })

  it('is written in order: the next write waits for the one before', async () => {
    const adapter = new SlowAdapter()
    const { store } = setUp(adapter)
    const restored = store.restore()
    await adapter.settle()
    await restored
    store.merge({ a: 1 })
    store.merge({ a: 2 })
    const removed = store.remove()
    expect(adapter.log).toEqual(['get', 'set'])
    await adapter.settle()
    await removed
    expect(adapter.log).toEqual(['get', 'set', 'set', 'get', 'delete'])
    expect(adapter.kept.keys()).toEqual([])
  })

  it('has one write under way at any time, and none waits for one that is done', async () => {
    const adapter = new SlowAdapter()
    const { store } = setUp(adapter)
    const restored = store.restore()
    await adapter.settle()
    await restored
    store.merge({ a: 1 })
    store.merge({ a: 2 })
    await adapter.answerOne()
    store.merge({ a: 3 })
    expect(adapter.log).toEqual(['get', 'set', 'set'])
    await adapter.answerOne()
    expect(adapter.log).toEqual(['get', 'set', 'set', 'set'])
    await adapter.settle()
    store.merge({ a: 4 })
    expect(adapter.log).toEqual(['get', 'set', 'set', 'set', 'set'])
    await adapter.settle()
    expect(adapter.kept.get(KEY)?.value).toEqual({ a: 4 })
  })

  it('a failed write does not hold up the next', async () => {
    const entries: unknown[] = []
    let writes = 0
    const adapter: CacheAdapter = {
      ...failing(new Error('no'), false),
      get: () => null,
      set: (_key, entry) =>
        writes++ === 0 ? Promise.reject(new Error('full')) : Promise.resolve(void entries.push(entry.value)),
    }
    const { store, failures } = setUp(adapter)
    await store.restore()
    store.merge({ a: 1 })
    store.merge({ b: 2 })
    await new Promise<void>(resolve => setImmediate(resolve))
    expect(failures).toHaveLength(1)
    expect(entries).toEqual([{ a: 1, b: 2 }])
  })
})
