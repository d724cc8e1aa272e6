import { jwtPayload } from '../util/jwt-payload.ts'

/** Lifetime that services require of a token, in milliseconds. */
const NEEDED_LIFE_MS = 300_000

/** The remedy for an access token that the service rejected. */
export function refusedTokenAdvice(token: string, now: number): string {
  const claims = jwtPayload(token)
  if (claims === undefined) return 'The access token is not a JWT. Check which token is passed.'
  const exp = (claims as { exp?: unknown } | null)?.exp
  if (typeof exp === 'number' && exp * 1_000 <= now)
    return 'The access token has expired. Sign in again, or pass a new one.'
  if (typeof exp === 'number' && exp * 1_000 - now < NEEDED_LIFE_MS)
    return 'Sign in again, or pass an access token that is valid for at least five more minutes.'
  return 'Sign in again, or pass another access token.'
}

/** A text without anything that looks like a token: JWTs, and values of token fields. */
export function withoutTokens(text: string): string {
  return text
    .replace(/\beyJ[\w-]*\.[\w-]+(?:\.[\w-]*)*/g, '…')
    .replace(/("(?:access|refresh|id)_?token"\s*:\s*")[^"]*/gi, '$1…')
}
