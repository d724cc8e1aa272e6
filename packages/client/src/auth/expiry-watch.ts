import { atTime } from '../platform/clock.ts'
import type { Environment } from '../platform/environment.ts'

interface WatchedExpiry {
  /** When the token counts as about to expire, in milliseconds since the epoch. */
  readonly moment: number
  readonly expiresAt: number
  readonly cancel: () => void
}

/**
 * Watches the expiry of one token, with one timer. The clock is also read when the page or the network returns, since
 * timers stop while a laptop sleeps or a page is frozen.
 */
export class ExpiryWatch {
  readonly #environment: Pick<Environment, 'clock' | 'page'>
  readonly #onDue: (expiresAt: number) => void
  #watched: WatchedExpiry | undefined

  /** @param onDue called once per watched token, with its expiry */
  constructor(environment: Pick<Environment, 'clock' | 'page'>, onDue: (expiresAt: number) => void) {
    this.#environment = environment
    this.#onDue = onDue
  }

  /** Watches a token instead of the one before. */
  start(moment: number, expiresAt: number): void {
    this.stop()
    const { clock, page } = this.#environment
    const look = () => this.check()
    const cancelTimer = atTime(clock, moment, look)
    const stopListening = page?.onReturn(look)
    const cancel = () => {
      cancelTimer()
      stopListening?.()
    }
    this.#watched = { moment, expiresAt, cancel }
  }

  stop(): void {
    this.#watched?.cancel()
    this.#watched = undefined
  }

  /** Calls back if the moment has come. */
  check(): void {
    const watched = this.#watched
    if (!watched || this.#environment.clock.now() < watched.moment) return
    this.stop()
    this.#onDue(watched.expiresAt)
  }
}
