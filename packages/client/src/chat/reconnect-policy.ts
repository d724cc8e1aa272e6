export interface ReconnectPolicyOptions {
  maxReconnectAttempts: number
  baseReconnectDelay: number
  maxReconnectDelay: number
}

/** Returns a number from 0 to 1, as `Math.random`. */
interface RandomSource {
  random(): number
}

/** Beyond this the doubling has reached any sensible maximum, and a power would overflow. */
const LARGEST_EXPONENT = 40

/**
 * Decides how a lost connection is retried. Has no side effects.
 *
 * The wait doubles with each failed attempt, with jitter in the upper half of the step: with
 * c = min(base · 2^(attempt+1), max) it is uniform in [max(base, c/2), c]: 1–2, 2–4 … 15–30 s with the defaults. The jitter
 * prevents clients that lost the service together from reconnecting together.
 */
export class ReconnectPolicy {
  readonly #options: ReconnectPolicyOptions
  readonly #source: RandomSource

  constructor(options: ReconnectPolicyOptions, source: RandomSource) {
    this.#options = options
    this.#source = source
  }

  /** Number of attempts before the connection is closed. */
  get maxAttempts(): number {
    return this.#options.maxReconnectAttempts
  }

  /** Wait before attempt number `attempt` (from 0), in milliseconds. */
  delayFor(attempt: number): number {
    const { baseReconnectDelay, maxReconnectDelay: max } = this.#options
    const base = Math.min(baseReconnectDelay, max)
    const ceiling = Math.min(base * 2 ** Math.min(attempt + 1, LARGEST_EXPONENT), max)
    const floor = Math.max(base, ceiling / 2)
    return floor + this.#source.random() * (ceiling - floor)
  }
}
