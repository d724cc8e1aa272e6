import type { Clock } from '../platform/environment.ts'
import { TimeLimitError, withTimeLimit } from '../util/abort.ts'
import type { JoinedTask } from '../util/joined-task.ts'
import { isPromiseLike } from '../util/values.ts'
import { type Awaitable, type CacheAdapter, type CacheEntry, fromStored, toStored } from './cache-adapter.ts'

/** Time limit for a store's answer, in milliseconds. */
const LIMIT_MS = 2_000
/** Time limit for a removal, which lists keys first, in milliseconds. */
export const REMOVAL_LIMIT_MS = 10_000
/** How long a store is not used after a timeout, in milliseconds. */
const REST_MS = 30_000
/** Most failed removals that are remembered. */
const KEPT_REMOVALS = 1_000

/** Called when a store failed, with the reason. */
export type StoreWarning = (message: string, details?: { error: unknown }) => void

/** The writes of one key since its last removal, with that, as long as the store has not answered each of them. */
interface OpenWrites {
  /** Settles with the latest one, or with its time limit. */
  done: PromiseLike<unknown>
  /** Number of calls without an answer. */
  count: number
  /** Whether the key was removed while they had no answer. */
  isRemoved: boolean
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
 * - The writes of a key follow each other, and a read follows them. One that takes effect later than its time limit may replace
 *   what was written since: the older value is then found until the next write. After a removal it never brings its value back:
 *   the key is removed again, with what was written since.
 * - A removed entry is not read again until it is written again, even if the store could not remove it.
 * - A write that fails removes the entry: what the store has is older.
 */
export class StoreGuard implements CacheAdapter {
  /** Requests in flight for entries of the store: agents that share it share them too. Created by the first one. */
  flights: JoinedTask<unknown> | undefined
  /** Keys that agents of this page or process use, see handed-over.ts. */
  readonly inUse = new Map<string, object>()
  /** Whether the host provides the store. */
  readonly isCustom: boolean
  readonly #adapter: CacheAdapter
  readonly #clock: Clock
  readonly #warn: StoreWarning
  #restsUntil = 0
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

  get(key: string): Awaitable<CacheEntry | null> {
    return this.isResting ? null : this.find(key)
  }

  /** As {@link get}, and asks after a timeout too: who removes an entry must know whose it is. */
  find(key: string): Awaitable<CacheEntry | null> {
    if (this.#isRemoved(key)) return null
    try {
      const ask = () => this.#adapter.get(key)
      const answer: unknown = this.#writes?.get(key)?.done.then(ask, ask) ?? this.#adapter.get(key)
      if (!isPromiseLike(answer)) return this.#entry(answer)
      // Removed entries may be among the late answers.
      return this.#answer(
        () => answer,
        null,
        later => (this.#isRemoved(key) ? null : this.#entry(later)),
      )
    } catch (error) {
      return this.#failed(error, null)
    }
  }

  set(key: string, entry: CacheEntry): Awaitable<void> {
    if (this.isResting) return
    const stored = this.isCustom ? toStored(entry) : entry
    const removals = this.#removals && [...this.#removals.values()]
    const note = () => {
      for (const { written } of removals ?? []) written.add(key)
    }
    try {
      const written = this.#write(key, () => this.#adapter.set(key, stored), LIMIT_MS)
      if (!written) return removals && note()
      return this.#limited(written, LIMIT_MS).then(note, (error: unknown) => this.#refused(key, error))
    } catch (error) {
      return this.#refused(key, error)
    }
  }

  delete(key: string): Awaitable<void> {
    return this.#answer(() => this.remove(key), undefined, nothing)
  }

  clear(prefix?: string): Awaitable<void> {
    return this.#answer(() => this.#adapter.clear(prefix), undefined, nothing)
  }

  keys(prefix?: string): Awaitable<string[]> {
    return this.#answer(() => this.#adapter.keys(prefix), [], texts)
  }

  /**
   * The keys that start with a prefix.
   *
   * @throws the error of the store, or a `TimeLimitError`, at once or by the promise: it is not empty
   */
  list(prefix: string): Awaitable<string[]> {
    const keys = this.#adapter.keys(prefix)
    return isPromiseLike(keys) ? this.#limited(keys, LIMIT_MS).then(texts) : texts(keys)
  }

  /**
   * Removes the matching entries with a key that starts with a prefix.
   *
   * @param id identifies the removal, which replaces an earlier one that failed
   * @throws the error of the store, or a `TimeLimitError`, at once or by the promise: entries may remain
   */
  removeAll(id: string, prefix: string, matches: (key: string) => boolean): Promise<void> | undefined {
    return this.#remove(id, key => key.startsWith(prefix) && matches(key), prefix, REMOVAL_LIMIT_MS)
  }

  #entry(answer: unknown): CacheEntry | null {
    return this.isCustom ? fromStored(answer) : ((answer as CacheEntry | undefined) ?? null)
  }

  /** Whether nothing is read and written for a while. */
  get isResting(): boolean {
    return this.#clock.monotonic() < this.#restsUntil
  }

  /** Whether an entry was removed, also where the store has it still. */
  #isRemoved(key: string): boolean {
    for (const { matches, written } of this.#removals?.values() ?? [])
      if (!written.has(key) && matches(key)) return true
    return false
  }

  /**
   * Removes the entry of a key.
   *
   * @throws as {@link removeAll}
   */
  remove(key: string): Promise<void> | undefined {
    return this.#remove(key, each => each === key, [key], LIMIT_MS)
  }

  /** @param listed the keys, or the prefix of the keys to list */
  #remove(
    id: string,
    matches: (key: string) => boolean,
    listed: string | readonly string[],
    limitMs: number,
  ): Promise<void> | undefined {
    const removals = (this.#removals ??= new Map<string, Removal>())
    const removal: Removal = { matches, written: new Set() }
    removals.delete(id)
    removals.set(id, removal)
    if (removals.size > KEPT_REMOVALS) removals.delete(removals.keys().next().value as string)
    const end = () => {
      if (removals.get(id) === removal) removals.delete(id)
    }
    const keys: unknown = typeof listed === 'string' ? this.#adapter.keys(listed) : listed
    const removed = isPromiseLike(keys)
      ? Promise.resolve(keys).then(each => this.#deleteAll(each, removal, limitMs))
      : this.#deleteAll(keys, removal, limitMs)
    if (removed) return this.#limited(removed.then(end), limitMs)
    end()
    return undefined
  }

  /** Deletes the entries of a removal. @throws the first failure, after all were deleted that can be */
  #deleteAll(keys: unknown, { matches, written }: Removal, limitMs: number): Promise<unknown> | undefined {
    if (!Array.isArray(keys)) throw new TypeError('`keys()` of the cache adapter did not return an array.')
    let failure: { error: unknown } | undefined
    const answers: unknown[] = []
    // A write that the store has not answered may not be listed yet.
    for (const key of new Set<string>([...texts(keys), ...(this.#writes?.keys() ?? [])])) {
      // A store that lists its keys late may have the next user's entry by then.
      if (!matches(key) || written.has(key)) continue
      try {
        const answer = this.#write(key, () => this.#adapter.delete(key), limitMs, true)
        if (answer) answers.push(answer)
      } catch (error) {
        failure ??= { error }
      }
    }
    if (failure) throw failure.error
    return answers.length > 0 ? Promise.all(answers) : undefined
  }

  /**
   * Runs a write after the earlier ones of its key.
   *
   * @param isRemoval whether it is repeated after each of those that takes effect later than its time limit
   */
  #write(key: string, write: () => unknown, limitMs: number, isRemoval = false): PromiseLike<void> | undefined {
    const earlier = this.#writes?.get(key)
    const turn = earlier?.done.then(nothing, nothing)
    const next = () => {
      // Those that have no answer yet are late.
      if (earlier && isRemoval) earlier.isRemoved = true
      return write()
    }
    const answer: unknown = turn ? turn.then(next) : write()
    if (!isPromiseLike(answer)) return undefined
    const begin = () => this.#limited(answer, limitMs).then(nothing)
    const done = turn ? turn.then(begin) : begin()
    const open = earlier && !isRemoval ? earlier : { done, count: 0, isRemoved: false }
    open.done = done
    open.count++
    const writes = (this.#writes ??= new Map<string, OpenWrites>()).set(key, open)
    const settle = () => {
      if (--open.count === 0 && writes.get(key) === open) writes.delete(key)
      if (open.isRemoved) void this.delete(key)
    }
    answer.then(settle, settle)
    return done
  }

  /** What `read` makes of the answer of the store, or `none` when it fails. */
  #answer<T>(ask: () => unknown, none: T, read: (answer: unknown) => T): Awaitable<T> {
    const fail = (error: unknown) => this.#failed(error, none)
    try {
      const answer = ask()
      return isPromiseLike(answer) ? this.#limited(answer, LIMIT_MS).then(read).catch(fail) : read(answer)
    } catch (error) {
      return fail(error)
    }
  }

  /** The answer of the store. @throws {TimeLimitError} when it takes too long */
  async #limited<T>(answer: Awaitable<T>, limitMs: number): Promise<T> {
    try {
      return await withTimeLimit(this.#clock, limitMs, undefined, async () => answer)
    } catch (error) {
      if (error instanceof TimeLimitError) this.#restsUntil = this.#clock.monotonic() + REST_MS
      throw error
    }
  }

  /** A write has failed: the next page would take the previous entry for the newest. */
  #refused(key: string, error: unknown): Awaitable<void> {
    this.#failed(error, undefined)
    // One without an answer may still take effect, and a later one replaces the entry.
    if (!(error instanceof TimeLimitError) && !this.#writes?.has(key)) return this.delete(key)
  }

  #failed<T>(error: unknown, none: T): T {
    if (!this.#isWarned) this.#warn(this.isCustom ? CUSTOM_FAILED : PLATFORM_FAILED, { error })
    this.#isWarned = true
    return none
  }
}

/** One guard for each adapter, so that all users of an adapter share its state. */
const guards = /* @__PURE__ */ new WeakMap<CacheAdapter, StoreGuard>()

/** The guard of an adapter. */
export function guardCacheAdapter(
  adapter: CacheAdapter,
  clock: Clock,
  warn: StoreWarning,
  isCustom = true,
): StoreGuard {
  if (adapter instanceof StoreGuard) return adapter
  const guard = guards.get(adapter) ?? new StoreGuard(adapter, clock, warn, isCustom)
  guards.set(adapter, guard)
  return guard
}

const CUSTOM_FAILED =
  'The cache adapter failed. Its entries count as absent: responses are fetched again, and the context stays in memory.'
const PLATFORM_FAILED = "The browser's store failed. Its entries count as absent."

function texts(answer: unknown): string[] {
  return Array.isArray(answer) ? answer.filter(key => typeof key === 'string') : []
}

function nothing(): void {}
