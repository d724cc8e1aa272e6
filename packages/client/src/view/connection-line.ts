import type { AgentPhase, ConnectionState } from '../index.ts'
import { type ConversationRemedy, remedyOf } from './conversation-error.ts'

/**
 * State of the conversation's connection.
 *
 * - `idle`: nothing has started, or the agent was left: `start()`
 * - `initializing`: `initialize()` runs
 * - `choosing`: portal, agent or profile must be selected: see `gate`
 * - `connecting`, `connected`
 * - `reconnecting`: the next attempt follows at `retryAt`
 * - `closed`: the chat has ended: `retry()` connects again
 * - `failed`: `initialize()` failed; `remedy` says what helps
 */
export type ConversationConnectionState =
  | 'idle'
  | 'initializing'
  | 'choosing'
  | 'connecting'
  | 'connected'
  | 'reconnecting'
  | 'closed'
  | 'failed'

/** What to say about the connection. */
export interface ConversationConnection {
  readonly state: ConversationConnectionState
  /** When the next attempt follows, in milliseconds since the epoch; only while `reconnecting`. */
  readonly retryAt: number | undefined
  /** Whether the device has no network, for all it knows. */
  readonly isOffline: boolean
  /** Whether a message was written to an open connection and nothing has arrived for 15 s. */
  readonly isSilent: boolean
  /** What helps in this state. */
  readonly remedy: ConversationRemedy
}

/** What the line is made of. */
export interface ConnectionFacts {
  readonly phase: AgentPhase
  readonly state: ConnectionState
  readonly retryAt: number | undefined
  readonly isOffline: boolean
  readonly isSilent: boolean
}

export function connectionLine({
  phase,
  state: socket,
  retryAt,
  isOffline,
  isSilent,
}: ConnectionFacts): ConversationConnection {
  const state = stateOf(phase, socket)
  const isWaiting = state === 'reconnecting' || state === 'connecting' || state === 'initializing'
  const remedy =
    state === 'failed' && phase.at === 'idle'
      ? remedyOf(phase.error)
      : state === 'closed'
        ? 'retry'
        : isWaiting
          ? 'wait'
          : 'none'
  return {
    state,
    retryAt: state === 'reconnecting' ? retryAt : undefined,
    isOffline,
    isSilent: isSilent && state === 'connected',
    remedy,
  }
}

function stateOf(phase: AgentPhase, socket: ConnectionState): ConversationConnectionState {
  // With `retryInitialize` it is the initialization that waits.
  const isReconnecting = socket === 'RECONNECTING'
  switch (phase.at) {
    case 'idle':
      return 'error' in phase ? 'failed' : 'idle'
    case 'preparing':
      return isReconnecting ? 'reconnecting' : 'initializing'
    case 'choosing':
      return 'choosing'
    case 'leaving':
      return 'idle'
    case 'destroyed':
      return 'closed'
    case 'ready':
      return socket.toLowerCase() as Lowercase<ConnectionState>
    default:
      return phase satisfies never
  }
}
