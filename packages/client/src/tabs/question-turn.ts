/**
 * One question at a time in all tabs: the wire does not say which question an answer belongs to. A lock of the browser
 * passes the turn on, also from a tab that has ended.
 */
export class QuestionTurn {
  readonly #locks: LockManager
  readonly #name: () => string | undefined
  readonly #settled: () => Promise<void>
  #state: 'free' | 'waiting' | 'offered' | 'taken' = 'free'
  #release: (() => void) | undefined

  /**
   * @param name of the lock; undefined while the conversation is not shared
   * @param settled resolves when this tab has everything that the tab with the turn before had
   */
  constructor(locks: LockManager, name: () => string | undefined, settled: () => Promise<void>) {
    this.#locks = locks
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
    const hold = async () => {
      const released = new Promise<void>(release => {
        this.#release = release
      })
      // The answer to the question before could be taken for the answer to this one.
      await this.#settled()
      this.#state = 'offered'
      offered()
      // The question may have been given up meanwhile.
      if (this.#state === 'offered') this.end()
      return released
    }
    this.#locks.request(name, hold).catch(() => {
      this.#state = 'free'
    })
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
}
