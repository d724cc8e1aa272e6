/** Version of the stored data. Incremented when a release cannot read the data of earlier ones. */
const FORMAT = 2

/** Name of the origin's database, which holds the queues of `persistQueue`. */
export const DATABASE = 'aiagent'

/** Whether the origin of the page has the database, or may have it. To open it would create it. */
export async function hasDatabase(window: Pick<Window, 'localStorage'>): Promise<boolean> {
  try {
    // Throws where the browser denies the stores, as in a sandboxed frame. Chromium leaves a rejection of its own behind there.
    void window.localStorage
    if (typeof indexedDB === 'undefined') return false
    // Firefox 125 and older do not list them.
    if (!('databases' in indexedDB)) return true
    const databases = await indexedDB.databases()
    return databases.some(({ name }) => name === DATABASE)
  } catch {
    return false
  }
}

/** A stored value. An adapter must store and return the whole entry, including unknown fields. */
export interface CacheEntry<T = unknown> {
  /** The stored value: plain JSON. */
  value: T
  /** When the value was stored, in milliseconds since the epoch. */
  timestamp: number
}

/** The entry in the form for a store that outlives the page or process. */
export function toStored(entry: CacheEntry): CacheEntry {
  return { ...entry, format: FORMAT } as CacheEntry
}

/** The entry that a store returned; null for anything else, such as data of another program or version. */
export function fromStored<T>(value: unknown): CacheEntry<T> | null {
  if (typeof value !== 'object' || value === null) return null
  const { format, ...entry } = value as { [Field in keyof CacheEntry]?: CacheEntry[Field] } & { format?: unknown }
  return format === FORMAT && 'value' in entry && typeof entry.timestamp === 'number' ? (entry as CacheEntry<T>) : null
}

/** A value now, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>

/**
 * A store for data that outlives a call: responses, tokens, context.
 *
 * Every method may be synchronous or return a promise, which suits an adapter over a shared store. An adapter should
 * answer soon, and not throw for a full or forbidden storage. One that throws, rejects, returns invalid data or takes
 * more than two seconds counts as empty, and the library logs one warning.
 */
export interface CacheAdapter {
  /** The entry of a key, or null. */
  get(key: string): Awaitable<CacheEntry | null>
  /** Stores an entry, replacing an earlier one. */
  set(key: string, entry: CacheEntry): Awaitable<void>
  /** Removes the entry of a key, if it exists. */
  delete(key: string): Awaitable<void>
  /** Removes every entry with a key that starts with the prefix; without a prefix, every entry of this library. */
  clear(prefix?: string): Awaitable<void>
  /** The keys that start with the prefix; without a prefix, those of every entry of this library. */
  keys(prefix?: string): Awaitable<string[]>
}

/** Store of a cache: session storage, local storage, or memory. */
export type CacheStorageType = 'session' | 'local' | 'memory'

/** How REST responses are cached. */
export interface CacheConfig {
  /** False: nothing is stored except the context, in memory only. @default true */
  enabled?: boolean
  /** @default 'session' */
  storageType?: CacheStorageType
  /**
   * Start of every key. Each kind of data adds its own name, such as `{keyPrefix}context_`.
   *
   * @default 'aiagent_cache_' for responses, 'aiagent_context_' for the context, 'aiagent_auth_' for anonymous tokens
   */
  keyPrefix?: string
  /**
   * Start of the context's key, instead of `keyPrefix`. In a store for many users, each conversation needs its own
   * prefix; all other data belongs to no conversation and is shared.
   */
  contextPrefix?: string
  /** How long a response counts as fresh, in milliseconds. @default 300_000 */
  ttl?: number
  /**
   * A custom store, instead of `storageType`. `@aiagent/client/unstorage` provides one for stores that programs share.
   */
  adapter?: CacheAdapter
}
