/** A value with the moment it was stored, in milliseconds since the epoch. */
export interface CacheEntry<T = unknown> {
  value: T
  /** When the value was stored. */
  timestamp: number
}

/** Whether a store's answer is an entry: anybody may have written it. */
export function isCacheEntry(value: unknown): value is CacheEntry {
  if (typeof value !== 'object' || value === null) return false
  return 'value' in value && 'timestamp' in value && typeof value.timestamp === 'number'
}

/** A value now, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>

/**
 * Where the library keeps what outlives a call: responses, tokens, context.
 *
 * Every method may answer at once or with a promise, so that an adapter over a shared store fits. An adapter should not
 * throw for a full or forbidden storage, and answer soon: one that throws, rejects, answers nonsense or takes more than two
 * seconds counts as empty, and one warning says so.
 */
export interface CacheAdapter {
  /** The entry of a key, or null. */
  get(key: string): Awaitable<CacheEntry | null>
  /** Stores an entry in place of the one before. */
  set(key: string, entry: CacheEntry): Awaitable<void>
  /** Removes the entry of a key, where there is one. */
  delete(key: string): Awaitable<void>
  /** Removes every entry whose key starts with the prefix; without one, every entry of this library. */
  clear(prefix?: string): Awaitable<void>
  /** The keys that start with the prefix; without one, those of every entry of this library. */
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
  /**
   * Start of every key; what is kept of one kind has a name of its own behind it, as `{keyPrefix}context_`.
   *
   * @default 'aiagent_cache_' for answers, 'aiagent_context_' for the context, 'aiagent_auth_' for anonymous tokens
   */
  keyPrefix?: string
  /**
   * Start of the context's key, instead of `keyPrefix`. In a store that serves many people, each conversation needs one
   * of its own; what else is kept belongs to no conversation and stays shared.
   */
  contextPrefix?: string
  /** How long an answer counts as fresh, in milliseconds. @default 300_000 */
  ttl?: number
  /** A store of the host's own, instead of `storageType`. `@aiagent/client/unstorage` has one for stores that programs share. */
  adapter?: CacheAdapter
}
