import type { CacheAdapter, CacheEntry } from '../storage/cache-adapter.ts'

/**
 * The queues of all tabs, in the memory of each: what a tab that ends has not sent, another one can send. Nothing is
 * written to a store of the browser. Messages are masked before they are queued.
 */
export class ReplicatedStore implements CacheAdapter {
  readonly #entries = new Map<string, CacheEntry>()
  readonly #now: () => number
  readonly #changed: (key: string, value: unknown) => void

  /** @param changed tells the other tabs about an entry; null stands for a removed one */
  constructor(now: () => number, changed: (key: string, value: unknown) => void) {
    this.#now = now
    this.#changed = changed
  }

  get(key: string): CacheEntry | null {
    return this.#entries.get(key) ?? null
  }

  set(key: string, entry: CacheEntry): void {
    this.#entries.set(key, entry)
    this.#changed(key, entry.value)
  }

  delete(key: string): void {
    if (this.#entries.delete(key)) this.#changed(key, null)
  }

  clear(prefix = ''): void {
    for (const key of this.keys(prefix)) this.delete(key)
  }

  keys(prefix = ''): string[] {
    return [...this.#entries.keys()].filter(key => key.startsWith(prefix))
  }

  /** Another tab has changed an entry. */
  receive(key: string, value: unknown): void {
    if (value === null) this.#entries.delete(key)
    else this.#entries.set(key, { value, timestamp: this.#now() })
  }

  /** Tells a new tab everything. */
  repeat(): void {
    for (const [key, { value }] of this.#entries) this.#changed(key, value)
  }

  /** Forgets everything here, not in the other tabs. */
  forget(): void {
    this.#entries.clear()
  }
}
