import { hold, names, type Release, steal } from '../platform/locks.ts'
import type { PageWindow } from '../platform/page.ts'
import { Era } from '../util/era.ts'

/*
 * Who leads: the tab that holds the lock of the group. The browser gives it to the next tab in the moment in which the
 * leader is closed, crashes or is discarded. A frozen leader keeps it, so that another tab must take it away.
 *
 *   idle ── start() ──► waiting ── granted ──► leading ── release() ──► idle
 *                         ▲  └─── take() ─────────▲ │
 *                         └──── taken away ─────────┘
 */

export interface LeadershipOptions {
  readonly window: PageWindow
  readonly name: string
  /** The tab leads from now on. */
  onLead(): void
  /** Another tab has taken the lock away. */
  onLost(): void
}

export class Leadership {
  readonly #options: LeadershipOptions
  #waiting: Era | undefined
  #release: Release | undefined

  constructor(options: LeadershipOptions) {
    this.#options = options
  }

  /** Leads as soon as no other tab does. */
  start(): void {
    if (!this.#waiting && !this.#release) this.#request(false)
  }

  /** Takes the lock away from a leader that does not answer. */
  take(): void {
    if (this.#release) return
    this.#waiting?.end()
    this.#request(true)
  }

  /** Gives the lock back, or no longer waits for it. */
  release(): void {
    this.#waiting?.end()
    this.#waiting = undefined
    const release = this.#release
    this.#release = undefined
    release?.()
  }

  /** Whether the browser still counts this tab as the holder. A tab that was frozen learns of its loss late. */
  async isHolder(id: string): Promise<boolean> {
    const { window, name } = this.#options
    if (!this.#release) return false
    const holders = await names(window, name)
    return holders.get(name) !== undefined && holders.get(name) === holders.get(id)
  }

  #request(isTaking: boolean): void {
    const { window, name, onLead, onLost } = this.#options
    const waiting = new Era()
    this.#waiting = waiting
    const onStolen = () => {
      this.#release = undefined
      onLost()
    }
    const granted = (release: Release) => {
      if (waiting.isOver) return release()
      this.#waiting = undefined
      this.#release = release
      onLead()
    }
    // Rejected where the wait was ended.
    const held = isTaking ? steal(window, name, onStolen) : hold(window, name, { signal: waiting.signal, onStolen })
    held.then(granted, () => {})
  }
}
