import { utf8Bytes } from './utf8.ts'

/** FNV-1a, 32 bit, over the UTF-8 bytes of a text: eight lower-case hex digits. Distinguishes texts; hides nothing. */
export function fnv1a(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of utf8Bytes(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
