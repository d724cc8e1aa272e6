import type { Clock } from '../platform/clock.ts'
import type { Page } from '../platform/page.ts'

/** For this long, a return of the page counts as the cause of a lost connection, in milliseconds. */
const RECENT_MS = 2_000

/** How often the wall clock is read during a wait, in milliseconds. */
const LOOK_EVERY_MS = 250

/** With a longer time between two checks, in milliseconds, the machine has slept or its clock was set forward. */
const JUMP_MS = 2_000

/** What a {@link WakeWatch} reports to. */
export interface WakeOwner {
  /** The page became active again. */
  handleWake(): void
}

/**
 * Detects that a page became active again: the network returned, the page is visible again, or the machine has slept.
 * Owns the time of the last return. Without a page it does nothing.
 */
export class WakeWatch {
  readonly #clock: Clock
  readonly #page: Page | undefined
  readonly #owner: WakeOwner
  #stop: (() => void) | undefined
  /** On the monotonic clock. */
  #returnedAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, page: Page | undefined, owner: WakeOwner) {
    this.#clock = clock
    this.#page = page
    this.#owner = owner
  }

  /** Listens to the page until {@link stop}. */
  start(): void {
    this.#stop ??= this.#page?.onReturn(() => {
      this.#returnedAt = this.#clock.monotonic()
      this.#owner.handleWake()
    })
  }

  stop(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#returnedAt = Number.NEGATIVE_INFINITY
  }

  /**
   * Whether the page returned less than two seconds ago. True once for each return, so that a service that keeps closing
   * does not get an attempt at once each time.
   */
  consumeReturn(): boolean {
    const recent = this.#clock.monotonic() - this.#returnedAt < RECENT_MS
    this.#returnedAt = Number.NEGATIVE_INFINITY
    return recent
  }

  /**
   * Runs a callback after a delay on the monotonic clock, so that a wall clock that is set back does not lengthen it.
   * On a page it also reads the wall clock every quarter of a second, which detects a sleep soon after its end; it then
   * calls `handleWake` instead.
   *
   * @returns a function that cancels the call
   */
  wait(delayMs: number, callback: () => void): () => void {
    const clock = this.#clock
    const due = clock.monotonic() + delayMs
    let timer: unknown
    let lookedAt = clock.now()
    const look = () => {
      const wallTime = clock.now()
      const hasSlept = this.#page !== undefined && wallTime - lookedAt > LOOK_EVERY_MS + JUMP_MS
      lookedAt = wallTime
      if (hasSlept) this.#owner.handleWake()
      else if (clock.monotonic() >= due) callback()
      else next(due - clock.monotonic())
    }
    const next = (left: number) => {
      timer = clock.setTimeout(look, this.#page ? Math.min(left, LOOK_EVERY_MS) : left)
    }
    next(delayMs)
    return () => clock.clearTimeout(timer)
  }
}
