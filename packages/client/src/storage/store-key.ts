/*
 * Keys for stores that accept few characters: colons and slashes separate, a question mark ends, dots navigate upwards,
 * and file systems limit names.
 *
 * Letters, digits, `_` and `-` stay. Any other UTF-16 unit becomes `~`, its code in hexadecimal, and `_`. Long keys are
 * split by `~:`, which occurs nowhere else, since a `~` in the key itself is encoded.
 */

/** Maximum length of a segment; most file systems accept names of up to 255 bytes. */
const SEGMENT_CHARS = 200
const SEGMENTS = new RegExp(`.{${SEGMENT_CHARS - 1}}(?=..)`, 'g')

/** A key in the form of such a store. Different keys stay different. */
export function encodeStoreKey(key: string): string {
  // The empty key would be the parent folder.
  if (key === '') return '~_'
  const plain = key.replace(/[^A-Za-z0-9_-]/g, unit => `~${unit.charCodeAt(0).toString(16)}_`)
  return plain.replace(SEGMENTS, '$&~:')
}

/** The decoded key; undefined for one that other code stored. */
export function decodeStoreKey(encoded: string): string | undefined {
  const plain = encoded.replaceAll('~:', '').replace('~_', '')
  const key = plain.replace(/~([0-9a-f]{1,4})_/g, (_text, code) => String.fromCharCode(Number.parseInt(code, 16)))
  return encodeStoreKey(key) === encoded ? key : undefined
}
