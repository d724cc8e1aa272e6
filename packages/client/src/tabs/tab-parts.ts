import type { Capability } from '@aiagent/protocol'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import type { ChatSession } from '../chat/chat-session.ts'
import type { ContextStore } from '../chat/context-store.ts'
import type { Liveness } from '../chat/liveness.ts'
import type { Recovery } from '../conversation/recovery.ts'
import type { Emit } from '../events.ts'
import type { ReceivedIn } from '../log/message.ts'
import type { Transcript } from '../log/transcript.ts'
import type { Logger } from '../logger.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Environment } from '../platform/environment.ts'

/** What sharing a conversation uses of its agent. Functions and parts of the main chunk, which this one does not import. */
export interface TabParts {
  readonly scope: {
    readonly environment: Environment
    readonly logger: Logger
    readonly config: {
      readonly id: string
      readonly endpoint: string
      readonly sessionId: string | undefined
      readonly doubtAfterMs: number
    }
    readonly emit: Emit<'deliveryUpdate' | 'conversationRead'>
  }
  readonly session: Pick<ChatSession, 'id' | 'join' | 'forget'>
  readonly transcript: Pick<Transcript, 'get' | 'record' | 'missing'>
  readonly context: Pick<ContextStore, 'get' | 'merge' | 'remove'>
  readonly outbox: Pick<
    Outbox,
    'delivery' | 'size' | 'restore' | 'leaveStore' | 'repeatAdopted' | 'ledger' | 'handleSessionTaken'
  >
  readonly authentication: Pick<AuthenticationService, 'getCachedToken' | 'updateToken' | 'watchExpiry' | 'forgetUser'>
  readonly recovery: Pick<Recovery, 'handleLost'>
  readonly liveness: Pick<Liveness, 'handleLost'>
  readonly lifecycle: {
    /** Drops the messages in both directions, and the transcript. */
    dropConversation(): void
    /** Removes everything of the user, and emits `userChanged`. */
    handleUserChange(): Promise<void>
  }
  /** Origin of a received message. */
  readonly origin: ReceivedIn
  /** Loads what was said in a session. */
  loadTranscript(sessionId: string, signal: AbortSignal): Promise<readonly unknown[]>
  hasCapability(name: Capability): boolean
  /** The address of the chat of a session. */
  address(sessionId: string, lastSeq: number | undefined): string
}
