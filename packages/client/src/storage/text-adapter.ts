import type { StorageLike } from '../platform/environment.ts'
import type { CacheAdapter, CacheEntry } from './cache-adapter.ts'
import { StorageCacheAdapter } from './storage-cache-adapter.ts'

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
