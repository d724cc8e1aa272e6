import type { Clock } from '@aiagent/client'

/** Longest stretch in which unused permits add up, in milliseconds. */
const BURST_MS = 1_000

/** Lets a number of things through per second, first come first served. The rate is a share of the deployment's limit. */
export class Pacer {
  readonly #clock: Pick<Clock, 'monotonic' | 'setTimeout'>
  #perSecond: number
  /** When the next one may go, on the monotonic clock. */
  #nextAt = 0

  constructor(perSecond: number, clock: Pick<Clock, 'monotonic' | 'setTimeout'>) {
    this.#perSecond = perSecond
    this.#clock = clock
  }

  /** Changes the rate for those that come from now on. */
  setRate(perSecond: number): void {
    this.#perSecond = perSecond
  }

  /** Waits until it may go. */
  async take(): Promise<void> {
    if (this.#perSecond === Number.POSITIVE_INFINITY) return
    const now = this.#clock.monotonic()
    const at = Math.max(this.#nextAt, now - BURST_MS)
    this.#nextAt = at + 1_000 / this.#perSecond
    if (at > now) await new Promise<void>(resolve => this.#clock.setTimeout(resolve, at - now))
  }
}
