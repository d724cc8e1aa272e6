import type { Chat } from '../chat/chat.ts'
import type { Inbox } from '../conversation/inbox.ts'
import type { OutgoingMessages } from '../conversation/outgoing-messages.ts'
import type { QuestionLine } from '../conversation/question-line.ts'
import type { Transcript } from '../conversation/transcript.ts'
import { MessageError, SDKError } from '../errors.ts'

/** What holds messages on their way out, and where their loss is told. */
export interface Waiting {
  readonly chat: Chat
  readonly outgoing: OutgoingMessages
  readonly questions: QuestionLine
  /** Tells of a failure, once however often it is given. */
  readonly emitError: (error: SDKError) => void
}

/** What belongs to one conversation. */
export interface Conversation extends Waiting {
  readonly inbox: Inbox
  readonly transcript: Transcript
}

/** Drops every message that waits, and says so for each (protocol: nothing is lost in silence). */
export function dropWaiting({ chat, outgoing, questions, emitError }: Waiting): void {
  // First those whose turn has not come: dropping the one before them would give them theirs.
  questions.clear()
  for (const messageId of [...chat.clearQueue().map(entry => entry.id), ...outgoing.clear()])
    emitError(new MessageError('The message was dropped before it was sent.', 'cleared', { messageId }))
}

/** Drops everything that belongs to the conversation: what waits on either way, and what was said. */
export function dropConversation(conversation: Conversation): void {
  dropWaiting(conversation)
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
