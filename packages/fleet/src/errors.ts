/** What a {@link FleetError} is about. */
export type FleetErrorCode =
  | 'config_invalid'
  | 'not_started'
  | 'closed'
  | 'invalid'
  | 'unknown_conversation'
  | 'conversation_ending'
  | 'too_many_pending'
  | 'too_many_conversations'
  | 'mask_failed'
  | 'store_unavailable'

/** A call of the fleet was refused, or could not be completed. Decide on `code`. */
export class FleetError extends Error {
  /** Tells the class where `instanceof` does not reach. */
  override readonly name = 'FleetError'
  /** Why the call failed. */
  readonly code: FleetErrorCode
  /** The conversation, where the failure concerns one. */
  readonly conversationId: string | undefined

  constructor(code: FleetErrorCode, message: string, options: ErrorOptions & { conversationId?: string } = {}) {
    super(message, options)
    this.code = code
    this.conversationId = options.conversationId
  }
}
