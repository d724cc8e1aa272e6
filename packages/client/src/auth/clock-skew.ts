import { readClaims, SMALLEST_SKEW_MS } from './access-token.ts'

/**
 * How far the clock of this device is ahead of that of the issuer, learned from tokens that the host supplies (REL-39).
 *
 * Nobody says how old such a token is. But no token is older than the time since it was issued, so a smaller difference
 * between the clock and `iat` is always taken. A larger one is taken only from a new token that looks expired: the
 * service decides whether it is.
 */
export class ClockSkew {
  #ms = 0
  #newest = Number.NEGATIVE_INFINITY

  /** Expiry of a token in milliseconds since the epoch, by the clock of this device. Undefined where it is unknown. */
  expiryOf(token: string, now: number): number | undefined {
    const { exp, iat } = readClaims(token)
    if (exp === undefined) return undefined
    if (iat !== undefined) {
      const age = now - iat * 1000
      const looksExpired = iat > this.#newest && exp > iat && exp * 1000 + this.#ms <= now
      if (looksExpired || age < this.#ms - SMALLEST_SKEW_MS) this.#ms = age
      if (Math.abs(this.#ms) < SMALLEST_SKEW_MS) this.#ms = 0
      this.#newest = Math.max(this.#newest, iat)
    }
    return exp * 1000 + this.#ms
  }
}
