/** Where a chat connection stands. */
export const ConnectionState = {
  /** Never connected. */
  IDLE: 'IDLE',
  /** An attempt is on its way. */
  CONNECTING: 'CONNECTING',
  CONNECTED: 'CONNECTED',
  /** The connection was lost or could not be made; another attempt follows by itself. */
  RECONNECTING: 'RECONNECTING',
  /** Closed by either side, or after the last attempt. `connect()` opens it again. */
  CLOSED: 'CLOSED',
} as const

/** One of the states of {@link ConnectionState}. */
export type ConnectionState = (typeof ConnectionState)[keyof typeof ConnectionState]
