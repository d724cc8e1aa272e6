import { composeMessage, type SendOptions } from '../log/compose.ts'
import type { DeliveryOutcome, DeliveryReason } from '../log/delivery-state.ts'
import type { Message, MessageObject, MessageOrigin } from '../log/message.ts'
import type { AgentScope } from '../scope.ts'
import type { Linked } from '../util/linked-list.ts'

/**
 * State of an entry. The first three are `queued` for the host: waiting for the turn of a question, for the agent, or for
 * the connection.
 */
export type OutboxEntryState = 'awaiting-turn' | 'held' | 'queued' | 'sent' | DeliveryOutcome

/** Where the answer to a question goes. */
export interface Reply {
  resolve(answer: Message): void
  reject(error: unknown): void
}

/** One message on its way out. The ledger has it in one of its lists. */
export interface OutboxEntry extends Linked<OutboxEntry> {
  /** The sender's id of the message. */
  readonly id: string
  /** Time of acceptance, in milliseconds since the epoch. */
  readonly timestamp: number
  /** Makes the text of its frame again, also after a change of the caller's object. */
  message: Message
  /** Whether the message is masked: once the entry is queued. */
  isMasked?: boolean
  state: OutboxEntryState
  /** Why the message is `unknown` or `failed`. */
  reason?: DeliveryReason | undefined
  /** Only entries of `ask()` have one. */
  reply?: Reply | undefined
  /** The last write; absent until the first one. */
  written?: WrittenAs | undefined
  /** Whether `sending` and `sent` still have to be reported for the last write. */
  isUnreported?: boolean
  /** The connection broke so soon after the last write that the frame may have been lost. */
  isInDoubt?: boolean
  /** Answered in a session that goes on without this page: it stays `sent` there. */
  isAnswered?: boolean
  /** Those who wait for the outcome. */
  waiting?: ((outcome: DeliveryOutcome) => void)[] | undefined
}

/** An entry of `ask()`. */
export interface Question extends OutboxEntry {
  reply: Reply
}

/** Where and when a frame was written. */
export interface WrittenAs {
  /** Position in the order of all first writes. */
  readonly order: number
  /** On the monotonic clock. */
  readonly at: number
  /** Empty for another session of a previous page. */
  readonly sessionId: string | undefined
  /** Of a message of a previous page: the fingerprint of its session. */
  readonly sessionFingerprint?: string | undefined
  /** Number of the connection. */
  readonly connection: number
}

/**
 * The entry for an argument of `send()`.
 *
 * @param origin agent and session of the message; undefined while they are not known
 * @throws {MessageError} reason `invalid`
 */
export function createEntry(
  data: string | MessageObject | Message,
  options: SendOptions,
  scope: AgentScope<never>,
  origin: MessageOrigin | undefined,
): OutboxEntry {
  const { clock } = scope.environment
  const message = composeMessage(data, options, scope, origin)
  return {
    id: message.messageId as string,
    // A text has just been given this time; reading the clock again is a tenth of a send.
    timestamp: (typeof data === 'string' && message.timestamp) || clock.now(),
    message,
    isMasked: false,
    state: 'held',
    // A field that is added later takes three times the memory.
    reason: undefined,
    written: undefined,
    isUnreported: false,
    isInDoubt: false,
    waiting: undefined,
    list: undefined,
    previous: undefined,
    next: undefined,
  }
}
