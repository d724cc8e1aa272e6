import type { Release } from '../platform/locks.ts'
import type { GroupSession } from './group-session.ts'
import type { TabLink } from './tab-link.ts'

/**
 * One question at a time in all tabs: the wire does not say which question an answer belongs to. A lock of the browser
 * passes the turn on, also from a tab that has ended.
 */
export class QuestionTurn {
  readonly #link: TabLink
  readonly #session: GroupSession
  #state: 'free' | 'waiting' | 'offered' | 'taken' = 'free'
  #release: Release | undefined

  constructor(link: TabLink, session: GroupSession) {
    this.#link = link
    this.#session = session
  }

  /** Whether a question of this tab may be sent now. If not, `offered` is called when it may. */
  take(offered: () => void): boolean {
    if (this.#link.key === undefined || this.#state === 'taken') return true
    if (this.#state === 'offered') {
      this.#state = 'taken'
      return true
    }
    if (this.#state === 'waiting') return false
    this.#state = 'waiting'
    void this.#wait(offered)
    return false
  }

  /** The question has its answer, or was given up. */
  end(): void {
    if (this.#state !== 'taken' && this.#state !== 'offered') return
    this.#state = 'free'
    const release = this.#release
    this.#release = undefined
    release?.()
  }

  async #wait(offered: () => void): Promise<void> {
    try {
      this.#release = await this.#link.hold('question')
      this.#session.wake()
      // The answer to the question before could be taken for the answer to this one.
      await this.#link.synced()
      this.#state = 'offered'
      offered()
    } catch {
      this.#state = 'offered'
    }
    // The question may have been given up meanwhile.
    if (this.#state === 'offered') this.end()
  }
}
