import type { StorageLike } from '@aiagent/client'

/** A browser's `Storage` in memory, which can be read as a whole. */
export class TabStorage implements StorageLike {
  readonly entries = new Map<string, string>()

  get length(): number {
    return this.entries.size
  }
  key(index: number): string | null {
    return [...this.entries.keys()][index] ?? null
  }
  getItem(key: string): string | null {
    return this.entries.get(key) ?? null
  }
  setItem(key: string, value: string): void {
    this.entries.set(key, String(value))
  }
  removeItem(key: string): void {
    this.entries.delete(key)
  }
}
