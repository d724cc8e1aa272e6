import { isJsonObject, isUsableSessionId } from '@aiagent/protocol'
import type { PageWindow } from '../platform/page.ts'
import type { AgentScope } from '../scope.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { HandedOver, RELEASE_LIMIT_MS } from '../storage/handed-over.ts'
import type { KeyParts } from '../storage/keyed-store.ts'

/** Version of the stored session. It is in its key, and in the name of the lock. */
export const SESSION_VERSION = 1

/** The session, and the host's data of it. */
interface KeptSession {
  /** Absent where the service has forgotten it: the data belong to the one that continues the conversation. */
  readonly sessionId?: string | undefined
  readonly data?: unknown
}

/**
 * The session id that the next page continues with. A page gives it free while it is in the back/forward cache. One operation
 * after the other; only {@link forget} rejects.
 */
export class StoredSession {
  readonly #window: PageWindow | undefined
  readonly #left: HandedOver
  #session: KeptSession | undefined
  /** Whether the page is in the back/forward cache, or about to end. */
  #isAway = false
  #isGone = false

  /** @param isTabs true for sessionStorage: an entry belongs to this tab, or to the tab it was duplicated from */
  constructor(scope: AgentScope<never>, adapter: CacheAdapter, isTabs: boolean) {
    const window = scope.environment.page?.window
    this.#window = window
    this.#left = new HandedOver(scope, 'session', SESSION_VERSION, adapter, !isTabs)
    window?.addEventListener('pagehide', this.#leave)
    window?.addEventListener('pageshow', this.#shown)
  }

  /** The session stored under a key, if this page may use it. Later sessions are stored under that key. */
  take(key: string): Promise<string | undefined> {
    return this.#after(async () => {
      const found = await this.#occupy(key)
      if (!found) return undefined
      this.#session = found
      await this.#store()
      return found.sessionId
    })
  }

  /** Stores a session under a key. */
  keep(sessionId: string, key: string): void {
    void this.#after(async () => {
      const kept = this.#session
      const isMoving = key !== this.#left.key
      if (sessionId === kept?.sessionId && !isMoving) return
      let stored: KeptSession | undefined
      if (isMoving) {
        await this.#left.write(undefined)
        stored = await this.#occupy(key)
      }
      // With `tabs`, other tabs name the session: the data of the page before is in the store of this tab.
      const forgotten = isMoving ? stored : kept
      const data = forgotten?.sessionId === undefined ? forgotten?.data : undefined
      this.#session = [kept, stored].find(each => each?.sessionId === sessionId) ?? sessionWith(sessionId, data)
      await this.#store()
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
      const { sessionId } = this.#session
      // A copy: later changes by the host are not stored.
      this.#session = sessionWith(sessionId, data === undefined ? data : JSON.parse(JSON.stringify(data)))
      await this.#store()
    })
  }

  /**
   * Removes the stored session.
   *
   * @param isForgotten whether the service has forgotten it: the host's data then belongs to the next session of the same user
   */
  drop(isForgotten = false): void {
    void this.#after(() => {
      this.#session = isForgotten ? sessionWith(undefined, this.#session?.data) : undefined
      return this.#store()
    })
  }

  /**
   * Removes the entries with parts of a key, except those with other ones, and those in use by another agent of the page.
   *
   * @throws when the store fails: entries may remain, but are not read
   */
  async forget(parts: KeyParts, except?: KeyParts): Promise<void> {
    await this.#left.remove(async () => {
      if (this.#isGone) return
      if (this.#left.isOf(parts, except)) this.#session = undefined
      await this.#left.forget(parts, except)
    })
  }

  /** As {@link HandedOver.forgetUnknownUser}. */
  forgetUnknownUser(): void {
    this.#left.forgetUnknownUser()
  }

  /** Releases the entry for the next page. Nothing is stored after it. Resolves earlier if the store is slow. */
  async release(): Promise<void> {
    this.#window?.removeEventListener('pagehide', this.#leave)
    this.#window?.removeEventListener('pageshow', this.#shown)
    await this.#left.runWithin(RELEASE_LIMIT_MS, async () => {
      if (this.#isGone) return
      await this.#left.free(this.#kept)
      this.#left.leave()
      this.#isGone = true
    })
  }

  readonly #leave = () => this.#move(true)

  /**
   * The page was restored from the back/forward cache: a session that another page stored meanwhile does not match it.
   */
  readonly #shown = ({ persisted }: { persisted?: boolean }) => {
    if (persisted) this.#move(false)
  }

  #move(isAway: boolean): void {
    void this.#after(async () => {
      this.#isAway = isAway
      if (this.#session) await this.#store()
    })
  }

  /** What the next page needs. */
  get #kept(): KeptSession | undefined {
    const { sessionId, data } = this.#session ?? {}
    return sessionId === undefined && data === undefined ? undefined : this.#session
  }

  #store(): Promise<void> {
    const session = this.#kept
    return this.#isAway && session ? this.#left.free(session) : this.#left.write(session)
  }

  async #occupy(key: string): Promise<KeptSession | undefined> {
    return this.#left.claim(key) ? read(await this.#left.take(key)) : undefined
  }

  #after<T>(work: () => Promise<T>): Promise<T | undefined> {
    return this.#left.run(async () => (this.#isGone ? undefined : work()))
  }
}

function read(value: unknown): KeptSession | undefined {
  if (!isJsonObject(value)) return undefined
  const { sessionId, data } = value
  const isUsable = sessionId === undefined || (typeof sessionId === 'string' && isUsableSessionId(sessionId))
  return isUsable ? sessionWith(sessionId, data) : undefined
}

function sessionWith(sessionId: string | undefined, data: unknown): KeptSession {
  return { ...(sessionId !== undefined && { sessionId }), ...(data !== undefined && { data }) }
}
