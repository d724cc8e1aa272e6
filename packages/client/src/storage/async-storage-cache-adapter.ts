import type { CacheAdapter, CacheEntry } from './cache-adapter.ts'

/** The part of an AsyncStorage that is used. */
export interface AsyncStorageLike {
  /** The text of a key, or null. */
  getItem(key: string): Promise<string | null>
  /** Stores a text. */
  setItem(key: string, value: string): Promise<void>
  /** Removes the text of a key. */
  removeItem(key: string): Promise<void>
  /** The keys of all texts, also those of the app. */
  getAllKeys(): Promise<readonly string[]>
}

/** Start of the library's keys. All is optional. */
export interface AsyncStorageCacheOptions {
  /** Start of all keys, which separates them from those of the app. @default 'aiagent:' */
  prefix?: string
}

/**
 * An adapter for the AsyncStorage of React Native, which keeps data over a restart of the app. Use it as `cache.adapter`,
 * and as `auth.config.cache.adapter` for anonymous tokens.
 *
 * A store that fails, or takes more than two seconds, costs requests, never a failure.
 */
export function asyncStorageCacheAdapter(
  storage: AsyncStorageLike,
  { prefix: start = 'aiagent:' }: AsyncStorageCacheOptions = {},
): CacheAdapter {
  const keys = async (prefix = ''): Promise<string[]> => {
    const places = await storage.getAllKeys()
    return places.filter(place => place.startsWith(start + prefix)).map(place => place.slice(start.length))
  }
  const remove = (key: string): Promise<void> => storage.removeItem(start + key)
  return {
    async get(key) {
      // Validated by the library, like every result of a store.
      return JSON.parse((await storage.getItem(start + key)) ?? 'null') as CacheEntry | null
    },
    set: (key, entry) => storage.setItem(start + key, JSON.stringify(entry)),
    delete: remove,
    async clear(prefix) {
      await Promise.all((await keys(prefix)).map(remove))
    },
    keys,
  }
}
