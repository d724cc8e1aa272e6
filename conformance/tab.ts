import { type Environment, MemoryCacheAdapter, type StorageLike } from '@aiagent/client'

/** A browser's store, without the browser. */
class TabStorage implements StorageLike {
  readonly #entries = new Map<string, string>()

  get length(): number {
    return this.#entries.size
  }
  key(index: number): string | null {
    return [...this.#entries.keys()][index] ?? null
  }
  getItem(key: string): string | null {
    return this.#entries.get(key) ?? null
  }
  setItem(key: string, value: string): void {
    this.#entries.set(key, String(value))
  }
  removeItem(key: string): void {
    this.#entries.delete(key)
  }
}

/** What agents of one place share: the stores of a tab, or the memory of a process. */
export type Place = Partial<Pick<Environment, 'memory' | 'sessionStorage' | 'localStorage'>>

/** A tab of a browser. An agent made in it after another sees what a page sees after a reload. */
export function newTab(): Place {
  return { memory: new MemoryCacheAdapter(), sessionStorage: new TabStorage(), localStorage: new TabStorage() }
}

/** The same tab after a reload: the stores stay, what was in memory is gone. */
export function reloaded(tab: Place): Place {
  return { ...tab, memory: new MemoryCacheAdapter() }
}

/** A process without a page: what its agents share is the library's own memory. */
export function newProcess(): Place {
  return { sessionStorage: undefined, localStorage: undefined }
}
