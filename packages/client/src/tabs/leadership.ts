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

export class Leadership {
  readonly #window: PageWindow
  readonly #name: string
  readonly #tabLock: string
  readonly #handle: (isLeading: boolean) => void
  #waiting: Era | undefined
  #release: Release | undefined

  /**
   * @param name of the lock
   * @param tabLock a lock that this tab holds as long as it lives
   * @param handle called when the tab leads, and with false when another one has taken the lock away
   */
  constructor(window: PageWindow, name: string, tabLock: string, handle: (isLeading: boolean) => void) {
    this.#window = window
    this.#name = name
    this.#tabLock = tabLock
    this.#handle = handle
  }

  /** Leads as soon as no other tab does. */
  start(): void {
    if (!this.#waiting && !this.#release) this.#request(false)
  }

  /** Takes the lock away from a leader that does not answer. */
  take(): void {
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
  async isHolder(): Promise<boolean> {
    if (!this.#release) return false
    const holders = await names(this.#window, this.#name)
    const holder = holders.get(this.#name)
    return holder !== undefined && holder === holders.get(this.#tabLock)
  }

  #request(isTaking: boolean): void {
    const window = this.#window
    const name = this.#name
    const waiting = new Era()
    this.#waiting = waiting
    const onStolen = () => {
      this.#release = undefined
      this.#handle(false)
    }
    const granted = (release: Release) => {
      if (waiting.isOver) return release()
      this.#waiting = undefined
      this.#release = release
      this.#handle(true)
    }
    const held = isTaking ? steal(window, name, onStolen) : hold(window, name, { signal: waiting.signal, onStolen })
    // Rejected where the wait was ended, here or by the browser.
    held.then(granted, () => {
      if (this.#waiting === waiting) this.#waiting = undefined
    })
  }
}

/** Number of looks after which a tab posts a message, whose number shows the others whether they have missed an earlier one. */
const LOOKS_PER_HELLO = 5

/** A leader that has not answered so many times in a row is frozen. */
const MISSED_ANSWERS = 2

/** Whether the leader still answers, as a follower sees it that looks after it regularly. */
export class LeaderWatch {
  #looks = 0
  /** Looks in a row without a sign of the leader. */
  #missed = 0
  #hasHeard = false

  /** The leader has said something. */
  handleSign(): void {
    this.#hasHeard = true
  }

  /** Begins to count the missing answers. */
  reset(): void {
    this.#missed = 0
  }

  /** Looks once. Returns what to do: greet the others, or take the lock away from a frozen leader. */
  look(): 'greet' | 'take' | undefined {
    const hasHeard = this.#hasHeard
    this.#hasHeard = false
    this.#missed = hasHeard ? 0 : this.#missed + 1
    this.#looks++
    if (this.#missed <= MISSED_ANSWERS) return !hasHeard || this.#looks % LOOKS_PER_HELLO === 0 ? 'greet' : undefined
    this.#missed = 0
    return 'take'
  }
}
