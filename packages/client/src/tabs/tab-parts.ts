import type { AuthenticationService } from '../auth/authentication-service.ts'
import type { ChatSession } from '../chat/chat-session.ts'
import type { Connection } from '../chat/connection.ts'
import type { ContextStore } from '../chat/context-store.ts'
import type { Liveness } from '../chat/liveness.ts'
import type { Recovery } from '../conversation/recovery.ts'
import type { MessageLog } from '../log/message-log.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { OptionalFeature } from '../platform/feature.ts'
import type { SessionResume } from '../resume/session-resume.ts'
import type { AgentScope } from '../scope.ts'

/** The parts of an agent that sharing its conversation uses. */
export interface TabParts {
  readonly scope: AgentScope<'conversationRead'>
  readonly session: ChatSession
  readonly log: MessageLog
  readonly context: ContextStore
  readonly connection: Connection
  readonly outbox: Outbox
  readonly authentication: AuthenticationService
  readonly resume: OptionalFeature<SessionResume> | undefined
  readonly recovery: Recovery
  readonly liveness: Liveness
  /** Undefined until the agent is constructed. Removes everything of the user, and emits `userChanged`. */
  readonly lifecycle: { handleUserChange(): Promise<void> } | undefined
  /** Drops the messages in both directions, and the transcript. */
  dropConversation(): void
}
