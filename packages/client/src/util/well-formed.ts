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
