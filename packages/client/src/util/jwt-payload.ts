import { utf8Text } from './utf8.ts'

/** The claims of a JWT, unverified; undefined for anything else. */
export function jwtPayload(token: string): unknown {
  const payload = token.split('.')[1]
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
