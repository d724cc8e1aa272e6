import type { Chat } from '../chat/chat.ts'
import type { Inbox } from '../conversation/inbox.ts'
import type { Transcript } from '../conversation/transcript.ts'
import { SDKError } from '../errors.ts'
import type { Outbox } from '../outbox/outbox.ts'

/** What belongs to one conversation. */
export interface Conversation {
  readonly chat: Chat
  readonly outbox: Outbox
  readonly inbox: Inbox
  readonly transcript: Transcript
  /** Reports a failure, once for each error. */
  readonly emitError: (error: SDKError) => void
}

/** Drops everything that belongs to the conversation: what waits on either way, and what was said. */
export function dropConversation(conversation: Conversation): void {
  conversation.outbox.clear()
  conversation.inbox.clear()
  conversation.transcript.clear()
}

/**
 * Leaves the conversation for another session: a new one, or the host's.
 *
 * A failure is told by an `error` event as well, since the chat as a whole is concerned.
 */
export async function restartConversation(
  conversation: Conversation,
  sessionId: string | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { chat, emitError } = conversation
  try {
    await chat.restart({ sessionId, signal, reset: () => dropConversation(conversation) })
  } catch (error) {
    if (error instanceof SDKError && error.code !== 'ABORTED') emitError(error)
    throw error
  }
}
