import type { ChatClosed } from './chat/close-cause.ts'
import type { SharedConversation } from './chat/shared-conversation.ts'
import type { ResolvedConfig } from './check-config.ts'
import type { SDKError } from './errors.ts'
import type { AgentEvents, AgentEventType, Emit } from './events.ts'
import type { AgentFacts } from './facts.ts'
import type { KnownInitParams } from './init-params.ts'
import type { Message } from './log/message.ts'
import type { Logger } from './logger.ts'
import type { Environment } from './platform/environment.ts'
import type { EventEmitter } from './util/event-emitter.ts'
import type { UserStateRegistry } from './util/user-state.ts'

/** What several parts of an agent write and read. */
export interface AgentStatus {
  /** Whether messages can be addressed and masked. */
  isReady: boolean
  /** Whether the user is being signed out. */
  isLeaving: boolean
  /** How the last open chat was closed, until the next one opens. */
  closed?: ChatClosed | undefined
  /** Why the last attempt failed, until one succeeds. */
  failure?: SDKError | undefined
  /** When the next attempt follows, on the monotonic clock. */
  retryAt?: number | undefined
  /** Whether this run of `initialize()` may ask the user to sign in. */
  isInteractive?: boolean
  /** Number of the next attempt of `initialize()`. */
  attempt?: number | undefined
}

/** What every part of one agent is constructed with. A part names the events that it emits. */
export interface AgentScope<Emitted extends AgentEventType = AgentEventType> {
  readonly config: ResolvedConfig
  /** The known parameters of `config.initParams`. */
  readonly params: KnownInitParams
  readonly environment: Environment
  readonly logger: Logger
  readonly facts: AgentFacts
  readonly status: AgentStatus
  readonly events: EventEmitter<AgentEvents>
  readonly emit: Emit<Emitted>
  /** Emits `error` and logs a warning, once for each error object. */
  readonly reportError: (error: SDKError) => void
  /** Emits `rateLimited`, for a REST call or for a message, and logs a warning about a call. */
  readonly reportRateLimit: (limit: { operation: string; retryInMs: number } | { message: Message }) => void
  /** Logs a warning once. */
  readonly warnOnce: (warning: string) => void
  /** Where a part registers what belongs to the signed-in user. */
  readonly userState: UserStateRegistry
  /** A new id of a message or an entry. */
  readonly newId: () => string
  /** The conversation that the tabs of the page's origin share, with `tabs: 'share'`, once its code has loaded. */
  shared?: SharedConversation | undefined
}
