import { atTime } from '../platform/clock.ts'
import type { Environment } from '../platform/environment.ts'

interface WatchedExpiry {
  /** When the token counts as about to expire, in milliseconds since the epoch. */
  readonly moment: number
  readonly expiresAt: number
}

/**
 * Watches the expiry of one token, with one timer. The clock is also read when the page or the network returns, since
 * timers stop while a laptop sleeps or a page is frozen.
 */
export class ExpiryWatch {
  readonly #environment: Pick<Environment, 'clock' | 'page'>
  readonly #onDue: (expiresAt: number) => void
  #watched: WatchedExpiry | undefined
  #disarm: (() => void) | undefined
  #isSuspended = false

  /** @param onDue called once per watched token, with its expiry */
  constructor(environment: Pick<Environment, 'clock' | 'page'>, onDue: (expiresAt: number) => void) {
    this.#environment = environment
    this.#onDue = onDue
  }

  /** Watches a token instead of the previous one. */
  start(moment: number, expiresAt: number): void {
    this.stop()
    this.#watched = { moment, expiresAt }
    this.#arm()
  }

  stop(): void {
    this.#disarm?.()
    this.#disarm = undefined
    this.#watched = undefined
  }

  /** Holds no timer and no listener until {@link resume}: a disconnected agent does not renew tokens (REL-02). */
  suspend(): void {
    this.#isSuspended = true
    this.#disarm?.()
    this.#disarm = undefined
  }

  /** Reverts {@link suspend}. */
  resume(): void {
    if (!this.#isSuspended) return
    this.#isSuspended = false
    this.#arm()
  }

  /** Calls back if the token is due. */
  check(): void {
    const watched = this.#watched
    if (!watched || this.#environment.clock.now() < watched.moment) return
    this.stop()
    this.#onDue(watched.expiresAt)
  }

  #arm(): void {
    if (!this.#watched || this.#isSuspended) return
    const { clock, page } = this.#environment
    // A timer must not keep an agent in memory that the host has dropped (REL-01).
    const watch = new WeakRef(this)
    const look = () => watch.deref()?.check()
    const cancelTimer = atTime(clock, this.#watched.moment, look)
    const stopListening = page?.onReturn(look)
    this.#disarm = () => {
      cancelTimer()
      stopListening?.()
    }
  }
}
