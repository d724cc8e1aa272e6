import { jwtPayload } from './jwt-payload.ts'
import { sha256 } from './sha256.ts'
import { encodeKey } from './well-formed.ts'

/**
 * Identifies the user of a JWT by issuer and subject (claim `sub`, else `oid`); undefined for a token without a readable
 * subject. Two users never get the same text: both claims are encoded before they are joined.
 */
export function subjectOf(token: string): string | undefined {
  const claims = jwtPayload(token)
  if (typeof claims !== 'object' || claims === null) return undefined
  const { iss, sub, oid } = claims as { iss?: unknown; sub?: unknown; oid?: unknown }
  const subject = [sub, oid].find((claim): claim is string => typeof claim === 'string' && claim !== '')
  if (subject === undefined) return undefined
  return `${encodeKey(typeof iss === 'string' ? iss : '')}|${encodeKey(subject)}`
}

/**
 * Identifies the user of an access token in the keys of a store: 32 hex digits of a hash of {@link subjectOf}, or of the
 * whole token where it has no readable subject. Users who choose their own subject cannot collide with others.
 */
export function subjectFingerprint(token: string): string {
  return sha256(subjectOf(token) ?? token).slice(0, 32)
}
