import type { Clock } from '../platform/clock.ts'
import { copyJson } from '../util/copy-json.ts'
import { isPromiseLike } from '../util/is-promise-like.ts'
import { JoinedTask } from '../util/joined-task.ts'
import type { CacheAdapter } from './cache-adapter.ts'
import { removeEntries } from './remove-entries.ts'
import { StoreGuard } from './store-guard.ts'

/** Minimum time between two sweeps for expired entries of a store, in milliseconds. */
const SWEEP_EVERY_MS = 60_000

/** When the keys of a store with a prefix were last swept. */
const lastSweeps = new WeakMap<CacheAdapter, Map<string, number>>()

/** Requests in flight, per store: agents that share a store share them too. */
const flights = new WeakMap<CacheAdapter, JoinedTask<unknown>>()

/** The requests in flight for that store. */
export function flightsOf(adapter: CacheAdapter): JoinedTask<unknown> {
  const known = flights.get(adapter) ?? new JoinedTask<unknown>()
  flights.set(adapter, known)
  return known
}

/**
 * Values with a limited freshness, in a store that may belong to the host.
 *
 * A store that fails costs a request, never a failure. Returned values are copies: changing one changes nothing here.
 */
export class ExpiringStore {
  readonly #adapter: CacheAdapter
  readonly #clock: Clock
  readonly #ttlMs: number
  readonly #prefix: string
  /** Incremented with every removal, so that earlier requests are not stored after it. */
  #removals = 0

  /** @param prefix start of the keys among which expired entries are removed */
  constructor(adapter: CacheAdapter, clock: Clock, ttlMs: number, prefix: string) {
    this.#adapter = adapter
    this.#clock = clock
    this.#ttlMs = ttlMs
    this.#prefix = prefix
  }

  /**
   * The stored value, otherwise the result of `fetch`, which is then stored. Concurrent callers share one `fetch`.
   *
   * @param read returns a stored value as `fetch` would; throws or returns undefined if it has another shape
   */
  async load<T>(
    key: string,
    fetch: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
    read: (stored: unknown) => unknown = stored => stored,
  ): Promise<T> {
    const removals = this.#removals
    const value = await flightsOf(this.#adapter).join(
      async flight => {
        await this.#sweep()
        const stored = await this.#get(key, read)
        if (stored) return stored
        const fetched = await fetch(flight)
        if (removals === this.#removals) await this.#set(key, fetched)
        return fetched
      },
      signal,
      `${key}#${removals}`,
    )
    // A key always has the same type of value, for all callers.
    return copyJson(value) as T
  }

  /**
   * Removes the matching entries with a key that starts with the prefix.
   *
   * @throws when the store failed or did not answer in time: entries may remain
   */
  async remove(prefix: string, isMatch?: (key: string) => boolean): Promise<void> {
    this.#removals++
    await removeEntries(this.#adapter, prefix, isMatch)
  }

  /** Removes expired entries, at most once a minute. Not in a custom adapter, whose keys may be many and remote. */
  async #sweep(): Promise<void> {
    const adapter = this.#adapter
    const prefix = this.#prefix
    const now = this.#clock.now()
    const sweeps = lastSweeps.get(adapter) ?? new Map<string, number>()
    if (adapter instanceof StoreGuard || isWithin(SWEEP_EVERY_MS, sweeps.get(prefix) ?? 0, now)) return
    lastSweeps.set(adapter, sweeps.set(prefix, now))
    await removeEntries(adapter, prefix, key => {
      const entry = adapter.get(key)
      if (entry === null || isPromiseLike(entry)) return false
      const { expiresAt } = Object(entry.value) as { expiresAt?: unknown }
      return typeof expiresAt === 'number' ? expiresAt <= now : !isWithin(this.#ttlMs, entry.timestamp, now)
    }).catch(() => {})
  }

  async #get(key: string, read: (stored: unknown) => unknown): Promise<unknown> {
    try {
      const entry = await this.#adapter.get(key)
      if (!entry) return undefined
      // Copy at once: a custom store may return the live object.
      if (isWithin(this.#ttlMs, entry.timestamp, this.#clock.now())) return await read(copyJson(entry.value))
      await this.#adapter.delete(key)
    } catch {
      // A store that cannot be read counts as empty.
    }
    return undefined
  }

  async #set(key: string, value: unknown): Promise<void> {
    try {
      await this.#adapter.set(key, { value: copyJson(value), timestamp: this.#clock.now() })
    } catch {
      // A store that cannot be written: the next call requests again.
    }
  }
}

/** Whether two times are that close. A time in the future was written before the clock was set back. */
function isWithin(limitMs: number, time: number, now: number): boolean {
  return Math.abs(now - time) < limitMs
}
