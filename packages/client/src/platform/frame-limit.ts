/** Maximum size of a received frame, in bytes on Node and in characters in a browser. */
export const MAX_FRAME_LENGTH = 8 * 1024 * 1024

/** Close code for a frame that is too large. */
export const FRAME_TOO_LARGE_CODE = 1009

/** Close reason for a received frame that is too large. */
export const FRAME_TOO_LARGE_REASON = 'A received frame is larger than 8 MiB.'
