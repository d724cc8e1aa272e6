import type { AgentListItem, ContextValidationIssue, Portal, UserProfile } from '@aiagent/protocol'
import type { AgentPhase } from './agent/agent-status.ts'
import type { ConnectionState } from './chat/connection-state.ts'
import type {
  CallerInfo,
  CallTranscriptUpdate,
  FilterTags,
  UserContext,
} from './contact-center/connector/call-details.ts'
import type {
  AgentMessageResult,
  ChatHistoryResult,
  Escalation,
  HeartbeatResult,
} from './conversation/message-handler.ts'
import type { AnySDKError } from './errors.ts'
import type { InitializedAgent } from './facts.ts'
import type { DeliveryUpdate } from './log/delivery.ts'
import type { TranscriptEntry } from './log/entry.ts'
import type { Message } from './log/message.ts'
import type { RefusedPattern } from './masking/data-masker.ts'
import type { MaskingUnavailableReason } from './masking/masking.ts'

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

/** Where recovered messages come from: the history in the chat, the transcript call, or a replay of the service. */
export type RecoverySource = 'history' | 'rest' | 'resume'

/** Data of a frame that could not be parsed, as the socket delivered it. `data instanceof Message` tells the two apart. */
export type UnreadableFrame = string | ArrayBuffer | ArrayBufferView

/** Every event of `AiAgent` with its payload. Listeners receive it in an {@link AgentEvent}. */
export interface AgentEventPayloadMap {
  /**
   * Initialization is complete; `connect()` may follow. With portals it is emitted again after each portal switch.
   */
  initialized: InitializedAgent
  /**
   * Initialization has started, failed, stopped at a choice or completed, or the user is being signed out, or the agent was
   * destroyed. `status.phase` is the same. Comes before the event of the choice and before `initialized`.
   */
  phaseChanged: AgentPhase
  /** A portal must be chosen: call `selectPortal()`. */
  portalsAvailable: { portals: readonly Portal[] }
  /** An agent of the portal must be chosen: call `selectAgent()`. */
  agentsAvailable: { agents: readonly AgentListItem[] }
  /** A profile must be chosen: call `selectUserProfile()`. */
  profilesAvailable: { profiles: readonly UserProfile[]; selectedPortal: Portal }
  /** The chat is open. Emitted after the token frame (if the agent needs one) and before queued messages are sent. */
  connected: Record<string, never>
  /**
   * An open chat was closed, by either side: why, whether a reconnect follows and when, and what the host can do if none
   * follows.
   */
  closed: ChatClosed
  /** The connection state changed. `retryInMs` comes with RECONNECTING: the wait before the next attempt, in milliseconds. */
  stateChanged: { state: ConnectionState; previousState: ConnectionState; retryInMs?: number }
  /** A failure that rejects no promise of the caller, or that concerns the whole chat. Emitted once per failure. */
  error: { error: AnySDKError }
  /** A frame arrived. `data` is the parsed message, or the raw data of an unreadable frame. */
  message: { data: Message | UnreadableFrame }
  /** The agent sent a message. `recovered` marks one that was sent while the connection was down. */
  agentMessage: Omit<AgentMessageResult, 'timestamp' | 'sessionId' | 'agentId'> & { recovered?: true }
  /**
   * The agent hands the conversation over to a human. Emitted after the `agentMessage` with the escalation; the chat stays
   * open. `handOverAddress(payload.escalationData)` returns the address of a live chat.
   */
  escalation: Escalation
  /** The service reported an error in the chat, which stays open. */
  errorMessage: { message: Message; error: Error }
  /** The agent is working on an answer. */
  heartbeat: Omit<HeartbeatResult, 'timestamp' | 'sessionId' | 'agentId'>
  /**
   * The agent began or ceased to work on an answer, as far as its heartbeats show: it ends with an answer, an error, a close,
   * or 30 s without a heartbeat. `status.working` has the current value.
   */
  workingChanged: { isWorking: boolean }
  /** The service rejected context attributes; the session continues. */
  contextValidation: { message: Message; issues: ContextValidationIssue[] }
  /** Earlier messages of a reopened session. */
  chatHistory: Omit<ChatHistoryResult, 'timestamp' | 'sessionId' | 'agentId'>
  /**
   * The host should supply a new access token with `updateAccessToken()`.
   *
   * `expiring`: the current token expires at `expiresAt` (milliseconds since the epoch). `transport_request`: the chat
   * needs a token now and the library could not obtain one.
   */
  tokenExpiring: { reason: 'expiring' | 'transport_request'; expiresAt?: number }
  /**
   * The token belongs to another user. Everything of the previous user has been removed, and the new token has not been
   * used yet. Call `initialize()` again.
   */
  userChanged: Record<string, never>
  /**
   * The service limits the rate. `rest`: the call `operation`, such as `getAgentDetails`, is repeated in `retryInMs`
   * milliseconds. `chat`: the service refused a message with the code `429-001`; send it again later. `errorMessage` follows.
   */
  rateLimited: { source: 'rest'; operation: string; retryInMs: number } | { source: 'chat'; message: Message }
  /** Masking patterns of the service that cannot be used. The text they match is not masked. */
  maskingPatternsRefused: { patterns: readonly RefusedPattern[] }
  /**
   * The agent masks content and there are no usable rules. Without `masking.required` messages then leave unmasked; with
   * it they are refused. `error` is the failure of the request, if any.
   */
  maskingUnavailable: { reason: MaskingUnavailableReason; error?: unknown }
  /**
   * All queued messages have been written to the socket; `count` of them since the outage began. Whether the service
   * received them is not known: messages written to a connection that is lost right after may be lost with it.
   */
  queueFlushed: { count: number }
  /**
   * The delivery of an outbound message changed; `reason` says why it is `unknown` or `failed`. A message starts as `queued`,
   * which is not reported. `sending` and `sent` are reported together, when the frame has been handed to the socket.
   */
  deliveryUpdate: DeliveryUpdate
  /** The transcript of the call changed. Without `entry` it was cleared. */
  callTranscriptUpdate: CallTranscriptUpdate
  /** The platform reported the caller, or `null` when there is none any more. */
  callerInfoUpdate: { callerInfo: CallerInfo | null }
  /** The platform set the id of the call. The next connection sends it as `externalCallId`. */
  conversationIdUpdate: { conversationId: string | null }
  /** The user context of the call changed. The payload is the merged context. */
  userContextUpdate: { userContext: UserContext }
  /** The filter tags changed. The payload holds the merged tags. */
  filterTagsUpdate: { filterTags: FilterTags }
  /** A message was sent or received that passes the transcript's filters. The payload has the entry's fields and `entry`. */
  transcriptUpdate: TranscriptEntry & { entry: TranscriptEntry }
  /**
   * After a reconnect: what was said in the session while the connection was down was added to the transcript, each message
   * in its place and once. Follows the `transcriptUpdate` of each message and the `agentMessage` of those of the agent,
   * which carry `recovered: true`. Messages of the user are those of another device.
   *
   * `source` is `history` for the history in the chat, `rest` for the call of the previous transcript, and `resume` for a
   * service that repeats what was missed.
   */
  messagesRecovered: { messages: readonly Message[]; source: RecoverySource }
  /**
   * With `resume`: the messages from before the reload were added to the transcript, before those of this page. `entries`
   * are the added ones; no `transcriptUpdate` is emitted for them. Render `getTranscript()` again.
   */
  transcriptRestored: { entries: readonly TranscriptEntry[] }
  /**
   * The transcript had more entries or longer messages than `transcriptConfig.maxEntries` and `maxBytes` allow: so many of
   * the oldest entries were removed. Emitted after the `transcriptUpdate` or `transcriptRestored` that caused it.
   */
  transcriptTrimmed: { removed: number }
  /** The transcript was emptied: by `clearTranscript()`, a restart, another portal, `logout()` or a change of the user. */
  transcriptCleared: Record<string, never>
  /** With `tabs: 'share'`: the user has read everything up to this message of the agent in another tab. */
  conversationRead: { messageId: string }
}

/** Name of an event. */
export type AgentEventType = keyof AgentEventPayloadMap

/** What a listener receives. */
export type AgentEvent<Type extends AgentEventType = AgentEventType> = {
  [Name in Type]: {
    /** Name of the event. Without a type argument it narrows `payload`. */
    type: Name
    /** Milliseconds since the epoch. */
    timestamp: number
    /** The session at that moment, where there was one. */
    sessionId?: string
    /** The agent at that moment. */
    agentId?: string
    /** What happened, by the event's name. */
    payload: AgentEventPayloadMap[Name]
  }
}[Type]

/** Events by name, as listeners receive them. */
export type AgentEvents = { [Type in AgentEventType]: AgentEvent<Type> }

/** Emits the named events. The payload is built only when the event has a listener. */
export type Emit<Name extends AgentEventType> = <Type extends Name>(
  type: Type,
  payload: () => AgentEventPayloadMap[Type],
) => void
