import type { CacheAdapter, CacheEntry } from './cache-adapter.ts'

/** Limits of a {@link MemoryCacheAdapter}. */
export interface MemoryCacheOptions {
  /** Maximum number of entries. @default 2_000 */
  maxEntries?: number
  /** Maximum number of characters of all keys and values, counted as JSON. @default 16_777_216 */
  maxChars?: number
}

/**
 * Stores entries in memory, for the lifetime of the adapter. Synchronous.
 *
 * Beyond its limits it drops the least recently used entries; the newest one always stays.
 */
export class MemoryCacheAdapter implements CacheAdapter {
  /** In order of last use. Created with the first entry. */
  #entries: Map<string, { readonly entry: CacheEntry; readonly chars: number }> | undefined
  readonly #bounds: MemoryCacheOptions | undefined
  #chars = 0

  constructor(bounds?: MemoryCacheOptions) {
    this.#bounds = bounds
  }

  get<T = unknown>(key: string): CacheEntry<T> | null {
    const entries = this.#entries
    const stored = entries?.get(key)
    if (!entries || !stored) return null
    entries.delete(key)
    entries.set(key, stored)
    return stored.entry as CacheEntry<T>
  }

  set(key: string, entry: CacheEntry): void {
    const { maxEntries = 2_000, maxChars = 1 << 24 } = this.#bounds ?? {}
    this.#drop(key)
    const chars = key.length + charsOf(entry.value)
    this.#entries ??= new Map()
    const entries = this.#entries
    entries.set(key, { entry, chars })
    this.#chars += chars
    for (const oldest of entries.keys()) {
      if (oldest === key || (entries.size <= maxEntries && this.#chars <= maxChars)) break
      this.#drop(oldest)
    }
  }

  delete(key: string): void {
    this.#drop(key)
  }

  #drop(key: string): void {
    this.#chars -= this.#entries?.get(key)?.chars ?? 0
    this.#entries?.delete(key)
  }

  clear(prefix = ''): void {
    for (const key of this.keys(prefix)) this.#drop(key)
  }

  keys(prefix = ''): string[] {
    return [...(this.#entries?.keys() ?? [])].filter(key => key.startsWith(prefix))
  }

  /** As `Opaque` has it, which is in another file of the build. */
  get [Symbol.toStringTag](): string {
    return 'AiAgentSdk'
  }
}

/** Length of a value as JSON; 0 for one that JSON cannot represent. */
function charsOf(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0
  } catch {
    return 0
  }
}
