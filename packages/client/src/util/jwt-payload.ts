import { isPromiseLike } from './is-promise-like.ts'
import { utf8Text } from './utf8.ts'

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
