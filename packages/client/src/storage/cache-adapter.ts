/** Version of the stored data. It grows when a later release cannot read what an earlier one stored. */
const FORMAT = 2

/** A stored value. An adapter stores and returns the whole entry, fields that it does not know included. */
export interface CacheEntry<T = unknown> {
  value: T
  /** When the value was stored, in milliseconds since the epoch. */
  timestamp: number
}

/** The entry as it goes into a store that outlives the page or process. */
export function toStored(entry: CacheEntry): CacheEntry {
  return { ...entry, format: FORMAT } as CacheEntry
}

/** The entry that a store returned; null for anything else, such as what another program or version stored. */
export function fromStored(value: unknown): CacheEntry | null {
  if (typeof value !== 'object' || value === null) return null
  const { format, ...entry } = value as { [Field in keyof CacheEntry]?: CacheEntry[Field] } & { format?: unknown }
  return format === FORMAT && 'value' in entry && typeof entry.timestamp === 'number' ? (entry as CacheEntry) : null
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
