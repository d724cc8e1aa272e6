import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../message.ts'
import {
  BaseMessageHandler,
  errorCodeOf,
  handled,
  resultBase,
  systemParties,
  type TokenRefreshResult,
} from '../message-handler.ts'

export interface TokenRefreshHandlerOptions {
  /** Starts a refresh; the frames behind this one do not wait for it. */
  onRefreshRequired(): void
}

/** The service wants a new access token: every stale or expired frame asks for one, whatever its code. */
export class TokenRefreshHandler extends BaseMessageHandler {
  override readonly resultType = 'token_refresh_required'
  readonly #options: TokenRefreshHandlerOptions

  constructor(options: TokenRefreshHandlerOptions) {
    super()
    this.#options = options
  }

  canHandle(message: Message): boolean {
    return (
      message.persona === PERSONA.METADATA &&
      (message.role === ROLE.STALE_TOKEN || message.role === ROLE.EXPIRED_TOKEN)
    )
  }

  handle(message: Message): TokenRefreshResult {
    this.#options.onRefreshRequired()
    const errorCode = errorCodeOf(message)
    return {
      type: this.resultType,
      ...resultBase(message),
      ...systemParties(),
      message: { ...handled(message), errorCode },
      errorCode,
    }
  }
}
