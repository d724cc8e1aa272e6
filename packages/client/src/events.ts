import type {
  AgentDetails,
  AgentListItem,
  ContextValidationIssue,
  Portal,
  PortalDetails,
  UserProfile,
} from '@aiagent/protocol'
import type { ConnectionState } from './chat/connection-state.ts'
import type {
  CallerInfo,
  CallTranscriptUpdate,
  FilterTags,
  UserContext,
} from './contact-center/connector/call-state.ts'
import type { Escalation } from './conversation/escalation.ts'
import type { Message } from './conversation/message.ts'
import type { AgentMessageResult, ChatHistoryResult, HeartbeatResult } from './conversation/message-handler.ts'
import type { TranscriptEntry } from './conversation/transcript.ts'
import type { SDKError } from './errors.ts'
import type { RefusedPattern } from './masking/data-masker.ts'

/** A handler's result as an event carries it: moment, session and agent stand in the envelope already. */
type Told<Result> = Omit<Result, 'timestamp' | 'sessionId' | 'agentId'>

/** Every event of `AiAgent` with its payload. Listeners receive it in an {@link AgentEvent}. */
export interface AgentEventPayloadMap {
  /**
   * Initialization is complete; `connect()` may follow. Where a portal was chosen it comes again after each new choice.
   *
   * `agent` is the agent that was picked, else the configured one's details. `availablePortals` are those that
   * `selectPortal()` can switch to.
   */
  initialized: {
    agent?: AgentDetails | AgentListItem
    portal?: Portal
    portalDetails?: PortalDetails
    profile?: UserProfile
    availableProfiles?: readonly UserProfile[]
    availablePortals?: readonly Portal[]
  }
  /** The person is to choose a portal: answer with `selectPortal()`. */
  portalsAvailable: { portals: readonly Portal[] }
  /** The person is to choose an agent of the portal: answer with `selectAgent()`. */
  agentsAvailable: { agents: readonly AgentListItem[] }
  /** The person is to choose a profile: answer with `selectUserProfile()`. */
  profilesAvailable: { profiles: readonly UserProfile[]; selectedPortal: Portal }
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
  /**
   * The agent hands the conversation over to a human; comes after the `agentMessage` that says so, and the chat stays open.
   *
   * `handOverAddress(payload.escalationData)` gives the address of a live chat.
   */
  escalation: Escalation
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
  /** Masking patterns of the service that cannot be used: what they would hide is not hidden. */
  maskingPatternsRefused: { patterns: readonly RefusedPattern[] }
  /** What waited during an outage has been sent: how many messages, since the outage began. */
  queueFlushed: { count: number }
  /** Something was said in the call at the desk; without `entry` the call's transcript was cleared. */
  callTranscriptUpdate: CallTranscriptUpdate
  /** The desk's platform knows who calls. */
  callerInfoUpdate: { callerInfo: CallerInfo | null }
  /** The desk's platform named the call; the next connection carries the id. */
  conversationIdUpdate: { conversationId: string | null }
  /** Facts about the call, merged. */
  userContextUpdate: { userContext: UserContext }
  /** Tags that answers are filtered by, merged. */
  filterTagsUpdate: { filterTags: FilterTags }
  /** A message was sent or received that passes the transcript's filters; the entry's fields, and the entry itself. */
  transcriptUpdate: TranscriptEntry & { entry: TranscriptEntry }
  /**
   * With `resume`: what was said before the reload stands in the transcript now, ahead of what this page has said. The
   * entries that came in; show `getTranscript()` anew. There is no `transcriptUpdate` for them.
   */
  transcriptRestored: { entries: readonly TranscriptEntry[] }
}

/** Name of an event. */
export type AgentEventType = keyof AgentEventPayloadMap

/** What a listener receives. */
export interface AgentEvent<Type extends AgentEventType = AgentEventType> {
  /** Name of the event. */
  type: Type
  /** Milliseconds since the epoch. */
  timestamp: number
  /** The session at that moment, where there was one. */
  sessionId?: string
  /** The agent at that moment. */
  agentId?: string
  /** What happened, by the event's name. */
  payload: AgentEventPayloadMap[Type]
}

/** Events by name, as listeners receive them. */
export type AgentEvents = { [Type in AgentEventType]: AgentEvent<Type> }
