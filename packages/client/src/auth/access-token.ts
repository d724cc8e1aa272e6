import { type AccessTokenClaims, parseAccessTokenClaims } from '@aiagent/protocol'
import { jwtPayload } from '../util/jwt-payload.ts'
import { ACCESS_TOKEN_REFRESH_BUFFER_MS } from './auth-strategy.ts'

/**
 * The claims of a token. Empty for an opaque token, or one that cannot be read.
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

/** When a token expires by its `exp` claim, in milliseconds since the epoch. */
export function expiryOf(token: string): number | undefined {
  const { exp } = readClaims(token)
  return exp === undefined ? undefined : exp * 1000
}

/** Differences below this are the time that an answer took, in milliseconds. */
const SMALLEST_SKEW_MS = 60_000

/**
 * When a token that was issued just now expires, in milliseconds since the epoch by the clock of this device. A clock that
 * is hours ahead of the issuer's would otherwise make every new token look expired: the skew is learned from `iat`.
 *
 * @param expiresIn life time in seconds, for a token without a readable expiry
 */
export function expiryOfFresh(token: string, now: number, expiresIn?: number): number | undefined {
  const { exp, iat } = readClaims(token)
  if (exp === undefined) return expiresIn === undefined ? undefined : now + expiresIn * 1000
  const skew = iat === undefined ? 0 : now - iat * 1000
  return exp * 1000 + (Math.abs(skew) > SMALLEST_SKEW_MS ? skew : 0)
}

/**
 * When a token should be renewed, in milliseconds since the epoch: `bufferMs` before it expires. A token whose whole life is
 * no longer than that is used until it expires; else each would be renewed as soon as it came.
 */
export function renewalTime(expiresAt: number, obtainedAt: number, bufferMs = ACCESS_TOKEN_REFRESH_BUFFER_MS): number {
  return expiresAt - obtainedAt > bufferMs ? expiresAt - bufferMs : expiresAt
}
