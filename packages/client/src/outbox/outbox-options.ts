import type { ConnectionState } from '../chat/connection-state.ts'
import { MessageError, type SDKError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { Clock } from '../platform/clock.ts'
import { stateOf } from './delivery.ts'
import type { DeliveryUpdate } from './delivery-state.ts'
import type { MessageOrigin } from './message.ts'
import type { OutboxEntry } from './outbox-entry.ts'

/** Whether messages of unknown fate are sent again by themselves. */
export type DeliveryMode = 'at-most-once' | 'at-least-once'

/** What the outbox uses of its agent, and reports to it. */
export interface OutboxOptions {
  readonly clock: Clock
  /** Most entries that may wait. */
  readonly maxQueueSize: number
  /** How long before its last inbound frame a broken connection may have lost messages, in milliseconds. */
  readonly doubtAfterMs: number
  readonly delivery: DeliveryMode
  readonly origin: MessageOrigin
  readonly logger: Pick<Logger, 'warn'>
  newId(): string
  /** Whether the agent is known, so that messages can be addressed and masked. */
  isReady(): boolean
  /** Whether the service confirms each message by its id. */
  hasReceipts(): boolean
  /** Whether the service repeats what was missed after a reconnect, in order. */
  hasResume(): boolean
  /** Masks the text of the user. @throws {MessageError} reason `masking_unavailable` */
  mask(content: string, messageId: string): string
  /** All queued messages have been written to the socket; `count` of them since the queue was last empty. */
  flushed(count: number): void
  /** A message was dropped. A question reports it by its promise instead. */
  failed(error: SDKError): void
  /** The delivery of a message has changed. */
  updated(update: DeliveryUpdate): void
}

/** What an entry waits for, as half a sentence for the developer; undefined for one that has been sent. */
export function whyWaiting(entry: OutboxEntry, isReady: boolean, chatState: ConnectionState): string | undefined {
  if (stateOf(entry) !== 'queued') return undefined
  if (!isReady) return 'the agent is not initialized: await initialize() and make the selection that it asks for'
  if (chatState === 'IDLE' || chatState === 'CLOSED') return 'the chat is not connected: call connect()'
  if (chatState !== 'CONNECTED') return `the chat is ${chatState}`
  return entry.state === 'awaiting-turn'
    ? 'an earlier question has no answer yet'
    : 'the chat waits for an access token'
}

/** The error for a message that finds no place in the queue. */
export function queueFull(messageId: string, maxQueueSize: number): MessageError {
  return new MessageError(
    `The message was refused: ${maxQueueSize} messages are waiting already. Connect, or raise maxQueueSize.`,
    'queue_full',
    { messageId },
  )
}
