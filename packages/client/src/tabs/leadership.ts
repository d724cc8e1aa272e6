/*
 * Who leads: the tab that holds the lock of the group. The browser gives it to the next tab in the moment in which the
 * leader is closed, crashes or is discarded. A frozen leader keeps it, so that another tab must take it away.
 *
 *   idle ── start() ──► waiting ── granted ──► leading ── release() ──► idle
 *                         ▲  └─── take() ─────────▲ │
 *                         └──── taken away ─────────┘
 */

export interface LeadershipOptions {
  readonly locks: LockManager
  readonly name: string
  /** The tab leads from now on. */
  onLead(): void
  /** Another tab has taken the lock away. */
  onLost(): void
}

export class Leadership {
  readonly #options: LeadershipOptions
  #waiting: AbortController | undefined
  #release: (() => void) | undefined

  constructor(options: LeadershipOptions) {
    this.#options = options
  }

  /** Leads as soon as no other tab does. */
  start(): void {
    if (this.#waiting || this.#release) return
    const waiting = new AbortController()
    this.#waiting = waiting
    this.#request({ signal: waiting.signal }, () => this.#waiting === waiting)
  }

  /** Takes the lock away from a leader that does not answer. */
  take(): void {
    if (this.#release) return
    this.#waiting?.abort()
    const waiting = new AbortController()
    this.#waiting = waiting
    this.#request({ steal: true }, () => this.#waiting === waiting)
  }

  /** Gives the lock back, or no longer waits for it. */
  release(): void {
    this.#waiting?.abort()
    this.#waiting = undefined
    const release = this.#release
    this.#release = undefined
    release?.()
  }

  /** Whether the browser still counts this tab as the holder. A tab that was frozen learns of its loss late. */
  async isHolder(id: string): Promise<boolean> {
    const { locks, name } = this.#options
    if (!this.#release) return false
    const { held = [] } = await locks.query()
    const clientOf = (lock: string) => held.find(each => each.name === lock)?.clientId
    return clientOf(name) !== undefined && clientOf(name) === clientOf(id)
  }

  #request(options: LockOptions, isWanted: () => boolean): void {
    const { locks, name, onLead, onLost } = this.#options
    let own: (() => void) | undefined
    const hold = () => {
      if (!isWanted()) return undefined
      this.#waiting = undefined
      return new Promise<void>(release => {
        own = release
        this.#release = release
        onLead()
      })
    }
    locks.request(name, options, hold).catch(() => {
      if (own === undefined || this.#release !== own) return
      this.#release = undefined
      onLost()
    })
  }
}
