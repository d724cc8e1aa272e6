import { fnv1a } from '../util/text.ts'
import { Opaque } from '../util/values.ts'
import { composeMessage, type Message, type MessageObject, type MessageOrigin, type SendOptions } from './message.ts'
import { type Trace, traceOf, wordsOf } from './reconcile.ts'

/*
 * What became of an outbound message, for the host.
 *
 *   queued ──► sending ──► sent ──► acknowledged   the service has it: its receipt, or its history of the session
 *     │  ▲                  │ ▲  └─► unknown       no evidence, and none will come; late evidence leads to acknowledged
 *     │  └──── retry() ─────┼─┘        │
 *     │                     └─ sent again by itself, with receipts or `at-least-once`
 *     └──► failed, cancelled           the service cannot have it
 */

/** Whether messages of unknown fate are sent again by themselves. */
export type DeliveryMode = 'at-most-once' | 'at-least-once'

/** How the delivery of a message can end. */
export type DeliveryOutcome = 'acknowledged' | 'unknown' | 'failed' | 'cancelled'

/** State of the delivery of a message. */
export type DeliveryState = 'queued' | 'sending' | 'sent' | DeliveryOutcome

/**
 * Why a message is `unknown` or `failed`.
 *
 * - `connection_lost`: the connection broke soon after the message was written, and no history shows it.
 * - `session_ended`: the chat or its session ended, and nothing has shown the message.
 * - `refused`: a service with receipts did not accept the message; the `errorMessage` that follows says why.
 * - `page_ended`: with `persistQueue`: the previous page ended while it sent the message.
 * - `limit`: too many messages were sent without evidence; this one is no longer observed.
 * - `cleared`: `clearQueue()`, a restart or a portal switch dropped it.
 * - `signed_out`: the user has changed or was signed out.
 * - `destroyed`: the agent was destroyed.
 * - `closed`: a question of `ask()` that was never sent, when the chat was closed.
 * - `encoding_failed`, `masking_unavailable`, `queue_full`: as for `MessageError`.
 */
export type DeliveryReason =
  | 'connection_lost'
  | 'session_ended'
  | 'refused'
  | 'page_ended'
  | 'limit'
  | 'cleared'
  | 'signed_out'
  | 'destroyed'
  | 'closed'
  | 'encoding_failed'
  | 'queue_full'
  | 'masking_unavailable'

/** A change of the delivery of a message. */
export interface DeliveryUpdate {
  /** The message's id, as `send()` returned it. */
  readonly id: string
  /** State from now on. */
  readonly state: DeliveryState
  /** State before the change. */
  readonly previousState: DeliveryState
  /** Only for `unknown` and `failed`. */
  readonly reason?: DeliveryReason
}

/** Where the answer to a question goes. */
export interface Reply {
  resolve(answer: Message): void
  reject(error: unknown): void
}

/** One outbound message. The log has it in one of its lists. */
export interface DeliveryRecord {
  /** The sender's id of the message. */
  readonly id: string
  /** Time of acceptance, in milliseconds since the epoch. */
  readonly timestamp: number
  /** Makes the text of its frame again, also after a change of the caller's object; after {@link forgetText} without its text. */
  message: Message
  /** What is left of the message, once its text is gone. */
  trace?: Trace | undefined
  /** Only of a message that another tab has sent. */
  elsewhere?: Elsewhere | undefined
  /** Whether the transcript has had the message since it was last cleared. */
  isShown?: boolean
  /** Whether the host has its {@link Delivery}, which shows the text. */
  isTaken?: boolean
  /** Whether the message is masked: once the entry is queued. */
  isMasked?: boolean
  /** What it waits for while it is `queued`, the list says. */
  state: Exclude<DeliveryState, 'sending'>
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
  /** The list that it is in, which writes this and the two fields that follow. */
  list?: RecordList | undefined
  /** Its neighbours there. */
  previous?: DeliveryRecord | undefined
  next?: DeliveryRecord | undefined
}

/** What is known of a message that another tab has sent. */
interface Elsewhere {
  /** The tab that has sent it. */
  owner: string
  /** Whether another tab may send it when that one has ended: not a question, nor what left the conversation with its tab. */
  mayBeSent: boolean
  /** When it was sent, in milliseconds since the epoch; infinite for an earlier conversation. */
  sentAt: number
  /** Whether a history of the session has shown it since. */
  isInHistory: boolean
  /** Whether its tab has ended, and nothing is in doubt. */
  isLeft: boolean
}

/** An entry of `ask()`. */
export interface Question extends DeliveryRecord {
  reply: Reply
}

/** Where and when a frame was written. */
export interface WrittenAs {
  /** Number of the first write, in the order of all writes. */
  readonly order: number
  /** Number of this write; -1 for one of another page. */
  readonly number: number
  /** On the monotonic clock. */
  readonly at: number
  /** The opening of the session for the connection; undefined where its session was left before. */
  readonly opening: { readonly sessionId: string } | 'another page' | undefined
  /** Of a message of another page: the fingerprint of its session. */
  readonly sessionFingerprint?: string | undefined
}

/**
 * The entry for an argument of `send()`.
 *
 * @param origin agent and session of the message; undefined while they are not known
 * @throws {MessageError} reason `invalid`
 */
export function createRecord(
  data: string | MessageObject | Message,
  options: SendOptions,
  scope: Parameters<typeof composeMessage>[2],
  origin: MessageOrigin | undefined,
): DeliveryRecord {
  const { clock } = scope.environment
  const message = composeMessage(data, options, scope, origin)
  return {
    id: message.messageId as string,
    // A text has just been given this time; reading the clock again is a tenth of a send.
    timestamp: (typeof data === 'string' && message.timestamp) || clock.now(),
    message,
    isMasked: false,
    state: 'queued',
    // A field that is added later takes three times the memory.
    trace: undefined,
    isShown: false,
    isTaken: false,
    reply: undefined,
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

/**
 * Entries in the order of their addition, each of them in one list at most.
 *
 * Not a `Set`: finding the first item of a set takes as long as the number of items that were deleted before it.
 */
export class RecordList {
  /** The entry that was added first. */
  first: DeliveryRecord | undefined
  #last: DeliveryRecord | undefined
  /** Number of entries. */
  size = 0

  /** Appends an entry, and removes it from the list that it was in. */
  add(entry: DeliveryRecord): void {
    entry.list?.delete(entry)
    entry.list = this
    entry.previous = this.#last
    if (this.#last) this.#last.next = entry
    else this.first = entry
    this.#last = entry
    this.size++
  }

  /** Removes an entry of this list. */
  delete(entry: DeliveryRecord): void {
    const { previous, next } = entry
    if (previous) previous.next = next
    else this.first = next
    if (next) next.previous = previous
    else this.#last = previous
    entry.list = entry.previous = entry.next = undefined
    this.size--
  }

  /** The entries in order, for a copy: none may be added or deleted meanwhile. */
  *[Symbol.iterator](): Generator<DeliveryRecord, void> {
    for (let entry = this.first; entry; entry = entry.next) yield entry
  }
}

/** What a {@link Delivery} can do. */
export interface DeliveryActions {
  retry(entry: DeliveryRecord): boolean
  cancel(entry: DeliveryRecord): boolean
}

/** The delivery of one message: `agent.delivery(id)`. */
export class Delivery extends Opaque {
  readonly #entry: DeliveryRecord
  readonly #actions: DeliveryActions

  /** @internal */
  constructor(entry: DeliveryRecord, actions: DeliveryActions) {
    super()
    entry.isTaken = true
    this.#entry = entry
    this.#actions = actions
  }

  /** The message's id. */
  get id(): string {
    return this.#entry.id
  }

  /**
   * The message, masked once it was accepted. Without content and data where it can be sent no more and was in no transcript when
   * the delivery was asked for.
   */
  get message(): Message {
    return this.#entry.message
  }

  /** The current state. */
  get state(): DeliveryState {
    return stateOf(this.#entry)
  }

  /** Why the message is `unknown` or `failed`. */
  get reason(): DeliveryReason | undefined {
    return this.#entry.reason
  }

  /**
   * Resolves when the delivery is settled, and never rejects. Every delivery settles: at the latest when the session ends,
   * at sign-out, or with `destroy()`. After {@link retry} read it again.
   */
  get outcome(): Promise<DeliveryOutcome> {
    const entry = this.#entry
    return new Promise(resolve => {
      if (isSettled(entry.state)) resolve(entry.state)
      else (entry.waiting ??= []).push(resolve)
    })
  }

  /**
   * Sends an `unknown` or `failed` message again, under the same id and masked as before, behind what waits already. The
   * service may then have an `unknown` message twice, unless it has announced receipts.
   *
   * @returns whether the message is sent again; false in other states, after a sign-out, after `destroy()`, and where its text is
   * not kept any more: it was answered long ago, or another 1,000 messages are `unknown` since, and the transcript does not have it
   * @throws {MessageError} reasons `queue_full` and `masking_unavailable`, as `send()`
   */
  retry(): boolean {
    return this.#actions.retry(this.#entry)
  }

  /**
   * Takes a queued message out of the queue. The promise of an `ask()` rejects with code ABORTED.
   *
   * @returns whether it was still queued
   */
  cancel(): boolean {
    return this.#actions.cancel(this.#entry)
  }
}

/** Lets the text of a message go that is not written again, unless somebody shows it or its fate is still to be found out. */
export function forgetText(record: DeliveryRecord): void {
  const { message, isShown, isTaken, isInDoubt, trace } = record
  if (isShown || isTaken || isInDoubt || trace) return
  record.trace = traceOf(message)
  record.message = message.clone({ content: undefined, messageData: undefined })
}

/** Whether a message has the author and the text of another one. */
export function hasWordsOf({ message, trace }: DeliveryRecord, other: Message): boolean {
  return (trace?.words ?? wordsOf(message)) === wordsOf(other)
}

/** Whether the state is final without a further action. */
export function isSettled(state: DeliveryRecord['state'] | DeliveryState): state is DeliveryOutcome {
  return state === 'acknowledged' || state === 'unknown' || state === 'failed' || state === 'cancelled'
}

/** Whether an entry was written in a session, as far as is known. */
export function isWrittenIn({ written }: DeliveryRecord, sessionId: string | undefined): boolean {
  if (!written || sessionId === undefined) return false
  const { opening, sessionFingerprint } = written
  return typeof opening === 'object' ? opening.sessionId === sessionId : sessionFingerprint === fnv1a(sessionId)
}

/** The state for the host. */
export function stateOf({ state, isUnreported }: DeliveryRecord): DeliveryRecord['state'] {
  return isUnreported ? 'sent' : state
}
