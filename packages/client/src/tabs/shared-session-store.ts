import type { SessionStore } from '../resume/stored-session.ts'
import type { KeyParts } from '../storage/keyed-store.ts'
import type { GroupSession } from './group-session.ts'

/**
 * The session of all tabs, in place of the session of one tab: the first tab restores or creates it, the others use it. With
 * `resume` each tab stores it too, for the page after the last one.
 */
export class SharedSessionStore implements SessionStore {
  readonly #group: GroupSession
  readonly #own: SessionStore | undefined

  /** @param own stores the session of this tab; absent without `resume` */
  constructor(group: GroupSession, own: SessionStore | undefined) {
    this.#group = group
    this.#own = own
  }

  async take(key: string): Promise<string | undefined> {
    const shared = await this.#group.join(key)
    if (shared !== undefined) {
      this.#own?.keep(shared, key)
      return shared
    }
    const sessionId = await this.#own?.take(key)
    if (sessionId === undefined) return undefined
    if (this.#group.isGone(sessionId, key)) {
      this.#own?.drop()
      return undefined
    }
    this.#group.use(sessionId)
    return sessionId
  }

  keep(sessionId: string, key: string): void {
    this.#group.use(sessionId)
    this.#own?.keep(sessionId, key)
  }

  drop(): void {
    this.#group.drop()
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
    this.#group.end()
    await this.#own?.release()
  }
}
