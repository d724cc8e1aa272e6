import type { Recovery } from '../conversation/recovery.ts'
import type { Outbox, OutboxParts } from '../outbox/outbox.ts'
import type { OptionalFeature } from '../platform/feature.ts'
import type { SessionResume } from '../resume/session-resume.ts'
import type { AgentScope } from '../scope.ts'

/** The parts of an agent that sharing its conversation uses. */
export interface TabParts extends Omit<OutboxParts, 'masking' | 'chat' | 'queue'> {
  readonly scope: AgentScope<'conversationRead'>
  readonly outbox: Outbox
  readonly resume: OptionalFeature<SessionResume> | undefined
  readonly recovery: Recovery
  /** Removes everything of the user, and emits `userChanged`. */
  readonly handleUserChange: () => Promise<void>
  /** Drops the messages in both directions, and the transcript. */
  dropConversation(): void
}
