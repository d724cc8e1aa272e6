import { CLOSE_CODE } from '@aiagent/protocol'
import type { SocketCloseEvent } from '../platform/environment.ts'
import { FRAME_TOO_LARGE_REASON, FRAMES_WAIT_REASON } from '../platform/frame-limit.ts'
import { DEAD_CONNECTION_REASON } from '../platform/socket-pings.ts'

/**
 * Why an open chat was closed.
 *
 * - `left`: this client closed it, by `disconnect()`, `logout()`, a restart or `destroy()`.
 * - `ended_by_service`: the service closed it for good (code 1000 or 1005), for example because it ended the session or
 *   because the session was opened elsewhere.
 * - `service_restart`: the service goes away and comes back (1001, 1012, 1013).
 * - `service_error`: any other code of the service.
 * - `session_unknown`: the service no longer knows the session (4404); a new one is created.
 * - `network`: the connection broke without a close frame (1006).
 * - `dead_connection`: nothing answered on the connection any more, so the client replaced it.
 * - `frame_too_large`: a received frame was above the limit of 8 MiB, or frames of more than 32 MiB wait for a message
 *   handler that has not settled.
 */
export type CloseCause =
  | 'left'
  | 'ended_by_service'
  | 'service_restart'
  | 'service_error'
  | 'session_unknown'
  | 'network'
  | 'dead_connection'
  | 'frame_too_large'

/** How an open chat was closed, and what follows. */
export interface ChatClosed {
  /** Close code of the WebSocket. */
  code: number
  /** Reason text of the close frame; empty where there is none. */
  reason: string
  /** Why it was closed. Use it instead of the code. */
  cause: CloseCause
  /** Whether the library reconnects. */
  willReconnect: boolean
  /** Wait before the next attempt, in milliseconds, if one follows. */
  retryInMs?: number
  /** What the host can do after a close that it did not request and after which no reconnect follows. */
  remedy?: string
}

/** Why the service, or the network, closed a connection. */
export function closeCauseOf({ code, reason }: SocketCloseEvent): CloseCause {
  if (reason === DEAD_CONNECTION_REASON) return 'dead_connection'
  if (reason === FRAME_TOO_LARGE_REASON || reason === FRAMES_WAIT_REASON) return 'frame_too_large'
  if (code === CLOSE_CODE.NORMAL || code === CLOSE_CODE.NO_STATUS) return 'ended_by_service'
  if (code === CLOSE_CODE.GOING_AWAY || code === SERVICE_RESTART || code === TRY_AGAIN_LATER) return 'service_restart'
  if (code === CLOSE_CODE.SESSION_UNKNOWN) return 'session_unknown'
  return code === CLOSE_CODE.ABNORMAL ? 'network' : 'service_error'
}

const SERVICE_RESTART = 1012
const TRY_AGAIN_LATER = 1013

/** The remedy for a chat that the service has ended. */
export const REOPEN = 'Call connect(). It reopens the session, or creates a new one if the service has ended it.'
