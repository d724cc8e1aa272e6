import type { Clock } from '../platform/clock.ts'
import { isPromiseLike } from '../util/is-promise-like.ts'
import { SingleFlight } from '../util/single-flight.ts'
import type { CacheAdapter } from './cache-adapter.ts'
import { GuardedCacheAdapter } from './guarded-cache-adapter.ts'
import { removeEntries } from './remove-entries.ts'

/** Shortest time between two searches for expired entries of a store, in milliseconds. */
const SWEEP_EVERY_MS = 60_000

/** When each store was last searched for expired entries. */
const lastSweeps = new WeakMap<CacheAdapter, number>()

/** Requests under way, per store: agents that share a store share them too. */
const flights = new WeakMap<CacheAdapter, SingleFlight<unknown>>()

/** The requests under way whose outcome goes into that store. */
export function flightsOf(adapter: CacheAdapter): SingleFlight<unknown> {
  const known = flights.get(adapter) ?? new SingleFlight<unknown>()
  flights.set(adapter, known)
  return known
}

/**
 * Values that count as fresh for a while, in a store that may belong to the host.
 *
 * A store that fails costs a request, never a failure. What is taken out is a copy: changing it changes nothing here.
 */
export class ExpiringStore {
  readonly #adapter: CacheAdapter
  readonly #clock: Clock
  readonly #ttlMs: number
  /** Grows with every removal, so that an answer asked for before one is not kept after it. */
  #removals = 0

  constructor(adapter: CacheAdapter, clock: Clock, ttlMs: number) {
    this.#adapter = adapter
    this.#clock = clock
    this.#ttlMs = ttlMs
  }

  /**
   * The stored value, else what `fetch` brings, which is then stored. Callers at the same time share one `fetch`.
   *
   * @param read returns a stored value as `fetch` would, and throws or returns undefined where it has another shape
   * @param sweepPrefix start of the keys among which expired entries are searched and removed
   */
  async load<T>(
    key: string,
    fetch: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
    read: (stored: unknown) => unknown = stored => stored,
    sweepPrefix = key,
  ): Promise<T> {
    const removals = this.#removals
    const value = await flightsOf(this.#adapter).run(
      `${key}#${removals}`,
      async flight => {
        const stored = await this.#get(key, read)
        if (stored) return stored
        const fetched = await fetch(flight)
        if (removals === this.#removals) await this.#set(key, fetched, sweepPrefix)
        return fetched
      },
      signal,
    )
    // A key stands for one kind of value, whoever started the flight.
    return structuredClone(value) as T
  }

  /**
   * Removes the entries whose key starts with the prefix and matches.
   *
   * @throws when the store failed or did not answer in time: entries may remain
   */
  async remove(prefix: string, isMatch?: (key: string) => boolean): Promise<void> {
    this.#removals++
    await removeEntries(this.#adapter, prefix, isMatch)
  }

  /** Removes expired entries, at most once a minute. Not in a custom adapter, whose keys may be many and far away. */
  async #sweep(prefix: string): Promise<void> {
    const adapter = this.#adapter
    const now = this.#clock.now()
    if (adapter instanceof GuardedCacheAdapter || now - (lastSweeps.get(adapter) ?? 0) < SWEEP_EVERY_MS) return
    lastSweeps.set(adapter, now)
    await removeEntries(adapter, prefix, key => {
      const entry = adapter.get(key)
      return entry !== null && !isPromiseLike(entry) && now - entry.timestamp >= this.#ttlMs
    })
  }

  async #get(key: string, read: (stored: unknown) => unknown): Promise<unknown> {
    try {
      const entry = await this.#adapter.get(key)
      if (!entry) return undefined
      // A copy at once: what a store of the host's answers may be no data at all.
      if (this.#clock.now() - entry.timestamp < this.#ttlMs) return read(structuredClone(entry.value))
      await this.#adapter.delete(key)
    } catch {
      // A store that cannot be read has nothing for us.
    }
    return undefined
  }

  async #set(key: string, value: unknown, sweepPrefix: string): Promise<void> {
    try {
      await this.#sweep(sweepPrefix)
      await this.#adapter.set(key, { value: structuredClone(value), timestamp: this.#clock.now() })
    } catch {
      // A store that cannot be written: the next call asks again.
    }
  }
}
