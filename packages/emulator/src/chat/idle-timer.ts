import { type Clock, watchTimer } from '../clock.ts'

/**
 * Owns the time of the last activity, and calls back after a limit.
 *
 * One timer for the whole connection: resetting it with each frame would cost more than the frame.
 */
export class IdleTimer {
  readonly #clock: Clock
  readonly #limitMs: () => number
  readonly #onIdle: () => void
  #lastActivity: number
  #timer: unknown

  constructor(clock: Clock, limitMs: () => number, onIdle: () => void) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#onIdle = onIdle
    this.#lastActivity = clock.now()
  }

  get isIdle(): boolean {
    return this.#clock.now() - this.#lastActivity >= this.#limitMs()
  }

  heard(now: number): void {
    this.#lastActivity = now
  }

  start(): void {
    this.stop()
    const leftMs = this.#lastActivity + this.#limitMs() - this.#clock.now()
    this.#timer = watchTimer(this.#clock, () => (this.isIdle ? this.#onIdle() : this.start()), leftMs)
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer)
  }
}
