import type { Message } from './message.ts'
import type { OutboxEntry } from './outbox-entry.ts'

/*
 * What became of an outbound message, for the host.
 *
 *   queued ──► sending ──► sent ──► acknowledged   the service has it: its receipt, or its history of the session
 *     │  ▲                  │ ▲  └─► unknown       no evidence, and none will come; late evidence leads to acknowledged
 *     │  └──── retry() ─────┼─┘        │
 *     │                     └─ sent again by itself, with receipts or `at-least-once`
 *     └──► failed, cancelled           the service cannot have it
 */

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
  readonly state: DeliveryState
  readonly previousState: DeliveryState
  /** Only for `unknown` and `failed`. */
  readonly reason?: DeliveryReason
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

/** The state for the host. */
export function stateOf({ state, isUnreported }: OutboxEntry): DeliveryState {
  if (isUnreported) return 'sent'
  return state === 'awaiting-turn' || state === 'held' ? 'queued' : state
}
