import { type AccessTokenClaims, parseAccessTokenClaims } from '@aiagent/protocol'
import { jwtPayload } from '../util/jwt-payload.ts'
import { ACCESS_TOKEN_REFRESH_BUFFER_MS } from './auth-strategy.ts'

/**
 * The claims of a token. Empty for an opaque or unreadable token.
 *
 * Nothing is verified: that is the service's task. It never throws.
 */
export function readClaims(token: string): AccessTokenClaims {
  try {
    return parseAccessTokenClaims(jwtPayload(token))
  } catch {
    return {}
  }
}

/** Expiry of a token from its `exp` claim, in milliseconds since the epoch. */
export function expiryOf(token: string): number | undefined {
  const { exp } = readClaims(token)
  return exp === undefined ? undefined : exp * 1000
}

/** Clock differences below this are network latency, in milliseconds. */
export const SMALLEST_SKEW_MS = 60_000

/**
 * Expiry of a newly issued token, in milliseconds since the epoch by the clock of this device. If the clock were hours
 * ahead of the issuer's, every new token would look expired: the skew is computed from `iat`.
 *
 * @param expiresIn lifetime in seconds, for a token without a readable expiry
 */
export function expiryOfFresh(token: string, now: number, expiresIn?: number): number | undefined {
  const { exp, iat } = readClaims(token)
  if (exp === undefined) return expiresIn === undefined ? undefined : now + expiresIn * 1000
  const skew = iat === undefined ? 0 : now - iat * 1000
  return exp * 1000 + (Math.abs(skew) > SMALLEST_SKEW_MS ? skew : 0)
}

/**
 * When to renew a token, in milliseconds since the epoch: `bufferMs` before it expires. A token with a total lifetime
 * of at most `bufferMs` is used until it expires. Otherwise each such token would be renewed as soon as it was
 * obtained.
 */
export function renewalTime(expiresAt: number, obtainedAt: number, bufferMs = ACCESS_TOKEN_REFRESH_BUFFER_MS): number {
  return expiresAt - obtainedAt > bufferMs ? expiresAt - bufferMs : expiresAt
}

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
