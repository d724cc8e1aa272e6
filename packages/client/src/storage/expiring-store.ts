import type { Clock } from '../platform/clock.ts'
import { SingleFlight } from '../util/single-flight.ts'
import type { CacheAdapter } from './cache-adapter.ts'

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
   */
  async load<T>(
    key: string,
    fetch: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
    read: (stored: unknown) => unknown = stored => stored,
  ): Promise<T> {
    const removals = this.#removals
    const value = await flightsOf(this.#adapter).run(
      `${key}#${removals}`,
      async flight => {
        const stored = await this.#get(key, read)
        if (stored) return stored
        const fetched = await fetch(flight)
        if (removals === this.#removals) await this.#set(key, fetched)
        return fetched
      },
      signal,
    )
    // A key stands for one kind of value, whoever started the flight.
    return structuredClone(value) as T
  }

  /** Removes the entries whose key starts with the prefix and, where a text is given, contains it. */
  async remove(prefix: string, containing = ''): Promise<void> {
    this.#removals++
    for (const key of await this.#adapter.keys(prefix)) {
      if (key.includes(containing, prefix.length)) await this.#adapter.delete(key)
    }
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

  async #set(key: string, value: unknown): Promise<void> {
    try {
      await this.#adapter.set(key, { value: structuredClone(value), timestamp: this.#clock.now() })
    } catch {
      // A store that cannot be written: the next call asks again.
    }
  }
}
