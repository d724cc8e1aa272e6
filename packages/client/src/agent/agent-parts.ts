import type { AgentDetails, DeploymentInfo } from '@aiagent/protocol'
import type { Deployment, LoadedAgent } from '../api/agent-facts.ts'
import type { LanguageChoice } from '../api/language-choice.ts'
import type { LogoutOptions } from '../auth/auth-strategy.ts'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import type { StoredLogin } from '../auth/sign-in/stored-login.ts'
import type { Chat } from '../chat/chat.ts'
import type { ChatSession } from '../chat/chat-session.ts'
import type { ReconnectPolicy } from '../chat/reconnect-policy.ts'
import type { CallState } from '../contact-center/connector/call-state.ts'
import type { ContactCenter } from '../contact-center/contact-center.ts'
import type { ContextStore } from '../conversation/context-store.ts'
import type { Inbox } from '../conversation/inbox.ts'
import type { MessageProcessor } from '../conversation/message-processor.ts'
import type { MessageStreams } from '../conversation/message-streams.ts'
import type { Recovery } from '../conversation/recovery.ts'
import type { Transcript } from '../conversation/transcript.ts'
import type { WorkingState } from '../conversation/working-state.ts'
import type { Masking } from '../masking/masking.ts'
import type { MessageIds } from '../outbox/compose.ts'
import type { MessageOrigin } from '../outbox/message.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Sending } from '../outbox/sending.ts'
import type { StoredQueue } from '../outbox/stored-queue.ts'
import type { SessionResume } from '../resume/session-resume.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import type { LazyPart } from '../util/lazy-part.ts'
import type { AgentLoader } from './agent-loader.ts'
import type { AgentScope } from './agent-scope.ts'
import type { InitializeRetry } from './initialize-retry.ts'
import type { SharedTabs } from './shared-tabs.ts'
import type { UserLoader } from './user-loader.ts'

/*
 * What a host can call without waiting is there from the construction on: the early parts. The code of the late parts is
 * a separate chunk, which loads meanwhile.
 */

/** The call of the contact center: created with the portal selection or the connector. */
export interface CallHolder {
  state: CallState | undefined
}

/** What an agent has from its construction on. */
export interface EarlyParts {
  readonly scope: AgentScope
  readonly loader: AgentLoader
  readonly language: LanguageChoice
  readonly masking: Masking
  readonly context: ContextStore
  /** Settles when the stored context has been read. */
  readonly contextRestored: Awaitable<void>
  readonly origin: MessageOrigin
  readonly ids: MessageIds
  readonly outbox: Outbox
  readonly streams: MessageStreams
  readonly processor: MessageProcessor
  readonly calls: CallHolder
  readonly policy: ReconnectPolicy
  readonly retry: InitializeRetry
  readonly late: Late
}

/** The lifecycle, as the late parts use it. */
export interface ConversationOwner {
  /** Removes everything of the previous user. */
  handleUserChange(): Promise<void>
  /** Drops the messages in both directions, and the transcript. */
  dropConversation(): void
  /** With `connectOnSend`, opens the chat for a message if nothing else does. */
  connectForMessage(): void
}

/** The way to the late parts. */
export interface Late {
  /** Undefined until their code is loaded. */
  readonly parts: LateParts | undefined
  /** Set by the lifecycle. */
  lifecycle: ConversationOwner | undefined
  /**
   * Loads them once, and again after a failure.
   *
   * @throws {SDKError} code MODULE_LOAD_FAILED when their code cannot be loaded; ABORTED when the agent has been destroyed
   */
  load(): Promise<LateParts>
  /** Rejects those who wait for them: they are not built any more. */
  end(reason: unknown): void
}

/** What an agent has once the code is loaded that its connection needs. */
export interface LateParts {
  readonly early: EarlyParts
  readonly authentication: AuthenticationService
  readonly users: UserLoader
  readonly transcript: Transcript
  readonly session: ChatSession
  readonly chat: Chat
  readonly inbox: Inbox
  readonly recovery: Recovery
  readonly sending: Sending
  /** Only with `persistQueue` or `tabs`. */
  readonly storedQueue: LazyPart<StoredQueue> | undefined
  readonly working: WorkingState
  /** Only with `resume`. */
  readonly resume: LazyPart<SessionResume> | undefined
  /** Only with `tabs`. */
  readonly tabs: SharedTabs | undefined
  /** Loads everything that is needed before portals are selected or a session is created. */
  prepare(
    openContactCenter: () => Promise<ContactCenter>,
    signal: AbortSignal,
  ): Promise<{ loaded: LoadedAgent; user: Promise<void> }>
  openDeployment(deployment: DeploymentInfo): Deployment
  fetchAgent(deployment: Deployment, signal: AbortSignal): Promise<AgentDetails>
  /** Removes what an earlier page has stored for a user who signs out before `initialize()`. */
  forgetStored(): Promise<unknown>
  /** Signs out at the provider of a login that an earlier page has stored. */
  endLogin(login: StoredLogin, options: LogoutOptions): Promise<void>
}
