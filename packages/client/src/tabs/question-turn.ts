import { hold, type Release } from '../platform/locks.ts'
import type { PageWindow } from '../platform/page.ts'

/**
 * One question at a time in all tabs: the wire does not say which question an answer belongs to. A lock of the browser
 * passes the turn on, also from a tab that has ended.
 */
export class QuestionTurn {
  readonly #window: PageWindow
  readonly #name: () => string | undefined
  readonly #settled: () => Promise<void>
  #state: 'free' | 'waiting' | 'offered' | 'taken' = 'free'
  #release: Release | undefined

  /**
   * @param name of the lock; undefined while the conversation is not shared
   * @param settled resolves when this tab has everything that the tab with the turn before had
   */
  constructor(window: PageWindow, name: () => string | undefined, settled: () => Promise<void>) {
    this.#window = window
    this.#name = name
    this.#settled = settled
  }

  /** Whether a question of this tab may be sent now. If not, `offered` is called when it may. */
  take(offered: () => void): boolean {
    const name = this.#name()
    if (name === undefined || this.#state === 'taken') return true
    if (this.#state === 'offered') {
      this.#state = 'taken'
      return true
    }
    if (this.#state === 'waiting') return false
    this.#state = 'waiting'
    void this.#wait(name, offered)
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

  async #wait(name: string, offered: () => void): Promise<void> {
    try {
      this.#release = await hold(this.#window, name)
      // The answer to the question before could be taken for the answer to this one.
      await this.#settled()
      this.#state = 'offered'
      offered()
    } catch {
      this.#state = 'offered'
    }
    // The question may have been given up meanwhile.
    if (this.#state === 'offered') this.end()
  }
}
