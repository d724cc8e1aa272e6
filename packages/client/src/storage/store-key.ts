/*
 * Keys for stores that take few characters as they are: colons and slashes divide, a question mark ends, dots climb, and
 * file systems know no long names.
 *
 * Letters, digits, `_` and `-` stay. Any other UTF-16 unit is `~`, its code in hexadecimal, and `_`. What is long is cut by
 * `~:`, which stands nowhere else, since a `~` of the key's own is written by its code.
 */

/** Longest segment; most file systems take names of up to 255 bytes. */
const SEGMENT_CHARS = 200
const SEGMENTS = new RegExp(`.{${SEGMENT_CHARS - 1}}(?=..)`, 'g')

/** A key as such a store takes it. Different keys stay different. */
export function encodeStoreKey(key: string): string {
  // The empty key would be the folder around it.
  if (key === '') return '~_'
  const plain = key.replace(/[^A-Za-z0-9_-]/g, unit => `~${unit.charCodeAt(0).toString(16)}_`)
  return plain.replace(SEGMENTS, '$&~:')
}

/** The key that was encoded so; undefined where something else has put it there. */
export function decodeStoreKey(encoded: string): string | undefined {
  const plain = encoded.replaceAll('~:', '').replace('~_', '')
  const key = plain.replace(/~([0-9a-f]{1,4})_/g, (_text, code) => String.fromCharCode(Number.parseInt(code, 16)))
  return encodeStoreKey(key) === encoded ? key : undefined
}
