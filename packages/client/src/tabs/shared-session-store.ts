import type { SessionStore } from '../resume/stored-session.ts'
import type { KeyParts } from '../storage/keyed-store.ts'

/** What the tabs of one conversation agree on. */
export interface SessionSharing {
  /** Joins the tabs with this key. Resolves with their session; undefined for the first tab, which creates one. */
  join(key: string): Promise<string | undefined>
  /** Whether another tab has taken a session out of the group with this key. */
  isGone(sessionId: string, key: string): boolean
  /** This tab uses a session. */
  use(sessionId: string): void
  /** The session of the group is no longer used. */
  drop(): void
  /** The agent was destroyed. */
  end(): void
}

/**
 * The session of all tabs, in place of the session of one tab: the first tab restores or creates it, the others use it. With
 * `resume` each tab stores it too, for the page after the last one.
 */
export class SharedSessionStore implements SessionStore {
  readonly #sharing: SessionSharing
  readonly #own: SessionStore | undefined

  /** @param own stores the session of this tab; absent without `resume` */
  constructor(sharing: SessionSharing, own: SessionStore | undefined) {
    this.#sharing = sharing
    this.#own = own
  }

  async take(key: string): Promise<string | undefined> {
    const shared = await this.#sharing.join(key)
    if (shared !== undefined) {
      this.#own?.keep(shared, key)
      return shared
    }
    const sessionId = await this.#own?.take(key)
    if (sessionId === undefined) return undefined
    if (this.#sharing.isGone(sessionId, key)) {
      this.#own?.drop()
      return undefined
    }
    this.#sharing.use(sessionId)
    return sessionId
  }

  keep(sessionId: string, key: string): void {
    this.#sharing.use(sessionId)
    this.#own?.keep(sessionId, key)
  }

  drop(): void {
    this.#sharing.drop()
    this.#own?.drop()
  }

  async forget(parts: KeyParts, except?: KeyParts): Promise<void> {
    await this.#own?.forget(parts, except)
  }

  async getData(): Promise<unknown> {
    return this.#own?.getData()
  }

  async setData(data: unknown): Promise<void> {
    await this.#own?.setData(data)
  }

  async release(): Promise<void> {
    this.#sharing.end()
    await this.#own?.release()
  }
}
