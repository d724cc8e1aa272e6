import type { CacheAdapter, CacheEntry } from './cache-adapter.ts'

/** Keeps entries in memory, for as long as itself lives. Answers at once. */
export class MemoryCacheAdapter implements CacheAdapter {
  readonly #entries = new Map<string, CacheEntry>()

  get(key: string): CacheEntry | null {
    return this.#entries.get(key) ?? null
  }

  set(key: string, entry: CacheEntry): void {
    this.#entries.set(key, entry)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  clear(prefix = ''): void {
    for (const key of this.keys(prefix)) this.#entries.delete(key)
  }

  keys(prefix = ''): string[] {
    return [...this.#entries.keys()].filter(key => key.startsWith(prefix))
  }
}
