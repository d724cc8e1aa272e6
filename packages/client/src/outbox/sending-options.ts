import type { Chat } from '../chat/chat.ts'
import type { Page } from '../platform/page.ts'
import type { LazyPart } from '../util/lazy-part.ts'
import type { ShownMessages } from './evidence.ts'
import type { Message } from './message.ts'
import type { QuestionGate } from './question-gate.ts'
import type { StoredQueue } from './stored-queue.ts'

/** What the outbox needs to send. */
export interface SendingOptions {
  readonly page?: Page | undefined
  readonly chat: Pick<Chat, 'state' | 'setMessageSink' | 'handleReceipt'>
  /** Whether this page created the session, so that nothing was said in it before. */
  isOwnSession(): boolean
  /** Passes the turn of questions between tabs that share the conversation. */
  readonly questionGate?: QuestionGate | undefined
  /** The messages of the conversation. Only with a store. */
  readonly transcript?: ShownMessages | undefined
  /** Stores the queue for the next page. */
  readonly store?: LazyPart<StoredQueue> | undefined
  /**
   * A message has been accepted: written, or queued for the connection. `size` is the length of its frame's text;
   * `isAgain` marks one that was accepted before.
   */
  accepted(message: Message, size: number, isAgain?: boolean): void
  /** Messages of an earlier page were queued after the agent was ready. */
  found?(): void
}
