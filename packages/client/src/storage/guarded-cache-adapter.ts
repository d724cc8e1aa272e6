import type { Clock } from '../platform/clock.ts'
import { TimeLimitError, withTimeLimit } from '../util/abort.ts'
import { isPromiseLike } from '../util/is-promise-like.ts'
import { type Awaitable, type CacheAdapter, type CacheEntry, fromStored, toStored } from './cache-adapter.ts'

/** Time limit for a store's answer, in milliseconds. */
const LIMIT_MS = 2_000
/** Time limit for a removal, which lists keys first, in milliseconds. */
const REMOVAL_LIMIT_MS = 10_000
/** How long a store is not used after a timeout, in milliseconds. */
const REST_MS = 30_000

/** Called when a store failed, with the reason. */
export type StoreWarning = (message: string, details?: { error: unknown }) => void

/**
 * Guards a custom store. One that throws, rejects, takes too long or returns invalid data counts as empty: its entries
 * are fetched again, and one warning gives the reason.
 *
 * After a timeout, it is not read or written for half a minute, so that a conversation waits for it once rather than
 * with every call. Removals are always passed on.
 */
export class GuardedCacheAdapter implements CacheAdapter {
  readonly #adapter: CacheAdapter
  readonly #clock: Clock
  readonly #warn: StoreWarning
  #restsUntil = Number.NEGATIVE_INFINITY
  #warned = false

  constructor(adapter: CacheAdapter, clock: Clock, warn: StoreWarning) {
    this.#adapter = adapter
    this.#clock = clock
    this.#warn = warn
  }

  get(key: string): Awaitable<CacheEntry | null> {
    return this.#rests ? null : this.#ask(() => this.#adapter.get(key), fromStored)
  }

  set(key: string, entry: CacheEntry): Awaitable<void> {
    return this.#rests ? undefined : this.#ask(() => this.#adapter.set(key, toStored(entry)), toNothing)
  }

  delete(key: string): Awaitable<void> {
    return this.#ask(() => this.#adapter.delete(key), toNothing)
  }

  clear(prefix?: string): Awaitable<void> {
    return this.#ask(() => this.#adapter.clear(prefix), toNothing)
  }

  keys(prefix?: string): Awaitable<string[]> {
    return this.#ask(() => this.#adapter.keys(prefix), toKeys)
  }

  /**
   * Removes the matching entries with a key that starts with a prefix.
   *
   * @throws the error of the store, or a `TimeLimitError`: entries may remain
   */
  async remove(prefix: string, isMatch: (key: string) => boolean): Promise<void> {
    await withTimeLimit(this.#clock, REMOVAL_LIMIT_MS, undefined, async () => {
      const keys: unknown = await this.#adapter.keys(prefix)
      if (!Array.isArray(keys)) throw new TypeError('`keys()` of the cache adapter did not return an array.')
      const wanted = toKeys(keys).filter(key => key.startsWith(prefix) && isMatch(key))
      await Promise.all(wanted.map(key => this.#adapter.delete(key)))
    })
  }

  get #rests(): boolean {
    return this.#clock.monotonic() < this.#restsUntil
  }

  /** The store's answer, parsed by `read`; synchronous if the store is. */
  #ask<T>(work: () => unknown, read: (answer: unknown) => T): Awaitable<T> {
    try {
      const answer = work()
      return isPromiseLike(answer) ? this.#wait(answer, read) : read(answer)
    } catch (error) {
      return this.#failed(error, read)
    }
  }

  async #wait<T>(answer: PromiseLike<unknown>, read: (answer: unknown) => T): Promise<T> {
    try {
      return read(await withTimeLimit(this.#clock, LIMIT_MS, undefined, () => Promise.resolve(answer)))
    } catch (error) {
      if (error instanceof TimeLimitError) this.#restsUntil = this.#clock.monotonic() + REST_MS
      return this.#failed(error, read)
    }
  }

  #failed<T>(error: unknown, read: (answer: unknown) => T): T {
    if (!this.#warned) {
      this.#warned = true
      this.#warn(
        'The cache adapter failed. Its entries count as absent: responses are fetched again, and the context stays in memory.',
        {
          error,
        },
      )
    }
    return read(undefined)
  }
}

function toKeys(answer: unknown): string[] {
  return Array.isArray(answer) ? answer.filter(key => typeof key === 'string') : []
}

function toNothing(): void {}
