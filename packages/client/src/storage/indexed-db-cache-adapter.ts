import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import { type CacheAdapter, type CacheEntry, DATABASE } from './cache-adapter.ts'

const STORE = 'entries'

interface Schema extends DBSchema {
  [STORE]: { key: string; value: CacheEntry }
}

/** A store in the origin's IndexedDB, which survives a crash of the page. */
export class IndexedDbCacheAdapter implements CacheAdapter {
  #database: Promise<IDBPDatabase<Schema>> | undefined

  async get(key: string): Promise<CacheEntry | null> {
    return (await (await this.#open()).get(STORE, key)) ?? null
  }

  async set(key: string, entry: CacheEntry): Promise<void> {
    await (await this.#open()).put(STORE, entry, key)
  }

  async delete(key: string): Promise<void> {
    await (await this.#open()).delete(STORE, key)
  }

  async clear(prefix = ''): Promise<void> {
    await (await this.#open()).delete(STORE, rangeOf(prefix))
  }

  async keys(prefix = ''): Promise<string[]> {
    return (await this.#open()).getAllKeys(STORE, rangeOf(prefix))
  }

  #open(): Promise<IDBPDatabase<Schema>> {
    const close = () => {
      this.#database = undefined
    }
    this.#database ??= openDB<Schema>(DATABASE, 1, {
      upgrade: database => void database.createObjectStore(STORE),
      // Another page deletes the database, or needs a newer one: it must not wait for this page.
      blocking: (_current, _blocked, event) => {
        close()
        ;(event.target as IDBDatabase).close()
      },
      terminated: close,
    })
    this.#database.catch(close)
    return this.#database
  }
}

/** One adapter per page: each of its agents must know what the database could not remove. */
const adapters = /* @__PURE__ */ new WeakMap<object, IndexedDbCacheAdapter>()

/** The adapter over the database of a page. */
export function databaseOf(window: object): IndexedDbCacheAdapter {
  const adapter = adapters.get(window) ?? new IndexedDbCacheAdapter()
  adapters.set(window, adapter)
  return adapter
}

function rangeOf(prefix: string): IDBKeyRange {
  return IDBKeyRange.bound(prefix, `${prefix}\uffff`)
}
