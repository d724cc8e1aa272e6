import { sha256 } from './sha256.ts'
import { encodeKey, utf8Text } from './text.ts'
import { isPromiseLike } from './values.ts'

/** Three parts of base64url; that of the signature may be empty. */
const JWT = /^[\w-]+\.([\w-]+)\.[\w-]*$/

/** The token that a host or a service has given, without the line break of a file that it came from; empty if it gave none. */
export function tokenIn(given: unknown): string {
  return typeof given === 'string' ? given.trim() : ''
}

/** Why {@link tokenIn} finds no token, as the rest of a sentence. */
export function whyNoToken(given: unknown): string {
  if (isPromiseLike(given)) return 'is a Promise: await it first'
  return typeof given === 'object' && given ? 'is an object: pass its text' : 'is empty'
}

/** The claims of a JWT, unverified; undefined for anything else. */
export function jwtPayload(token: string): unknown {
  const payload = JWT.exec(token)?.[1]
  if (!payload) return undefined
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), char => char.charCodeAt(0))
    return JSON.parse(utf8Text(bytes))
  } catch {
    return undefined
  }
}

/** A text without anything that looks like a token: JWTs, and values of token fields. */
export function withoutTokens(text: string): string {
  return text
    .replace(/\beyJ[\w-]*\.[\w-]+(?:\.[\w-]*)*/g, '…')
    .replace(/("(?:access|refresh|id)_?token"\s*:\s*")[^"]*/gi, '$1…')
}

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
