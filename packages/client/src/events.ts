import type { AgentDetails, ContextValidationIssue } from '@aiagent/protocol'
import type { ConnectionState } from './chat/connection-state.ts'
import type { Message } from './conversation/message.ts'
import type { AgentMessageResult, ChatHistoryResult, HeartbeatResult } from './conversation/message-handler.ts'
import type { TranscriptEntry } from './conversation/transcript.ts'
import type { SDKError } from './errors.ts'

/** A handler's result as an event carries it: moment, session and agent stand in the envelope already. */
type Told<Result> = Omit<Result, 'timestamp' | 'sessionId' | 'agentId'>

/** Every event of `AiAgent` with its payload. Listeners receive it in an {@link AgentEvent}. */
export interface AgentEventPayloadMap {
  /** Initialization is complete; `connect()` may follow. */
  initialized: { agent?: AgentDetails }
  /** The chat is open: after the token frame where one is needed, before waiting messages are sent. */
  connected: Record<string, never>
  /** An open chat was closed, by either side. */
  closed: { code: number; reason: string; willReconnect: boolean }
  /** The connection state changed. With RECONNECTING comes the wait before the next attempt, in milliseconds. */
  stateChanged: { state: ConnectionState; previousState: ConnectionState; retryInMs?: number }
  /** Something failed that no promise of the caller reports, or that concerns the chat as a whole; one per failure. */
  error: { error: SDKError }
  /** A frame arrived: read, or as it was where it cannot be read. */
  message: { data: Message | unknown }
  /** The agent said something. */
  agentMessage: Told<AgentMessageResult>
  /** The service reports an error within the chat, which stays open. */
  errorMessage: { message: Message; error: Error }
  /** The agent is working on an answer. */
  heartbeat: Told<HeartbeatResult>
  /** The service refused attributes of the context; the session goes on. */
  contextValidation: { message: Message; issues: ContextValidationIssue[] }
  /** Earlier messages of a session that was opened again. */
  chatHistory: Told<ChatHistoryResult>
  /**
   * A new access token is needed: give it with `updateAccessToken()`.
   *
   * `expiring`: the present one expires at `expiresAt` (milliseconds since the epoch). `transport_request`: the chat
   * needs one now and none could be had.
   */
  tokenExpiring: { reason: 'expiring' | 'transport_request'; expiresAt?: number }
  /** What waited during an outage has been sent: how many messages, since the outage began. */
  queueFlushed: { count: number }
  /** A message was sent or received that passes the transcript's filters; the entry's fields, and the entry itself. */
  transcriptUpdate: TranscriptEntry & { entry: TranscriptEntry }
}

/** Name of an event. */
export type AgentEventType = keyof AgentEventPayloadMap

/** What a listener receives. */
export interface AgentEvent<Type extends AgentEventType = AgentEventType> {
  type: Type
  /** Milliseconds since the epoch. */
  timestamp: number
  sessionId?: string
  agentId?: string
  payload: AgentEventPayloadMap[Type]
}

/** Events by name, as listeners receive them. */
export type AgentEvents = { [Type in AgentEventType]: AgentEvent<Type> }
