/** A text in which half of a surrogate pair, which cannot be encoded, is U+FFFD. */
export function wellFormed(text: string | number): string {
  return String(text).replace(/\p{Surrogate}/gu, '\uFFFD')
}

/**
 * As `encodeURIComponent`, for keys: half of a surrogate pair, for which that throws, becomes `%uD83D`. Two texts never get
 * the same key.
 */
export function encodeKey(text: string | number): string {
  const parts = String(text).split(/(\p{Surrogate})/u)
  return parts.map((part, i) => (i % 2 ? `%u${part.charCodeAt(0).toString(16)}` : encodeURIComponent(part))).join('')
}

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

/** FNV-1a, 32 bit, over the UTF-8 bytes of a text: eight lower-case hex digits. Distinguishes texts; hides nothing. */
export function fnv1a(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of utf8Bytes(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
