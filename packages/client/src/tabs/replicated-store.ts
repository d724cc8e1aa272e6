import type { Clock } from '../platform/clock.ts'
import type { CacheAdapter, CacheEntry } from '../storage/cache-adapter.ts'
import type { TabLink } from './tab-link.ts'

/** Most removed entries that are remembered. Each tab has one or two. */
const KEPT_REMOVALS = 500

/**
 * The queues of all tabs, in the memory of each: what a tab that ends has not sent, another one can send. Nothing is
 * written to a store of the browser. Messages are masked before they are queued.
 *
 * Every tab repeats what it has for a new one, and may not have received the last change. So each change has a version, and an
 * older one never replaces a newer one, nor brings back what was removed.
 */
export class ReplicatedStore implements CacheAdapter {
  readonly #entries = new Map<string, CacheEntry>()
  /** The version of each entry, and of those that were removed. */
  readonly #versions = new Map<string, number>()
  readonly #clock: Clock
  readonly #link: TabLink

  constructor(clock: Clock, link: TabLink) {
    this.#clock = clock
    this.#link = link
  }

  get(key: string): CacheEntry | null {
    return this.#entries.get(key) ?? null
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  set(key: string, entry: CacheEntry): void {
    this.#entries.set(key, entry)
    this.#post(key, this.#nextVersion(key))
  }

  delete(key: string): void {
    if (this.#entries.delete(key)) this.#post(key, this.#nextVersion(key))
  }

  clear(prefix = ''): void {
    for (const key of this.keys(prefix)) this.delete(key)
  }

  keys(prefix = ''): string[] {
    return [...this.#entries.keys()].filter(key => key.startsWith(prefix))
  }

  /** Another tab has changed an entry, or repeats it. */
  receive(key: string, value: unknown, version: number): void {
    if (version <= (this.#versions.get(key) ?? 0)) return
    this.#note(key, version)
    if (value === null) this.#entries.delete(key)
    else this.#entries.set(key, { value, timestamp: this.#clock.now() })
  }

  /** Tells a new tab everything. */
  repeat(): void {
    for (const [key, version] of this.#versions) this.#post(key, version)
  }

  /** Forgets everything here, not in the other tabs. */
  forget(): void {
    this.#entries.clear()
    this.#versions.clear()
  }

  #post(key: string, version: number): void {
    this.#link.post(undefined, { kind: 'stored', key, value: this.#entries.get(key)?.value ?? null, version })
  }

  /** A tab that takes over an entry may not know its last change, which was made earlier. */
  #nextVersion(key: string): number {
    const version = Math.max(this.#clock.now(), (this.#versions.get(key) ?? 0) + 1)
    this.#note(key, version)
    return version
  }

  #note(key: string, version: number): void {
    this.#versions.delete(key)
    this.#versions.set(key, version)
    if (this.#versions.size <= KEPT_REMOVALS) return
    for (const oldest of this.#versions.keys())
      if (!this.#entries.has(oldest) && oldest !== key) return void this.#versions.delete(oldest)
  }
}
