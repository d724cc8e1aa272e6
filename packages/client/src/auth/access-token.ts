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
