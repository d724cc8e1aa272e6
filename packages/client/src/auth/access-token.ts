import { type AccessTokenClaims, parseAccessTokenClaims } from '@aiagent/protocol'
import { jwtPayload } from '../util/jwt-payload.ts'
import { ACCESS_TOKEN_REFRESH_BUFFER_MS } from './auth-strategy.ts'

/**
 * What a token says of itself. An opaque token, or one that cannot be read, says nothing.
 *
 * Nothing is verified: that is the service's part. It never throws.
 */
export function readClaims(token: string): AccessTokenClaims {
  try {
    return parseAccessTokenClaims(jwtPayload(token))
  } catch {
    return {}
  }
}

/** When a token expires by its own word, in milliseconds since the epoch. */
export function expiryOf(token: string): number | undefined {
  const { exp } = readClaims(token)
  return exp === undefined ? undefined : exp * 1000
}

/**
 * From when on a token should be replaced, in milliseconds since the epoch: `bufferMs` before it expires. A token whose
 * whole life is no longer than that serves until it expires; else each would be replaced as soon as it came.
 */
export function renewalTime(expiresAt: number, obtainedAt: number, bufferMs = ACCESS_TOKEN_REFRESH_BUFFER_MS): number {
  return expiresAt - obtainedAt > bufferMs ? expiresAt - bufferMs : expiresAt
}
