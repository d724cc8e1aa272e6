/** Time between two pings of a socket on Node, in milliseconds. A dead connection is noticed within twice this time. */
export const PING_INTERVAL_MS = 9_000

/** Close reason, with code 1006, of a connection on which nothing answers any more. */
export const DEAD_CONNECTION_REASON = 'The connection is dead: nothing answers on it.'

/** Maximum size of a received frame, in bytes on Node and in characters in a browser. */
export const MAX_FRAME_LENGTH = 8 * 1024 * 1024

/**
 * Maximum length of all frames together that wait for a message handler, in characters: four of the largest frames, or
 * hours of conversation. A handler may take 30 seconds, in which a service could otherwise fill the memory.
 */
export const MAX_WAITING_LENGTH = 4 * MAX_FRAME_LENGTH

/** Close code for frames that are too large. */
export const FRAME_TOO_LARGE_CODE = 1009

/** The code for 1009 with which a page may close. */
export const TOO_LARGE_PRIVATE_CODE = 4009

/** Close reason for a received frame that is too large. */
export const FRAME_TOO_LARGE_REASON = 'A received frame is larger than 8 MiB.'

/** Close reason for received frames that are too large together. */
export const FRAMES_WAIT_REASON = 'Received frames of more than 32 MiB wait for a message handler.'
