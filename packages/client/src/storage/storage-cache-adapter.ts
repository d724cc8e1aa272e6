import type { StorageLike } from '../platform/environment.ts'
import { type CacheAdapter, type CacheEntry, fromStored, toStored } from './cache-adapter.ts'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'

/** Starts of the keys that belong to this library, whatever the host configures. */
const LIBRARY_KEYS = /^(?:aiagent_|vendor_profiles_|v2_.*selectedProfile-)/

/**
 * Keeps entries as JSON in a browser's store.
 *
 * What the store refuses (it is full, or writing is forbidden) stays in memory for the page's life, and one warning says
 * so. Broken JSON reads as nothing.
 */
export class StorageCacheAdapter implements CacheAdapter {
  readonly #storage: StorageLike
  readonly #warn: (message: string) => void
  readonly #refused = new MemoryCacheAdapter()
  #warned = false

  /** @param warn hears, once, that the store refuses writes */
  constructor(storage: StorageLike, warn: (message: string) => void = () => {}) {
    this.#storage = storage
    this.#warn = warn
  }

  get(key: string): CacheEntry | null {
    const kept = this.#refused.get(key)
    if (kept) return kept
    try {
      return fromStored(JSON.parse(this.#storage.getItem(key) ?? 'null'))
    } catch {
      return null
    }
  }

  set(key: string, entry: CacheEntry): void {
    try {
      this.#storage.setItem(key, JSON.stringify(toStored(entry)))
      this.#refused.delete(key)
    } catch {
      // The value before this one may still be there; after a reload it would be taken for the newest.
      this.delete(key)
      this.#refused.set(key, entry)
      if (!this.#warned)
        this.#warn('The browser refuses to store more. What is new stays in memory until the page is left.')
      this.#warned = true
    }
  }

  delete(key: string): void {
    this.#refused.delete(key)
    try {
      this.#storage.removeItem(key)
    } catch {
      // Forbidden altogether: then nothing is in there.
    }
  }

  clear(prefix?: string): void {
    for (const key of this.keys(prefix)) if (prefix !== undefined || LIBRARY_KEYS.test(key)) this.delete(key)
  }

  keys(prefix = ''): string[] {
    const keys = new Set(this.#refused.keys(prefix))
    try {
      for (let index = 0; index < this.#storage.length; index++) {
        const key = this.#storage.key(index)
        if (key?.startsWith(prefix)) keys.add(key)
      }
    } catch {
      // Forbidden altogether: only what is in memory is left.
    }
    return [...keys]
  }
}
