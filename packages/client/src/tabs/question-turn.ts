import type { Release } from '../platform/locks.ts'
import { Era } from '../util/era.ts'
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
  /** The present wait. */
  #era = new Era()

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

  /**
   * This tab has joined the others with a question that it has started without them.
   *
   * @returns whether it may be sent now: no other tab asks
   */
  async claim(): Promise<boolean> {
    if (this.#link.key === undefined) return true
    const era = this.#era
    const release = await this.#link.tryHold('question')
    if (!release) return false
    if (era.isOver) release()
    else {
      this.#state = 'taken'
      this.#release = release
    }
    return true
  }

  /** The question has its answer or was given up, or this tab leaves the group: it no longer waits for the turn either. */
  end(): void {
    this.#state = 'free'
    this.#era = this.#era.end()
    const release = this.#release
    this.#release = undefined
    release?.()
  }

  async #wait(offered: () => void): Promise<void> {
    const era = this.#era
    try {
      const release = await this.#link.hold('question', era.signal)
      if (era.isOver) release()
      else {
        this.#release = release
        this.#session.wake()
        // The answer to the question before could be taken for the answer to this one.
        await this.#link.synced()
        if (!era.isOver) this.#state = 'offered'
      }
    } catch {
      // The page ends.
      if (!era.isOver) return this.end()
    }
    // Also where this tab has left the group: a question that it has kept waits for its turn in the next one.
    offered()
    // The question may have been given up meanwhile.
    if (this.#state === 'offered') this.end()
  }
}
