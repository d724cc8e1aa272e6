/** State of a chat connection. */
export const ConnectionState = {
  /** Never connected. */
  IDLE: 'IDLE',
  /** An attempt is in progress. */
  CONNECTING: 'CONNECTING',
  CONNECTED: 'CONNECTED',
  /** The connection was lost or could not be opened; the library tries again. */
  RECONNECTING: 'RECONNECTING',
  /** Closed by either side, or after the last attempt. `connect()` opens it again. */
  CLOSED: 'CLOSED',
} as const

/** One of the states of {@link ConnectionState}. */
export type ConnectionState = (typeof ConnectionState)[keyof typeof ConnectionState]
