import type { Clock } from '../platform/clock.ts'
import type { Page } from '../platform/page.ts'

/** A return counts as the reason of a loss that is noticed this soon after it, in milliseconds. */
const RECENT_MS = 2_000

/** How often the wall clock is looked at while a wait runs, in milliseconds. */
const LOOK_EVERY_MS = 250

/** Two looks further apart than this, in milliseconds, and the machine has slept or the clock was set. */
const JUMP_MS = 2_000

/**
 * Notices that a page came back to life: the network is there again, the page is seen again, or the machine has slept.
 * It owns the moment of the last return. Without a page it notices nothing, and costs nothing.
 */
export class WakeWatch {
  readonly #clock: Clock
  readonly #page: Page | undefined
  readonly #onWake: () => void
  #stop: (() => void) | undefined
  #returnedAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, page: Page | undefined, onWake: () => void) {
    this.#clock = clock
    this.#page = page
    this.#onWake = onWake
  }

  /** Listens to the page from now on. */
  start(): void {
    this.#stop ??= this.#page?.onReturn(() => {
      this.#returnedAt = this.#clock.now()
      this.#onWake()
    })
  }

  stop(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#returnedAt = Number.NEGATIVE_INFINITY
  }

  /**
   * Whether the page returned a moment ago; true once for each return, so that a service that keeps closing is not
   * hammered.
   */
  takeReturn(): boolean {
    const recent = this.#clock.now() - this.#returnedAt < RECENT_MS
    this.#returnedAt = Number.NEGATIVE_INFINITY
    return recent
  }

  /**
   * Calls back when a delay has passed by the wall clock. On a page it looks every quarter of a second, so that a sleep
   * is noticed soon after its end: then it calls {@link onWake} instead.
   *
   * @returns the undo
   */
  wait(delayMs: number, callback: () => void): () => void {
    const due = this.#clock.now() + delayMs
    let timer: unknown
    let looked = this.#clock.now()
    const look = () => {
      const now = this.#clock.now()
      const jumped = this.#page !== undefined && now - looked > LOOK_EVERY_MS + JUMP_MS
      looked = now
      if (jumped) this.#onWake()
      else if (now >= due) callback()
      else next()
    }
    const next = () => {
      const left = due - this.#clock.now()
      timer = this.#clock.setTimeout(look, this.#page ? Math.min(left, LOOK_EVERY_MS) : left)
    }
    next()
    return () => this.#clock.clearTimeout(timer)
  }
}
