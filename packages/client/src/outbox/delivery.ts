import type { DeliveryOutcome, DeliveryReason, DeliveryState } from '../log/delivery-state.ts'
import type { Message } from '../log/message.ts'
import type { OutboxEntry } from './outbox-entry.ts'

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
