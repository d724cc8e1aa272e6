import type { Clock } from '../platform/clock.ts'
import { untilAborted } from '../util/abort.ts'

/** Why a token is obtained: it is needed, the current one was rejected, or the host supplied it. */
export type RenewalKind = 'ordinary' | 'forced' | 'supplied'

/** A request that takes longer is started again after a disconnect, in milliseconds. */
const SLOW_MS = 5_000

interface Flight {
  readonly kind: RenewalKind
  /** On the monotonic clock. */
  readonly startedAt: number
  readonly outcome: Promise<string>
  readonly controller: AbortController
}

/** Abort reason of a request whose callers receive the outcome of a later one. */
class Replaced {
  readonly next: Promise<string>
  constructor(next: Promise<string>) {
    this.next = next
  }
}

/**
 * Obtains one token at a time. Callers join the request in flight.
 *
 * The signal of a request is its generation: once it is aborted, its result must be discarded. Callers never wait for an
 * aborted request.
 */
export class Renewal {
  readonly #clock: Pick<Clock, 'monotonic'>
  #flight: Flight | undefined
  #isGivenUp = false

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Kind of the request in flight, if there is one. */
  get kind(): RenewalKind | undefined {
    return this.#flight?.kind
  }

  /** Joins the request in flight, or starts one. */
  join(kind: RenewalKind, work: (signal: AbortSignal) => Promise<string>): Promise<string> {
    return (!this.#isGivenUp && this.#flight?.outcome) || this.replace(kind, work)
  }

  /** The next caller does not wait for a slow request: it starts another one, whose outcome all callers receive. */
  giveUpSlow(): void {
    const flight = this.#flight
    this.#isGivenUp = flight !== undefined && this.#clock.monotonic() - flight.startedAt >= SLOW_MS
  }

  /** Starts a request. The callers of the one in flight receive the outcome of this one. */
  replace(kind: RenewalKind, work: (signal: AbortSignal) => Promise<string>): Promise<string> {
    const previous = this.#flight
    this.#isGivenUp = false
    const startedAt = this.#clock.monotonic()
    const controller = new AbortController()
    const { signal } = controller
    const outcome = untilAborted(work(signal), signal).catch((error: unknown) => {
      if (error instanceof Replaced) return error.next
      throw error
    })
    const flight: Flight = { kind, startedAt, outcome, controller }
    this.#flight = flight
    const end = () => {
      if (this.#flight === flight) this.#flight = undefined
    }
    outcome.then(end, end)
    previous?.controller.abort(new Replaced(outcome))
    return outcome
  }

  /** Rejects the callers of the request in flight and discards its result. */
  end(error: unknown): void {
    const flight = this.#flight
    this.#flight = undefined
    flight?.controller.abort(error)
  }
}

/** Minimum average time between forced refreshes, in milliseconds. */
const REFRESH_SPACING_MS = 5_000

/** How many forced refreshes may run without a delay. */
const REFRESH_BURST = 3

/**
 * Rate limit for refreshes that the service forces by rejecting tokens. The first {@link REFRESH_BURST} run without a
 * delay; after that, at most one in five seconds on average.
 */
export class RefreshSpacing {
  /** When the full burst is available again, in milliseconds since the epoch. */
  #fullAt = 0

  /** Reserves one refresh. Returns its delay, in milliseconds. */
  take(now: number): number {
    // The wall clock may have been set back since.
    const ahead = Math.min(Math.max(0, this.#fullAt - now), REFRESH_BURST * REFRESH_SPACING_MS)
    this.#fullAt = now + ahead + REFRESH_SPACING_MS
    return Math.max(0, ahead - (REFRESH_BURST - 1) * REFRESH_SPACING_MS)
  }
}
