import { type Clock, sleep } from '../platform/clock.ts'
import { JoinedTask } from '../util/joined-task.ts'

/** Why a token is obtained: it is needed, the current one was rejected, or the host supplied it. */
export type RenewalKind = 'ordinary' | 'forced' | 'supplied'

/** A request that takes longer is started again after a disconnect, in milliseconds. */
const SLOW_MS = 5_000

/** Minimum average time between forced refreshes, in milliseconds. */
const REFRESH_SPACING_MS = 5_000

/** How many forced refreshes may run without a delay. */
const REFRESH_BURST = 3

/**
 * Obtains one token at a time. Callers join the request in flight.
 *
 * Once the signal of a request is aborted, its result must be discarded. Callers never wait for an aborted request.
 */
export class Renewal {
  readonly #clock: Clock
  readonly #request = new JoinedTask<string>()
  #kind: RenewalKind = 'ordinary'
  /** When the latest request began, on the monotonic clock. */
  #startedAt = 0
  #isGivenUp = false
  /** When the full burst of forced refreshes is available again, in milliseconds since the epoch. */
  #fullAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Joins the request in flight, or starts one. A forced request replaces an ordinary one. */
  join(kind: RenewalKind, work: (signal: AbortSignal) => Promise<string>): Promise<string> {
    const isEnough = this.#request.isRunning && !this.#isGivenUp && (kind === 'ordinary' || this.#kind !== 'ordinary')
    return isEnough ? this.#request.join(work) : this.replace(kind, work)
  }

  /** Starts a request. The callers of the one in flight receive the outcome of this one. */
  replace(kind: RenewalKind, work: (signal: AbortSignal) => Promise<string>): Promise<string> {
    this.#isGivenUp = false
    this.#kind = kind
    this.#startedAt = this.#clock.monotonic()
    return this.#request.replace(work)
  }

  /** The next caller does not wait for a slow request: it starts another one, whose outcome all callers receive. */
  giveUpSlow(): void {
    this.#isGivenUp = this.#clock.monotonic() - this.#startedAt >= SLOW_MS
  }

  /** Rejects the callers of the request in flight and discards its result. */
  end(error: unknown): void {
    this.#request.abort(error)
  }

  /**
   * Delays refreshes that the service forces by rejecting tokens. The first {@link REFRESH_BURST} run without a delay; after
   * that, at most one in five seconds on average.
   */
  async space(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now()
    // The wall clock may have been set back since.
    const ahead = Math.min(Math.max(0, this.#fullAt - now), REFRESH_BURST * REFRESH_SPACING_MS)
    this.#fullAt = now + ahead + REFRESH_SPACING_MS
    const waitMs = ahead - (REFRESH_BURST - 1) * REFRESH_SPACING_MS
    if (waitMs > 0) await sleep(this.#clock, waitMs, signal)
    signal.throwIfAborted()
  }
}
