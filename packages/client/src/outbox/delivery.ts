import type { Opening } from '../chat/chat-session.ts'
import type { DeliveryOutcome, DeliveryReason, DeliveryState } from '../log/delivery-state.ts'
import {
  composeMessage,
  type Message,
  type MessageObject,
  type MessageOrigin,
  type SendOptions,
} from '../log/message.ts'
import type { AgentScope } from '../scope.ts'
import { fnv1a } from '../util/fnv1a.ts'

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
export interface OutboxEntry {
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
  /** The list that it is in, which writes this and the two fields that follow. */
  list?: EntryList | undefined
  /** Its neighbours there. */
  previous?: OutboxEntry | undefined
  next?: OutboxEntry | undefined
}

/** An entry of `ask()`. */
export interface Question extends OutboxEntry {
  reply: Reply
}

/** Where and when a frame was written. */
export interface WrittenAs {
  /** Number of the first write, in the order of all writes. */
  readonly order: number
  /** Number of this write; -1 for one of a previous page. */
  readonly number: number
  /** On the monotonic clock. */
  readonly at: number
  /** The connection; undefined where its session was left before. */
  readonly opening: Opening | 'previous page' | undefined
  /** Of a message of a previous page: the fingerprint of its session. */
  readonly sessionFingerprint?: string | undefined
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

/**
 * Entries in the order of their addition, each of them in one list at most.
 *
 * Not a `Set`: finding the first item of a set takes as long as the number of items that were deleted before it.
 */
export class EntryList {
  /** The entry that was added first. */
  first: OutboxEntry | undefined
  #last: OutboxEntry | undefined
  /** Number of entries. */
  size = 0

  /** Appends an entry, and removes it from the list that it was in. */
  add(entry: OutboxEntry): void {
    entry.list?.delete(entry)
    entry.list = this
    entry.previous = this.#last
    if (this.#last) this.#last.next = entry
    else this.first = entry
    this.#last = entry
    this.size++
  }

  /** Removes an entry of this list. */
  delete(entry: OutboxEntry): void {
    const { previous, next } = entry
    if (previous) previous.next = next
    else this.first = next
    if (next) next.previous = previous
    else this.#last = previous
    entry.list = entry.previous = entry.next = undefined
    this.size--
  }

  /** The entries in order, for a copy: none may be added or deleted meanwhile. */
  *[Symbol.iterator](): Generator<OutboxEntry, void> {
    for (let entry = this.first; entry; entry = entry.next) yield entry
  }
}

/** What a {@link Delivery} can do. */
export interface DeliveryActions {
  retry(entry: OutboxEntry): boolean
  cancel(entry: OutboxEntry): boolean
}

/** The delivery of one message: `agent.delivery(id)`. */
export class Delivery {
  readonly #entry: OutboxEntry
  readonly #actions: DeliveryActions

  /** @internal */
  constructor(entry: OutboxEntry, actions: DeliveryActions) {
    this.#entry = entry
    this.#actions = actions
  }

  /** The message's id. */
  get id(): string {
    return this.#entry.id
  }

  /** The message, masked once it was accepted. */
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
   * @returns whether the message is sent again; false in other states, after a sign-out, and after `destroy()`
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

/** Whether the state is final without a further action. */
export function isSettled(state: OutboxEntry['state'] | DeliveryState): state is DeliveryOutcome {
  return state === 'acknowledged' || state === 'unknown' || state === 'failed' || state === 'cancelled'
}

/** Whether an entry was written in a session, as far as is known. */
export function isWrittenIn({ written }: OutboxEntry, sessionId: string | undefined): boolean {
  if (!written || sessionId === undefined) return false
  const { opening, sessionFingerprint } = written
  return typeof opening === 'object' ? opening.sessionId === sessionId : sessionFingerprint === fnv1a(sessionId)
}

/** The state for the host. */
export function stateOf({ state, isUnreported }: OutboxEntry): DeliveryState {
  if (isUnreported) return 'sent'
  return state === 'awaiting-turn' || state === 'held' ? 'queued' : state
}
