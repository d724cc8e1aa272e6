/** Names of the query parameters of the chat address. */
export const CHAT_QUERY = {
  SESSION_ID: 'sessionId',
  EXTERNAL_CALL_ID: 'externalCallId',
  LAST_SEQ: 'lastSeq',
  FENCE: 'fence',
} as const

/** Largest frame the service takes, in bytes of UTF-8; a client warns well below it. */
export const MAX_FRAME_BYTES = 128 * 1024

const PLACEHOLDERS = new Set(['', 'undefined', 'null', 'nan'])

/**
 * Whether a value can serve as a session id: a safe integer, or text that is not blank and, ignoring case, none of
 * the placeholders `undefined`, `null`, `nan` that string concatenation leaves behind. Half of a surrogate pair is not
 * usable: no address and no store can hold it.
 */
export function isUsableSessionId(value: unknown): value is string | number {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  return typeof value === 'string' && !PLACEHOLDERS.has(value.trim().toLowerCase()) && !/\p{Surrogate}/u.test(value)
}
