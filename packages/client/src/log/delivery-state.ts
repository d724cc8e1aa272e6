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
