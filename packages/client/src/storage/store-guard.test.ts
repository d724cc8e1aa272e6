import { ManualClock, propertyRuns, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TimeLimitError } from '../util/abort.ts'
import type { CacheAdapter, CacheEntry } from './cache-adapter.ts'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'
import { StoreGuard } from './store-guard.ts'

const ENTRY = { value: 'kept', timestamp: 1 }
/** The stored entry. */
const STORED = { ...ENTRY, format: 2 }

/** A host's store with the same implementation for all methods, and its call counts. */
function storeThat(answer: () => unknown) {
  const asked: string[] = []
  const method = (name: string) => () => {
    asked.push(name)
    return answer() as never
  }
  const names = ['get', 'set', 'delete', 'clear', 'keys'] as const
  const adapter = Object.fromEntries(names.map(name => [name, method(name)])) as unknown as CacheAdapter
  return { adapter, asked }
}

function guard(adapter: CacheAdapter) {
  const clock = new ManualClock()
  const warnings: unknown[] = []
  return { clock, warnings, guarded: new StoreGuard(adapter, clock, (...warning) => warnings.push(warning)) }
}

/** The result of each method. */
const askEverything = (adapter: CacheAdapter) =>
  Promise.all([adapter.get('a'), adapter.keys('a'), adapter.set('a', ENTRY), adapter.delete('a'), adapter.clear('a')])
const EMPTY = [null, [], undefined, undefined, undefined]

describe('a guarded store', () => {
  it('is synchronous if the store is, and returns its results', () => {
    const { guarded, warnings } = guard(new MemoryCacheAdapter())
    void guarded.set('a', ENTRY)
    expect(guarded.get('a')).toEqual(ENTRY)
    expect(guarded.keys('a')).toEqual(['a'])
    void guarded.delete('a')
    expect(guarded.get('a')).toBeNull()
    expect(warnings).toEqual([])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('counts as empty when the store %s, and warns once', async (_case, answer) => {
    const { guarded, warnings, clock } = guard(storeThat(answer).adapter)
    expect(await askEverything(guarded)).toEqual(EMPTY)
    expect(await askEverything(guarded)).toEqual(EMPTY)
    expect(warnings).toEqual([[expect.stringContaining('cache adapter failed'), { error: new Error('broken') }]])
    expect(clock.pendingTimers).toBe(0)
  })

  it('counts as empty two seconds after a request without an answer, and warns once', async () => {
    const { guarded, warnings, clock } = guard(storeThat(() => new Promise(() => {})).adapter)
    let answers: unknown
    void askEverything(guarded).then(all => (answers = all))
    await clock.advance(1_999)
    expect(answers).toBeUndefined()
    await clock.advance(1)
    expect(answers).toEqual(EMPTY)
    expect(warnings).toHaveLength(1)
    // The removal has waited for the write, and goes on without its caller.
    await clock.advance(2_000)
    expect(clock.pendingTimers).toBe(0)
  })

  it('does not use a store for half a minute after a timeout, except for removals', async () => {
    let late = true
    const { adapter, asked } = storeThat(() => (late ? new Promise(() => {}) : Promise.resolve(STORED)))
    const { guarded, clock } = guard(adapter)
    const first = guarded.get('a')
    await clock.advance(2_000)
    expect(await first).toBeNull()
    late = false
    expect(guarded.get('a')).toBeNull()
    await guarded.set('a', ENTRY)
    await guarded.delete('a')
    await guarded.clear()
    expect(asked).toEqual(['get', 'delete', 'clear'])
    await clock.advance(29_999)
    expect(guarded.get('a')).toBeNull()
    await clock.advance(1)
    expect(await guarded.get('a')).toEqual(ENTRY)
  })

  it('uses a store that rejected again at once', async () => {
    let fails = true
    const { guarded } = guard(storeThat(async () => (fails ? Promise.reject(new Error('busy')) : STORED)).adapter)
    expect(await guarded.get('a')).toBeNull()
    fails = false
    expect(await guarded.get('a')).toEqual(ENTRY)
  })

  it('ignores an answer that arrives too late', async () => {
    let answer: (entry: unknown) => void = () => {}
    let refuse: (error: unknown) => void = () => {}
    const { guarded, clock } = guard(
      storeThat(
        () =>
          new Promise((resolve, reject) => {
            answer = resolve
            refuse = reject
          }),
      ).adapter,
    )
    const early = guarded.get('a')
    await clock.advance(2_000)
    answer(ENTRY)
    const other = guarded.delete('a')
    await clock.advance(2_000)
    refuse(new Error('too late'))
    await turnEventLoop()
    expect(await early).toBeNull()
    expect(await other).toBeUndefined()
  })

  it('ignores invalid entries and invalid lists of keys', async () => {
    const isEntry = (answer: unknown) =>
      typeof answer === 'object' && answer !== null && Object.hasOwn(answer, 'value') && 'timestamp' in answer
    await fc.assert(
      fc.asyncProperty(fc.anything(), fc.boolean(), async (answer, later) => {
        const { guarded } = guard(storeThat(() => (later ? Promise.resolve(answer) : answer)).adapter)
        const entry = await guarded.get('a')
        if (entry) expect(isEntry(answer)).toBe(true)
        for (const key of await guarded.keys()) expect(typeof key).toBe('string')
        expect(await guarded.set('a', ENTRY)).toBeUndefined()
      }),
    )
  })

  it('removes the matching entries of its prefix only', async () => {
    const store = new MemoryCacheAdapter()
    const { guarded } = guard(store)
    const keys = ['user:a:1', 'user:a:2', 'user:b:1', '1:user:a:']
    for (const key of keys) store.set(key, ENTRY)
    // A host's store may list more than it was asked for.
    const whole = { ...methodsOf(store), keys: () => [...keys, 7] as string[] }
    await guard(whole).guarded.removeAll('some', 'user:a:', key => key.endsWith('1') || key.endsWith(':'))
    expect(store.keys()).toEqual(['user:a:2', 'user:b:1', '1:user:a:'])
    await guarded.removeAll('all', 'user:', () => true)
    expect(store.keys()).toEqual(['1:user:a:'])
  })

  it('says that a removal failed, since entries may remain', async () => {
    const noList = guard(storeThat(() => 'user:a').adapter).guarded
    expect(() => noList.removeAll('all', 'user:', () => true)).toThrow(
      '`keys()` of the cache adapter did not return an array',
    )
    const { guarded, clock } = guard(storeThat(() => new Promise(() => {})).adapter)
    const outcome = Promise.resolve(guarded.removeAll('all', 'user:', () => true)).catch((error: unknown) => error)
    await clock.advance(10_000)
    expect(await outcome).toBeInstanceOf(TimeLimitError)
  })
})

describe('writes to a slow store', () => {
  /** A store that takes effect when the test says so. */
  function slowStore() {
    const store = new MemoryCacheAdapter()
    const pending: (() => void)[] = []
    const later = <T>(work: () => T) => new Promise<T>(resolve => pending.push(() => resolve(work())))
    const adapter: CacheAdapter = {
      ...methodsOf(store),
      set: (key, entry) => later(() => store.set(key, entry)),
      delete: key => later(() => store.delete(key)),
    }
    const answer = async (index = 0) => {
      pending.splice(index, 1)[0]?.()
      await turnEventLoop()
    }
    return { store, pending, answer, ...guard(adapter) }
  }

  it('are what a read that follows finds', async () => {
    const { answer, guarded } = slowStore()
    void guarded.set('a', ENTRY)
    const found = guarded.get('a')
    await answer()
    expect((await found)?.value).toBe(ENTRY.value)
  })

  it('may replace a later value after the time limit, until the next write', async () => {
    const { answer, guarded, clock } = slowStore()
    void guarded.set('a', { value: 'older', timestamp: 1 })
    void guarded.set('a', { value: 'newer', timestamp: 2 })
    await clock.advance(2_000)
    await answer(1)
    await answer()
    await clock.advance(30_000)
    expect(await guarded.get('a')).toMatchObject({ value: 'older' })
    void guarded.set('a', { value: 'newest', timestamp: 3 })
    await answer()
    expect(await guarded.get('a')).toMatchObject({ value: 'newest' })
  })

  it('[SEC-15] do not bring back what was removed, however late they are, and take effect in their order otherwise', async () => {
    const KEYS = ['user:a', 'user:b'] as const
    const step = fc.oneof(
      fc.record({ does: fc.constantFrom('set', 'set', 'remove', 'remove all'), key: fc.constantFrom(...KEYS) }),
      fc.record({ does: fc.constant('answer'), index: fc.nat(3) }),
      fc.record({ does: fc.constant('wait'), ms: fc.constantFrom(500, 2_000, 31_000) }),
    )
    const check = async (steps: readonly { does: string; key?: string; index?: number; ms?: number }[]) => {
      const { store, pending, answer, guarded, clock } = slowStore()
      /** By key, the number of the last value, and of the last one before the last removal. */
      const last = new Map<string, number>()
      const removed = new Map<string, number>()
      let count = 0
      for (const { does, key = '', index = 0, ms = 0 } of steps) {
        if (does === 'set' && !guarded.isResting) {
          void guarded.set(key, { value: ++count, timestamp: 1 })
          last.set(key, count)
        }
        for (const each of does === 'remove all' ? KEYS : does === 'remove' ? [key] : []) {
          removed.set(each, count)
          last.delete(each)
        }
        if (does === 'remove') void guarded.delete(key)
        if (does === 'remove all') void guarded.removeAll('all', 'user:', () => true)?.catch(() => {})
        if (does === 'answer') await answer(pending.length > 0 ? index % pending.length : 0)
        if (does === 'wait') await clock.advance(ms)
        await turnEventLoop()
      }
      const isPrompt = clock.monotonic() === 0
      while (pending.length > 0) await answer(pending.length - 1)
      for (const each of KEYS) {
        const value = store.get(each)?.value as number | undefined
        expect(value ?? Infinity).toBeGreaterThan(removed.get(each) ?? 0)
        if (isPrompt) expect(value).toBe(last.get(each))
      }
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 16 }), check), { numRuns: propertyRuns(100) })
  })
})

describe('what a store could not remove', () => {
  it.each([
    ['a removal of one entry', (guarded: StoreGuard) => guarded.delete('user:a')],
    ['a removal by prefix', async (guarded: StoreGuard) => guarded.removeAll('all', 'user:', () => true)],
  ])('[SEC-15] is not read again until it is written again: %s', async (_case, remove) => {
    const store = new MemoryCacheAdapter()
    const fails = { now: true }
    const refuse = (key: string) => (fails.now ? Promise.reject(new Error('read only')) : store.delete(key))
    const { guarded } = guard({ ...methodsOf(store), delete: refuse })
    for (const key of ['user:a', 'other']) store.set(key, STORED as CacheEntry)
    await Promise.resolve(remove(guarded)).catch(() => {})
    expect([store.keys(), guarded.get('user:a'), guarded.get('other')]).toEqual([['user:a', 'other'], null, ENTRY])
    void guarded.set('user:a', { value: 'new', timestamp: 2 })
    expect(guarded.get('user:a')).toEqual({ value: 'new', timestamp: 2 })
    fails.now = false
    await remove(guarded)
    expect(store.keys()).toEqual(['other'])
  })
})

/** The methods of an adapter, for a store that differs in some of them. */
function methodsOf(adapter: CacheAdapter): CacheAdapter {
  return {
    get: key => adapter.get(key),
    set: (key, entry) => adapter.set(key, entry),
    delete: key => adapter.delete(key),
    clear: prefix => adapter.clear(prefix),
    keys: prefix => adapter.keys(prefix),
  }
}
