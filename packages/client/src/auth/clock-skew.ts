import { readClaims, SMALLEST_SKEW_MS } from './access-token.ts'

/** What was learned from the last token. */
interface SeenToken {
  readonly token: string
  readonly iat: number
  /** How far the clock is behind that of the issuer, as a negative number of milliseconds. */
  readonly behindMs: number
}

/**
 * How far the clock of this device is from that of the issuer, learned from tokens that the host supplies (REL-39).
 *
 * The age of such a token is unknown. A token from the future shows that the clock is behind. A new token that looks
 * expired is taken as issued just now, by a clock that is ahead: the service decides whether it is. As soon as a token is
 * younger than that, the clock was corrected.
 */
export class ClockSkew {
  #aheadMs = 0
  #last: SeenToken | undefined

  /** Expiry of a token in milliseconds since the epoch, by the clock of this device. Undefined where it is unknown. */
  expiryOf(token: string, now: number): number | undefined {
    const { exp, iat } = readClaims(token)
    if (exp === undefined) return undefined
    const expiresAt = exp * 1000
    if (iat === undefined) return expiresAt
    const age = now - iat * 1000
    const last = this.#last
    const isSame = token === last?.token
    if (age < this.#aheadMs - SMALLEST_SKEW_MS) this.#aheadMs = Math.max(0, age)
    const isNewer = !isSame && (!last || iat > last.iat)
    if (isNewer && exp > iat && expiresAt + this.#aheadMs <= now) this.#aheadMs = age
    // While time passes, the same token seems to be less far in the future.
    const behindMs = age < -SMALLEST_SKEW_MS ? Math.min(age, isSame ? last.behindMs : 0) : 0
    this.#last = { token, iat, behindMs }
    return expiresAt + (behindMs || this.#aheadMs)
  }
}
