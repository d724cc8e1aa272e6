import { wellFormed } from './well-formed.ts'

/** The UTF-8 bytes of a text, also where there is no `TextEncoder`, as in older engines of React Native. */
export function utf8Bytes(text: string): Uint8Array {
  if (typeof TextEncoder === 'function') return new TextEncoder().encode(text)
  const encoded = encodeURIComponent(wellFormed(text))
  return Uint8Array.from(encoded.match(/%..|./g) ?? [], part =>
    part.length > 1 ? Number.parseInt(part.slice(1), 16) : part.charCodeAt(0),
  )
}

/**
 * The text of UTF-8 bytes, also where there is no `TextDecoder`.
 *
 * @throws {URIError} for invalid UTF-8, where there is no `TextDecoder`
 */
export function utf8Text(bytes: Uint8Array): string {
  if (typeof TextDecoder === 'function') return new TextDecoder().decode(bytes)
  return decodeURIComponent(Array.from(bytes, byte => `%${byte.toString(16).padStart(2, '0')}`).join(''))
}
