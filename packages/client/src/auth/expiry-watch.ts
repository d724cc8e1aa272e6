import type { Environment } from '../platform/environment.ts'

interface WatchedExpiry {
  /** When the token counts as about to expire, in milliseconds since the epoch. */
  readonly moment: number
  readonly expiresAt: number
}

/** Who has the watched token. */
export interface ExpiryOwner {
  /** Called once per watched token, with its expiry. */
  handleDue(expiresAt: number): void
}

/** Longest single timer, because a sleeping laptop stops all timers. */
const LONGEST_STEP_MS = 60_000

/**
 * Watches the expiry of one token, with one timer. The clock is also read when the page or the network returns, since
 * timers stop while a laptop sleeps or a page is frozen.
 */
export class ExpiryWatch {
  readonly #environment: Pick<Environment, 'clock' | 'page'>
  readonly #owner: ExpiryOwner
  #watched: WatchedExpiry | undefined
  #timer: unknown
  #stopListening: (() => void) | undefined
  #isSuspended = false

  constructor(environment: Pick<Environment, 'clock' | 'page'>, owner: ExpiryOwner) {
    this.#environment = environment
    this.#owner = owner
  }

  /** Watches a token instead of the previous one. */
  start(moment: number, expiresAt: number): void {
    this.stop()
    this.#watched = { moment, expiresAt }
    this.#arm()
  }

  stop(): void {
    this.#disarm()
    this.#watched = undefined
  }

  /** Holds no timer and no listener until {@link resume}: a disconnected agent does not renew tokens (REL-02). */
  suspend(): void {
    this.#isSuspended = true
    this.#disarm()
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
    this.#owner.handleDue(watched.expiresAt)
  }

  #arm(): void {
    if (!this.#watched || this.#isSuspended) return
    const { page } = this.#environment
    if (page) {
      const watch = new WeakRef(this)
      this.#stopListening = page.onReturn(() => watch.deref()?.check())
    }
    this.#wait(this.#watched.moment)
  }

  #disarm(): void {
    this.#environment.clock.clearTimeout(this.#timer)
    this.#stopListening?.()
    this.#timer = this.#stopListening = undefined
  }

  /** Looks at the clock at least once a minute. So a laptop that slept detects the expiry soon after waking. */
  #wait(moment: number): void {
    const { clock } = this.#environment
    const delayMs = Math.min(Math.max(0, moment - clock.now()), LONGEST_STEP_MS)
    // A timer must not keep an agent in memory that the host has dropped (REL-01).
    const watch = new WeakRef(this)
    this.#timer = clock.setTimeout(() => void watch.deref()?.look(), delayMs, { background: true })
  }

  /** Called by the timer. */
  look(): void {
    const watched = this.#watched
    this.check()
    // Not due yet. Otherwise another token may be watched by now.
    if (watched && watched === this.#watched) this.#wait(watched.moment)
  }
}
