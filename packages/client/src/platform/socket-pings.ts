/** Time between two pings of a socket on Node, in milliseconds. A dead connection is noticed within twice this time. */
export const PING_INTERVAL_MS = 9_000

/** Close reason, with code 1006, of a connection on which nothing answers any more. */
export const DEAD_CONNECTION_REASON = 'The connection is dead: nothing answers on it.'
