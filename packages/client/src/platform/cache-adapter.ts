/** A value with the moment it was stored, in milliseconds since the epoch. */
export interface CacheEntry<T = unknown> {
  value: T
  timestamp: number
}

/** A value now, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>

/**
 * Where the library keeps what outlives a call: responses, tokens, context.
 *
 * Every method may answer at once or with a promise, so that an adapter over a shared store fits. An adapter must not
 * throw for a full or forbidden storage.
 */
export interface CacheAdapter {
  get(key: string): Awaitable<CacheEntry | null>
  set(key: string, entry: CacheEntry): Awaitable<void>
  delete(key: string): Awaitable<void>
  /** Removes every entry whose key starts with the prefix; without one, every entry of this library. */
  clear(prefix?: string): Awaitable<void>
  keys(prefix?: string): Awaitable<string[]>
}

/** Which store a cache uses: the tab's, the origin's, or the page's memory. */
export type CacheStorageType = 'session' | 'local' | 'memory'

/** How answers of the REST calls are kept. */
export interface CacheConfig {
  /** False: nothing is kept but the context, and that in memory only. @default true */
  enabled?: boolean
  /** @default 'session' */
  storageType?: CacheStorageType
  /** Start of every key. @default 'aiagent_cache_' */
  keyPrefix?: string
  /** How long an answer counts as fresh, in milliseconds. @default 300_000 */
  ttl?: number
  /** A store of the host's own, instead of `storageType`. */
  adapter?: CacheAdapter
}
