import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../../log/message.ts'
import { BaseMessageHandler, dataOf, errorCodeOf, resultOf, type TokenRefreshResult } from '../message-handler.ts'

/** Receives the token requests of a {@link TokenRefreshHandler}. */
export interface TokenRefreshHandlerOptions {
  /** Starts a refresh; later frames do not wait for it. `expired`: the service already rejects the current token. */
  onRefreshRequired(expired: boolean): void
}

/** The service requests a new access token: every stale or expired frame does, whatever its code. */
export class TokenRefreshHandler extends BaseMessageHandler {
  override readonly resultType = 'token_refresh_required'
  readonly #options: TokenRefreshHandlerOptions

  constructor(options: TokenRefreshHandlerOptions) {
    super()
    this.#options = options
  }

  canHandle(message: Message): boolean {
    return (
      message.persona === PERSONA.METADATA && (message.role === ROLE.STALE_TOKEN || message.role === ROLE.EXPIRED_TOKEN)
    )
  }

  handle(message: Message): TokenRefreshResult {
    this.#options.onRefreshRequired(message.role === ROLE.EXPIRED_TOKEN)
    const { persona, role, content } = message
    const errorCode = errorCodeOf(message)
    const result = resultOf(this.resultType, message, { persona, role, content, raw: dataOf(message), errorCode })
    return Object.assign(result, { errorCode })
  }
}
