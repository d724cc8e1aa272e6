import { type Environment, MemoryCacheAdapter, type StorageLike } from '@aiagent/client'

/** An in-memory `Storage`. */
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

/** State shared by the agents of a tab or of a process. */
export type Place = Partial<Pick<Environment, 'memory' | 'sessionStorage' | 'localStorage'>>

/** Creates a browser tab. A second agent created in it sees the state of a page after a reload. */
export function newTab(): Place {
  return { memory: new MemoryCacheAdapter(), sessionStorage: new TabStorage(), localStorage: new TabStorage() }
}

/** The same tab after a reload: storage remains, memory is gone. */
export function reloaded(tab: Place): Place {
  return { ...tab, memory: new MemoryCacheAdapter() }
}

/** Creates a process without a page, whose agents share the library's memory. */
export function newProcess(): Place {
  return { sessionStorage: undefined, localStorage: undefined }
}
