import type { StorageLike } from '../platform/environment.ts'
import { type CacheAdapter, type CacheEntry, fromStored, toStored } from './cache-adapter.ts'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'

/** Key prefixes of this library, whatever the host configures. */
const LIBRARY_KEYS = /^(?:aiagent_|vendor_profiles_|v2_.*selectedProfile-)/

/**
 * Stores entries as JSON in a browser's store.
 *
 * Entries that the store rejects (it is full, or writing is forbidden) stay in memory for the page's lifetime, and one
 * warning is logged. Broken JSON reads as null.
 */
export class StorageCacheAdapter implements CacheAdapter {
  readonly #storage: StorageLike
  readonly #warn: (message: string) => void
  readonly #refused = new MemoryCacheAdapter()
  #warned = false

  /** @param warn called once when the store rejects writes */
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
      for (let index = 0; index < this.#storage.length; index++) {
        const key = this.#storage.key(index)
        if (key?.startsWith(prefix)) keys.add(key)
      }
    } catch {
      // Access is forbidden: only the entries in memory are left.
    }
    return [...keys]
  }
}

/** Key of the entry beside a text, which says whose it is. */
const ownerKey = (key: string) => `aiagent_owner_${key}`

/**
 * Texts that other pages read and write too. What belongs to an entry beyond the text is an entry beside it. A text that the
 * browser's store rejects is kept there as well.
 */
export class TextAdapter implements CacheAdapter {
  readonly #storage: StorageLike | undefined
  readonly #beside: CacheAdapter

  /** @param beside the adapter over the same store; a memory where there is no store */
  constructor(storage: StorageLike | undefined, beside: CacheAdapter) {
    this.#storage = storage
    this.#beside = beside
  }

  get(key: string): CacheEntry | null {
    const beside = this.#beside.get(ownerKey(key)) as CacheEntry | null
    const text = attempt(() => this.#storage?.getItem(key)) ?? beside?.value
    return typeof text === 'string' ? { timestamp: 0, ...beside, value: text } : null
  }

  set(key: string, entry: CacheEntry): void {
    // The previous text may still be stored; after a reload it would count as the newest.
    attempt(() => this.#storage?.removeItem(key))
    attempt(() => this.#storage?.setItem(key, entry.value as string))
    const isStored = attempt(() => this.#storage?.getItem(key)) === entry.value
    void this.#beside.set(ownerKey(key), { ...entry, value: isStored ? null : entry.value })
  }

  delete(key: string): void {
    attempt(() => this.#storage?.removeItem(key))
    void this.#beside.delete(ownerKey(key))
  }

  clear(prefix?: string): void {
    for (const key of this.keys(prefix)) this.delete(key)
  }

  keys(prefix = ''): string[] {
    const texts = this.#storage ? new StorageCacheAdapter(this.#storage).keys(prefix) : []
    const besides = this.#beside.keys(ownerKey(prefix)) as string[]
    return [...new Set([...texts, ...besides.map(key => key.slice(ownerKey('').length))])]
  }
}

/** A forbidden store is empty. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
