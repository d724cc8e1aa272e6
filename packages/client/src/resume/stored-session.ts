import { isJsonObject, isUsableSessionId } from '@aiagent/protocol'
import type { PageWindow } from '../platform/page.ts'
import type { CacheAdapter, CacheEntry } from '../storage/cache-adapter.ts'
import { HolderLock } from './holder-lock.ts'
import type { SessionStore } from './session-store.ts'

/*
 * The stored session id, with which the next page may continue. Owns the entry in the store.
 *
 * A tab that a page opens, or that the user duplicates, gets a copy of the tab's store; two pages in one session would
 * disconnect each other. So the entry names its holder while a page uses it:
 *
 *   free ── a page takes it ──► held ── the page goes, or the agent is destroyed ──► free
 *                                 │
 *                                 ├─ found by a reload: the holder has gone ───► free
 *                                 └─ found by the copy's page: the holder lives ─► not for this page
 *
 * The lock of a holder shows whether it lives (holder-lock.ts). Outside a page there are no tabs: the latest caller continues the
 * session.
 */

export interface StoredSessionOptions {
  readonly adapter: CacheAdapter
  /** True for sessionStorage: an entry belongs to this tab, or to the tab it was duplicated from. */
  readonly isTabs: boolean
  /** The page's window; absent outside a page. */
  readonly window: PageWindow | undefined
  /** A unique name. */
  newHolder(): string
  now(): number
  onWarning(message: string, details?: Record<string, unknown>): void
}

interface Kept {
  readonly sessionId: string
  readonly holder: string | undefined
  readonly data: unknown
}

/** Keys in use by agents of this page or process, per store: two agents of one page are two conversations. */
const inUse = new WeakMap<CacheAdapter, Map<string, StoredSession>>()

export class StoredSession implements SessionStore {
  readonly #options: StoredSessionOptions
  readonly #lock: HolderLock
  #key: string | undefined
  /** The stored session, and the host's data of it. */
  #session: { readonly id: string; readonly data?: unknown } | undefined
  /** The name of this page in the entry, while it holds it: one that is left waits for no lock any more. */
  #holder: string | undefined
  #isGone = false
  #isWarned = false
  /** Pending operations, one after the other: a store may be slow. */
  #work: Promise<unknown> = Promise.resolve()

  constructor(options: StoredSessionOptions) {
    this.#options = options
    this.#lock = new HolderLock(options.window, options.newHolder())
    options.window?.addEventListener('pagehide', this.#left)
    options.window?.addEventListener('pageshow', this.#shown)
  }

  /** The session stored under a key, if this page may use it. Later sessions are stored under that key. */
  take(key: string): Promise<string | undefined> {
    return this.#after(async () => {
      const found = await this.#occupy(key)
      if (found === undefined) return undefined
      const { sessionId: id, data } = found
      this.#session = { id, data }
      await this.#write()
      return id
    })
  }

  /** Stores a session under a key, or under the current one. */
  keep(sessionId: string, key: string): void {
    void this.#after(async () => {
      const kept = this.#session
      if (sessionId === kept?.id && key === this.#key) return
      if (key !== this.#key) {
        await this.#erase()
        await this.#occupy(key)
      }
      this.#session = sessionId === kept?.id ? kept : { id: sessionId }
      await this.#write()
    })
  }

  /** The host's data of the current session. */
  getData(): Promise<unknown> {
    return this.#after(async () => this.#session?.data)
  }

  /** Stores data with the current session. Does nothing without one. */
  async setData(data: unknown): Promise<void> {
    await this.#after(async () => {
      if (!this.#session) return
      // A copy: later changes by the host are not stored.
      this.#session = { id: this.#session.id, data: data === undefined ? undefined : JSON.parse(JSON.stringify(data)) }
      await this.#store()
    })
  }

  /** Removes the stored session. */
  drop(): void {
    void this.#after(() => this.#erase())
  }

  /** Removes the entries with a prefix, except those in use by another agent of the page. */
  async forget(prefix: string, except?: string): Promise<void> {
    await this.#after(async () => {
      const { adapter } = this.#options
      const users = inUse.get(adapter)
      for (const key of await adapter.keys(prefix)) {
        const user = users?.get(key)
        if (except !== undefined && key.startsWith(except)) continue
        if (user && user !== this) continue
        if (user) this.#session = undefined
        await adapter.delete(key)
      }
    })
  }

  /** Releases the entry for the next page. Nothing is stored after it. */
  async release(): Promise<void> {
    const { window } = this.#options
    window?.removeEventListener('pagehide', this.#left)
    window?.removeEventListener('pageshow', this.#shown)
    await this.#after(async () => {
      await this.#letGo()
      this.#leaveKey()
      this.#isGone = true
    })
  }

  readonly #left = () => void this.#after(() => this.#letGo())

  /**
   * The page was restored from the back/forward cache: a session that another page stored meanwhile does not match it.
   */
  readonly #shown = ({ persisted }: { persisted?: boolean }) => {
    if (persisted) void this.#after(() => this.#write())
  }

  async #letGo(): Promise<void> {
    this.#holder = undefined
    await this.#store()
    this.#lock.release()
  }

  /** Claims the key for this agent, and reads the entry of a previous page. */
  async #occupy(key: string): Promise<Kept | undefined> {
    const { adapter, isTabs, onWarning } = this.#options
    if (key !== this.#key) {
      this.#leaveKey()
      const users = inUse.get(adapter) ?? new Map<string, StoredSession>()
      inUse.set(adapter, users)
      if (users.has(key)) {
        if (!this.#isWarned)
          onWarning(
            'Another agent of this page stores its session under the same key: the session of this agent is lost on reload.',
          )
        this.#isWarned = true
        return undefined
      }
      users.set(key, this)
      this.#key = key
    }
    const kept = read(await adapter.get(key))
    if (!kept) return undefined
    if (await this.#lock.mayTake(kept.holder)) return kept
    // It belongs to another page that shares the store: keep it.
    if (!isTabs) this.#leaveKey()
    return undefined
  }

  async #write(): Promise<void> {
    if (this.#key === undefined || !this.#session) return
    // The lock first: a copy made in between must find it taken.
    await this.#lock.hold()
    this.#holder = this.#lock.holder
    await this.#store()
  }

  async #erase(): Promise<void> {
    const { adapter, isTabs } = this.#options
    this.#session = undefined
    if (this.#key === undefined) return
    const isOwn = isTabs || read(await adapter.get(this.#key))?.holder === this.#lock.holder
    if (isOwn) await adapter.delete(this.#key)
  }

  async #store(): Promise<void> {
    const key = this.#key
    if (key === undefined || !this.#session) return
    const { id: sessionId, data } = this.#session
    const holder = this.#holder
    const value = { sessionId, ...(holder !== undefined && { holder }), ...(data !== undefined && { data }) }
    await this.#options.adapter.set(key, { value, timestamp: this.#options.now() })
  }

  #leaveKey(): void {
    const users = inUse.get(this.#options.adapter)
    if (this.#key !== undefined && users?.get(this.#key) === this) users.delete(this.#key)
    this.#key = undefined
  }

  /** One operation after the other. A store that fails costs the next page the session, and this page nothing. */
  #after<T>(work: () => Promise<T>): Promise<T | undefined> {
    const done = this.#work.then(async () => {
      try {
        return this.#isGone ? undefined : await work()
      } catch (error) {
        this.#options.onWarning('Could not store or restore the session.', { error })
        return undefined
      }
    })
    this.#work = done
    return done
  }
}

function read(entry: CacheEntry | null | undefined): Kept | undefined {
  const value: unknown = entry?.value
  if (!isJsonObject(value)) return undefined
  const { sessionId, holder, data } = value
  if (typeof sessionId !== 'string' || !isUsableSessionId(sessionId)) return undefined
  return { sessionId, holder: typeof holder === 'string' ? holder : undefined, data }
}
