import type { Clock } from '../platform/clock.ts'
import { TimeLimitError, withTimeLimit } from '../util/abort.ts'
import { isPromiseLike } from '../util/is-promise-like.ts'
import { SingleFlight } from '../util/single-flight.ts'
import { type Awaitable, type CacheAdapter, type CacheEntry, fromStored, toStored } from './cache-adapter.ts'

/** Time limit for a store's answer, in milliseconds. */
const LIMIT_MS = 2_000
/** Time limit for a removal, which lists keys first, in milliseconds. */
const REMOVAL_LIMIT_MS = 10_000
/** How long a store is not used after a timeout, in milliseconds. */
const REST_MS = 30_000
/** Most failed removals that are remembered. */
const KEPT_REMOVALS = 1_000

/** Called when a store failed, with the reason. */
export type StoreWarning = (message: string, details?: { error: unknown }) => void

/** The writes of one key that the store has not answered. */
interface OpenWrites {
  /** The latest one. */
  last: () => unknown
  /** Settles with the latest one, or with its time limit. */
  done: PromiseLike<unknown>
  /** Number of calls without an answer. */
  count: number
}

/** Entries that are not read any more: their removal is in progress, or has failed. */
interface Removal {
  readonly matches: (key: string) => boolean
  /** Keys that were written again since. */
  readonly written: Set<string>
}

/**
 * The one access to a store, which may throw, reject, hang or return invalid data. It then counts as empty, and one warning
 * gives the reason. It is synchronous if the store is.
 *
 * - After a timeout a store is not read or written for half a minute, so that a conversation waits for it once rather than
 *   with every call. Removals are always passed on.
 * - The writes of a key follow each other. After one that takes effect later than its time limit, the latest one is repeated.
 * - A removed entry is not read again until it is written again, even if the store could not remove it.
 */
export class StoreGuard implements CacheAdapter {
  /** Whether the host provides the store. */
  readonly isCustom: boolean
  readonly #adapter: CacheAdapter
  readonly #clock: Clock
  readonly #warn: StoreWarning
  #flights: SingleFlight<unknown> | undefined
  #restsUntil = Number.NEGATIVE_INFINITY
  #isWarned = false
  /** By key. Absent as long as the store has answered every write at once. */
  #writes: Map<string, OpenWrites> | undefined
  #removals: Map<string, Removal> | undefined

  constructor(adapter: CacheAdapter, clock: Clock, warn: StoreWarning, isCustom = true) {
    this.#adapter = adapter
    this.#clock = clock
    this.#warn = warn
    this.isCustom = isCustom
  }

  /** Requests in flight for entries of the store: agents that share it share them too. */
  get flights(): SingleFlight<unknown> {
    return (this.#flights ??= new SingleFlight())
  }

  get(key: string): Awaitable<CacheEntry | null> {
    if (this.#rests || this.#isRemoved(key)) return null
    const read = (answer: unknown): CacheEntry | null => {
      // Removed while the store was reading.
      if (this.#isRemoved(key)) return null
      return this.isCustom ? fromStored(answer) : ((answer as CacheEntry | undefined) ?? null)
    }
    return this.#ask(() => this.#within(LIMIT_MS, this.#adapter.get(key)), read)
  }

  set(key: string, entry: CacheEntry): Awaitable<void> {
    if (this.#rests) return
    const stored = this.isCustom ? toStored(entry) : entry
    const earlier = [...(this.#removals?.values() ?? [])]
    const write = () => this.#write(key, () => this.#adapter.set(key, stored), LIMIT_MS)
    const note = () => {
      for (const { written } of earlier) written.add(key)
    }
    return this.#ask(() => after(write(), note), nothing)
  }

  delete(key: string): Awaitable<void> {
    return this.#ask(
      () =>
        this.#remove(
          key,
          each => each === key,
          LIMIT_MS,
          () => [key],
        ),
      nothing,
    )
  }

  clear(prefix = ''): Awaitable<void> {
    return this.#ask(() => this.#within(LIMIT_MS, this.#adapter.clear(prefix)), nothing)
  }

  keys(prefix?: string): Awaitable<string[]> {
    return this.#ask(() => this.#within(LIMIT_MS, this.#adapter.keys(prefix)), texts)
  }

  /** Waits for the writes of a key. */
  settled(key: string): Awaitable<unknown> {
    return this.#writes?.get(key)?.done.then(nothing, nothing)
  }

  /**
   * Removes the matching entries with a key that starts with a prefix.
   *
   * @param id identifies the removal, which replaces an earlier one that failed
   * @throws the error of the store, or a `TimeLimitError`, at once or by the promise: entries may remain
   */
  removeAll(id: string, prefix: string, matches: (key: string) => boolean): Awaitable<void> {
    const list = () =>
      after(this.#adapter.keys(prefix) as Awaitable<unknown>, keys => {
        if (!Array.isArray(keys)) throw new TypeError('`keys()` of the cache adapter did not return an array.')
        return texts(keys)
      })
    return this.#remove(id, key => key.startsWith(prefix) && matches(key), REMOVAL_LIMIT_MS, list)
  }

  get #rests(): boolean {
    return this.#clock.monotonic() < this.#restsUntil
  }

  #isRemoved(key: string): boolean {
    for (const { matches, written } of this.#removals?.values() ?? [])
      if (!written.has(key) && matches(key)) return true
    return false
  }

  #remove(
    id: string,
    matches: (key: string) => boolean,
    limitMs: number,
    list: () => Awaitable<string[]>,
  ): Awaitable<void> {
    this.#removals ??= new Map()
    const removals = this.#removals
    const removal: Removal = { matches, written: new Set() }
    removals.delete(id)
    removals.set(id, removal)
    const [oldest = id] = removals.keys()
    if (removals.size > KEPT_REMOVALS) removals.delete(oldest)
    const removed = after(list(), keys => {
      let failure: { error: unknown } | undefined
      // A write that the store has not answered may not be listed yet.
      const wanted = [...new Set([...keys, ...(this.#writes?.keys() ?? [])])].filter(matches)
      const answers = wanted.map(key => {
        try {
          return this.#write(key, () => this.#adapter.delete(key), limitMs)
        } catch (error) {
          failure ??= { error }
          return undefined
        }
      })
      const check = () => {
        if (failure) throw failure.error
      }
      return answers.some(isPromiseLike) ? Promise.all(answers).then(check) : check()
    })
    const end = () => {
      if (removals.get(id) === removal) removals.delete(id)
    }
    return after(this.#within(limitMs, removed), end)
  }

  /** Runs a write after the earlier ones of its key. */
  #write(key: string, write: () => unknown, limitMs: number): Awaitable<unknown> {
    const open = this.#writes?.get(key)
    if (!open) return this.#begin(key, write, limitMs)
    const begin = () => this.#begin(key, write, limitMs)
    open.last = write
    const done = open.done.then(begin, begin)
    open.done = done
    return done
  }

  #begin(key: string, write: () => unknown, limitMs: number): Awaitable<unknown> {
    const answer: unknown = write()
    if (!isPromiseLike(answer)) return
    this.#writes ??= new Map()
    const writes = this.#writes
    const open = writes.get(key) ?? { last: write, done: answer, count: 0 }
    writes.set(key, open)
    open.count++
    let isLate = false
    const settle = () => {
      open.count--
      if (open.last === write) {
        if (open.count === 0) writes.delete(key)
      } else if (isLate) void this.#ask(() => this.#begin(key, open.last, limitMs), nothing)
    }
    answer.then(settle, settle)
    const done = this.#within(limitMs, answer).catch((error: unknown) => {
      isLate = error instanceof TimeLimitError
      throw error
    })
    if (open.last === write) open.done = done
    return done
  }

  /** The answer of the store, at most until a time limit. */
  #within<T>(limitMs: number, answer: T): T extends PromiseLike<infer Value> ? Promise<Value> : T
  #within(limitMs: number, answer: unknown): unknown {
    if (!isPromiseLike(answer)) return answer
    return withTimeLimit(this.#clock, limitMs, undefined, () => Promise.resolve(answer)).catch((error: unknown) => {
      if (error instanceof TimeLimitError) this.#restsUntil = this.#clock.monotonic() + REST_MS
      throw error
    })
  }

  /** What `read` makes of the answer; of nothing when the store failed. */
  #ask<T>(work: () => unknown, read: (answer: unknown) => T): Awaitable<T> {
    const failed = (error: unknown): T => {
      if (!this.#isWarned) this.#warn(this.isCustom ? CUSTOM_FAILED : PLATFORM_FAILED, { error })
      this.#isWarned = true
      return read(undefined)
    }
    try {
      const answer = work()
      return isPromiseLike(answer) ? Promise.resolve(answer).then(read, failed) : read(answer)
    } catch (error) {
      return failed(error)
    }
  }
}

/** One guard for each adapter and clock, so that all users of an adapter share its state. */
const guards = new WeakMap<CacheAdapter, WeakMap<Clock, StoreGuard>>()

/** The guard of an adapter. */
export function guardCacheAdapter(
  adapter: CacheAdapter,
  clock: Clock,
  warn: StoreWarning,
  isCustom = true,
): StoreGuard {
  if (adapter instanceof StoreGuard) return adapter
  const known = guards.get(adapter) ?? new WeakMap<Clock, StoreGuard>()
  guards.set(adapter, known)
  const guard = known.get(clock) ?? new StoreGuard(adapter, clock, warn, isCustom)
  known.set(clock, guard)
  return guard
}

const CUSTOM_FAILED =
  'The cache adapter failed. Its entries count as absent: responses are fetched again, and the context stays in memory.'
const PLATFORM_FAILED = "The browser's store failed. Its entries count as absent."

/** Continues with a value, at once if it is there. */
export function after<T, U>(value: Awaitable<T>, work: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromiseLike(value) ? Promise.resolve(value).then(work) : work(value)
}

function texts(answer: unknown): string[] {
  return Array.isArray(answer) ? answer.filter(key => typeof key === 'string') : []
}

function nothing(): void {}
