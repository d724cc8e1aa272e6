/** Close codes of the chat socket, and whether a client comes back after them. */
export const CLOSE_CODE = {
  /** The conversation was left or ended on purpose. Final. */
  NORMAL: 1000,
  /** The service shuts down; come back. */
  GOING_AWAY: 1001,
  /** Closed without a status. Final. */
  NO_STATUS: 1005,
  /** The connection broke without a close frame; come back. Never sent, only reported. */
  ABNORMAL: 1006,
  /** The service refuses a flood of unreadable frames; come back (with backoff). */
  POLICY_VIOLATION: 1008,
  /** A frame was larger than the service takes; come back. */
  TOO_LARGE: 1009,
  /** The service no longer knows the session: come back with a new one. */
  SESSION_UNKNOWN: 4404,
  /** A connection with a higher fencing number has had the session: see PROTOCOL.md, "Fencing". Come back with a higher one. */
  FENCED: 4409,
} as const

/** Reason text a client sends with {@link CLOSE_CODE.NORMAL} when it leaves. */
export const CLIENT_DISCONNECT_REASON = 'Client disconnect'

/** Whether a close code ends the connection for good: no reconnect is scheduled after it. */
export function isFinalCloseCode(code: number): boolean {
  return code === CLOSE_CODE.NORMAL || code === CLOSE_CODE.NO_STATUS
}

/** HTTP statuses with which an upgrade is refused because the session is unknown or gone. */
export function isSessionRefusal(status: number | undefined): boolean {
  return status === 404 || status === 410
}
