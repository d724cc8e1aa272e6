import { isJsonObject, isUsableSessionId } from '@aiagent/protocol'
import type { PageWindow } from '../platform/page.ts'
import type { CacheAdapter, CacheEntry } from '../storage/cache-adapter.ts'

/*
 * The session id that a later page may go on with. It owns the entry in the store, and the hold on it.
 *
 * A tab that a page opens, or that the person duplicates, gets a copy of the tab's store, and two pages in one session
 * would take it from each other. So the entry names its holder while a page uses it:
 *
 *   free ── a page takes it ──► held ── the page goes, or the agent is destroyed ──► free
 *                                 │
 *                                 ├─ found by a reload: the holder has gone ───► free
 *                                 └─ found by the copy's page: the holder lives ─► not for this page
 *
 * The holder lives while it has the lock of its name, which dies with the page however it ends: after a crash, or when a
 * phone throws a page away, nobody has set the entry free. Browsers without locks believe the entry. Outside a page there
 * are no tabs: whoever comes last goes on with the session.
 */

export interface StoredSessionOptions {
  readonly adapter: CacheAdapter
  /** Whether the store is the tab's own: then no entry in it is another page's that lives, but for its copy. */
  readonly isTabs: boolean
  /** The page's window; absent outside a page. */
  readonly window: PageWindow | undefined
  /** A name nobody else has. */
  newHolder(): string
  now(): number
  onWarning(message: string, details?: Record<string, unknown>): void
}

interface Kept {
  readonly sessionId: string
  readonly holder: string | undefined
  readonly data: unknown
}

/** Keys that agents of this page or process use, per store: two agents of one page are two conversations. */
const inUse = new WeakMap<CacheAdapter, Map<string, StoredSession>>()

export class StoredSession {
  readonly #options: StoredSessionOptions
  readonly #holder: string
  #key: string | undefined
  #sessionId: string | undefined
  /** The host's data of the session. */
  #data: unknown
  /** Gives back the locks of this page: its own, and that of a page it came after. */
  #locks: (() => void)[] | undefined
  #isGone = false
  #isWarned = false
  /** What is under way, one after the other: a store may take its time. */
  #work: Promise<unknown> = Promise.resolve()

  constructor(options: StoredSessionOptions) {
    this.#options = options
    this.#holder = options.newHolder()
    options.window?.addEventListener('pagehide', this.#left)
    options.window?.addEventListener('pageshow', this.#shown)
  }

  /** The session that was kept under a key, where it is for this page. What is kept from now on is kept there. */
  take(key: string): Promise<string | undefined> {
    return this.#after(async () => {
      const found = await this.#occupy(key)
      if (found === undefined) return undefined
      this.#sessionId = found.sessionId
      this.#data = found.data
      await this.#write()
      return found.sessionId
    })
  }

  /** Keeps a session under a key, or under the one it has. */
  keep(sessionId: string, key: string): void {
    void this.#after(async () => {
      if (sessionId === this.#sessionId) return
      if (key !== this.#key) {
        await this.#erase()
        await this.#occupy(key)
      }
      this.#sessionId = sessionId
      this.#data = undefined
      await this.#write()
    })
  }

  /** The host's data of the present session. */
  getData(): Promise<unknown> {
    return this.#after(async () => (this.#sessionId === undefined ? undefined : this.#data))
  }

  /** Stores data with the present session. Without one it does nothing. */
  async setData(data: unknown): Promise<void> {
    await this.#after(async () => {
      if (this.#sessionId === undefined) return
      // A copy: what the host changes afterwards is not stored.
      this.#data = data === undefined ? undefined : JSON.parse(JSON.stringify(data))
      await this.#write()
    })
  }

  /** Keeps none any more. */
  drop(): void {
    void this.#after(() => this.#erase())
  }

  /** Removes the entries whose key starts so, but for those that another agent of the page uses. */
  async forget(prefix: string, except?: string): Promise<void> {
    await this.#after(async () => {
      const { adapter } = this.#options
      const users = inUse.get(adapter)
      for (const key of await adapter.keys(prefix)) {
        const user = users?.get(key)
        if (except !== undefined && key.startsWith(except)) continue
        if (user && user !== this) continue
        if (user) this.#sessionId = undefined
        await adapter.delete(key)
      }
    })
  }

  /** Leaves the entry to whoever comes next. Nothing is kept after it. */
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

  /** The page was only put aside, and is seen again: what another one has kept meanwhile is not what it shows. */
  readonly #shown = ({ persisted }: { persisted?: boolean }) => {
    if (persisted) void this.#after(() => this.#write())
  }

  async #letGo(): Promise<void> {
    if (this.#sessionId !== undefined && this.#key !== undefined) await this.#set(this.#key, this.#sessionId, undefined)
    for (const release of this.#locks ?? []) release()
    this.#locks = undefined
  }

  /** Makes the key this agent's, and reads what an earlier page has left there for it. */
  async #occupy(key: string): Promise<Kept | undefined> {
    const { adapter, isTabs, onWarning } = this.#options
    if (key !== this.#key) {
      this.#leaveKey()
      const users = inUse.get(adapter) ?? new Map<string, StoredSession>()
      inUse.set(adapter, users)
      if (users.has(key)) {
        if (!this.#isWarned) onWarning('Another agent of this page keeps its session: this one’s does not outlive it.')
        this.#isWarned = true
        return undefined
      }
      users.set(key, this)
      this.#key = key
    }
    const kept = read(await adapter.get(key))
    if (!kept) return undefined
    if (await this.#isFree(kept)) return kept
    // Another page's, which shares the store: it must stay.
    if (!isTabs) this.#leaveKey()
    return undefined
  }

  async #isFree({ holder }: Kept): Promise<boolean> {
    const { window } = this.#options
    if (!window || holder === undefined || holder === this.#holder) return true
    const release = await acquire(window, holder)
    if (!release) return false
    // It is not given back: the holder's tab may have been copied, too.
    await this.#hold(window)
    this.#locks?.push(release)
    return true
  }

  async #hold(window: PageWindow): Promise<void> {
    const release = this.#locks ? undefined : await acquire(window, this.#holder)
    this.#locks ??= release ? [release] : []
  }

  async #write(): Promise<void> {
    const { window } = this.#options
    if (this.#key === undefined || this.#sessionId === undefined) return
    // The lock first: a copy that is made in between must find it taken.
    if (window) await this.#hold(window)
    await this.#set(this.#key, this.#sessionId, this.#holder)
  }

  async #erase(): Promise<void> {
    const { adapter, isTabs } = this.#options
    this.#sessionId = undefined
    if (this.#key === undefined) return
    const isOwn = isTabs || read(await adapter.get(this.#key))?.holder === this.#holder
    if (isOwn) await adapter.delete(this.#key)
  }

  async #set(key: string, sessionId: string, holder: string | undefined): Promise<void> {
    const data = this.#data
    const value = { sessionId, ...(holder !== undefined && { holder }), ...(data !== undefined && { data }) }
    await this.#options.adapter.set(key, { value, timestamp: this.#options.now() })
  }

  #leaveKey(): void {
    const users = inUse.get(this.#options.adapter)
    if (this.#key !== undefined && users?.get(this.#key) === this) users.delete(this.#key)
    this.#key = undefined
  }

  /** One piece of work after the other. A store that fails costs the next page the session, and this one nothing. */
  #after<T>(work: () => Promise<T>): Promise<T | undefined> {
    const done = this.#work.then(async () => {
      try {
        return this.#isGone ? undefined : await work()
      } catch (error) {
        this.#options.onWarning('The session could not be kept, or not be found again.', { error })
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

/** Takes a lock that is free; nothing where somebody has it, or the browser knows no locks. */
function acquire(window: PageWindow, holder: string): Promise<(() => void) | undefined> {
  const locks: LockManager | undefined = window.navigator.locks
  if (!locks) return Promise.resolve(undefined)
  return new Promise(resolve => {
    const hold = (lock: Lock | null) => {
      if (!lock) return resolve(undefined)
      return new Promise<void>(release => resolve(release))
    }
    locks.request(`aiagent-session-${holder}`, { ifAvailable: true }, hold).catch(() => resolve(undefined))
  })
}
