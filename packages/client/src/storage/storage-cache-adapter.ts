import { ConfigError } from '../errors.ts'
import { browserStorage, defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment, StorageLike } from '../platform/environment.ts'
import { Opaque } from '../util/values.ts'
import { type CacheAdapter, type CacheEntry, type CacheStorageType, fromStored, toStored } from './cache-adapter.ts'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'

/** Key prefixes of this library, whatever the host configures. */
const LIBRARY_KEYS = /^(?:aiagent_|vendor_profiles_|v2_.*selectedProfile-)/

/**
 * Stores entries as JSON in a browser's store.
 *
 * Entries that the store rejects (it is full, missing, or writing is forbidden) stay in memory for the page's lifetime, and
 * `warn` is called once. Broken JSON reads as null.
 */
export class StorageCacheAdapter extends Opaque implements CacheAdapter {
  readonly #storage: StorageLike
  readonly #warn: (message: string) => void
  readonly #refused = new MemoryCacheAdapter()
  #warned = false

  /**
   * @param storage a store like `sessionStorage`, or the name of the browser's
   * @param warn called once when the store rejects writes
   * @throws {ConfigError} for anything else
   */
  constructor(storage: StorageLike | 'session' | 'local', warn: (message: string) => void = () => {}) {
    super()
    const isNamed = storage === 'session' || storage === 'local'
    // AsyncStorage has all methods but this one, and answers with promises.
    if (!isNamed && typeof storage?.key !== 'function')
      throw new ConfigError('storage', "`storage` is invalid. Pass 'session', 'local', or a store like sessionStorage.")
    // Without a store, each use fails as in one that rejects everything.
    this.#storage = (isNamed ? browserStorage(storage) : storage) as StorageLike
    this.#warn = warn
  }

  get<T = unknown>(key: string): CacheEntry<T> | null {
    const kept = this.#refused.get<T>(key)
    if (kept) return kept
    try {
      return fromStored<T>(JSON.parse(this.#storage.getItem(key) ?? 'null'))
    } catch {
      return null
    }
  }

  set(key: string, entry: CacheEntry): void {
    try {
      this.#storage.setItem(key, JSON.stringify(toStored(entry)))
      this.#refused.delete(key)
    } catch {
      // The previous value may still be stored; after a reload it would count as the newest.
      this.delete(key)
      this.#refused.set(key, entry)
      if (!this.#warned)
        this.#warn('The browser rejects further data in its store. New entries stay in memory until the page is left.')
      this.#warned = true
    }
  }

  delete(key: string): void {
    this.#refused.delete(key)
    try {
      this.#storage.removeItem(key)
    } catch {
      // Access is forbidden, so the store is empty.
    }
  }

  clear(prefix?: string): void {
    for (const key of this.keys(prefix)) if (prefix !== undefined || LIBRARY_KEYS.test(key)) this.delete(key)
  }

  keys(prefix = ''): string[] {
    const keys = new Set(this.#refused.keys(prefix))
    try {
      const { length } = this.#storage
      for (let index = 0; index < length; index++) {
        const key: unknown = this.#storage.key(index)
        // A replacement of the browser's store may name more keys than it has.
        if (typeof key !== 'string') break
        if (key.startsWith(prefix)) keys.add(key)
      }
    } catch {
      // Access is forbidden: only the entries in memory are left.
    }
    return [...keys]
  }
}

/** One adapter per browser store: every agent of the page must find what the store rejected. */
const adapters = /* @__PURE__ */ new WeakMap<StorageLike, StorageCacheAdapter>()

const PROBE_KEY = 'aiagent_write_test'

/**
 * The store of a kind: the browser's if it can be written, otherwise the environment's memory.
 *
 * @param warn called once per store that rejects writes; by default logs to the environment's console
 */
export function createCacheAdapter(
  type: CacheStorageType = 'session',
  environment: Pick<Environment, 'sessionStorage' | 'localStorage' | 'memory' | 'console'> = defaultEnvironment(),
  warn: (message: string) => void = message => environment.console.warn(message),
): CacheAdapter {
  const storage =
    type === 'session' ? environment.sessionStorage : type === 'local' ? environment.localStorage : undefined
  if (!storage) return environment.memory
  return adapters.has(storage) || isWritable(storage) ? storageAdapter(storage, warn) : environment.memory
}

/** The adapter over a browser store, whether or not that can be written. */
export function storageAdapter(storage: StorageLike, warn: (message: string) => void): StorageCacheAdapter {
  const adapter = adapters.get(storage) ?? new StorageCacheAdapter(storage, warn)
  adapters.set(storage, adapter)
  return adapter
}

function isWritable(storage: StorageLike): boolean {
  try {
    storage.setItem(PROBE_KEY, '1')
    storage.removeItem(PROBE_KEY)
    return true
  } catch {
    return false
  }
}
