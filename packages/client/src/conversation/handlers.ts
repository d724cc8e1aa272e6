import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../log/message.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import { Opaque } from '../util/values.ts'
import {
  AgentMessageHandler,
  BaseMessageHandler,
  type ChatHistoryResult,
  type ContextValidationResult,
  dataOf,
  type ErrorMessageResult,
  type HandlerResult,
  type HeartbeatResult,
  handled,
  resultOf,
  type TokenRefreshResult,
} from './message-handler.ts'

/** Earlier messages of a session that was opened again. They are passed on, not merged into the transcript. */
export class ChatHistoryHandler extends BaseMessageHandler {
  override readonly resultType = 'chat_history_processed'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.SYSTEM && message.role === ROLE.CHAT_HISTORY
  }

  handle(message: Message): ChatHistoryResult {
    const { persona, role, content } = message
    const raw = dataOf(message)
    const chatHistory = raw.chat_history ?? []
    const result = resultOf(this.resultType, message, { persona, role, content, raw, chatHistory })
    return Object.assign(result, { hasHistory: chatHistory.length > 0 })
  }
}

/** Attributes of the context that the service rejected. The session continues (WS-06). */
export class ContextValidationHandler extends BaseMessageHandler {
  override readonly resultType = 'context_validation'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.SYSTEM && message.role === ROLE.CONTEXT_VALIDATION
  }

  handle(message: Message): ContextValidationResult {
    const contextValidationErrors = dataOf(message).contextValidationErrors ?? []
    return Object.assign(resultOf(this.resultType, message, handled(message)), { contextValidationErrors })
  }
}

/** An error that the service reports within the chat. */
export class ErrorMessageHandler extends BaseMessageHandler {
  override readonly resultType = 'error_message'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.METADATA && message.role === ROLE.ERROR
  }

  handle(message: Message): ErrorMessageResult {
    const { persona, role, content } = message
    const errorCode = errorCodeOf(message)
    const result = resultOf(this.resultType, message, { persona, role, content, raw: dataOf(message), errorCode })
    return Object.assign(result, { errorCode })
  }
}

/** The agent is working on an answer. */
export class HeartbeatHandler extends BaseMessageHandler {
  override readonly resultType = 'heartbeat_processed'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.SYSTEM && message.role === ROLE.HEARTBEAT
  }

  handle(message: Message): HeartbeatResult {
    return resultOf(this.resultType, message, handled(message))
  }
}

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

  /** As `Opaque` has it. */
  get [Symbol.toStringTag](): string {
    return 'AiAgentSdk'
  }
}

/** Selects the handler of a message: the first that accepts it. */
export class MessageProcessor extends Opaque {
  readonly #options: TokenRefreshHandlerOptions
  /** Created with the first message. */
  #list: BaseMessageHandler[] | undefined
  /** The handler of answers, while only the library's own handlers are registered. */
  #usual: BaseMessageHandler | undefined

  constructor(options: TokenRefreshHandlerOptions) {
    super()
    this.#options = options
  }

  /** Adds a handler: last, or at a position (0 is first). */
  addHandler(handler: BaseMessageHandler, index: number = this.#handlers.length): void {
    this.#handlers.splice(index, 0, handler)
    this.#usual = undefined
  }

  /** Removes a handler; false if it is not registered. */
  removeHandler(handler: BaseMessageHandler): boolean {
    const index = this.#handlers.indexOf(handler)
    if (index >= 0) this.#handlers.splice(index, 1)
    this.#usual = undefined
    return index >= 0
  }

  /** The handlers, in order. */
  getHandlers(): readonly BaseMessageHandler[] {
    return [...this.#handlers]
  }

  /** Restores the library's own handlers. */
  reset(): void {
    this.#list = this.#usual = undefined
  }

  /** The handler that accepts the message, if any. */
  handlerFor(message: Message): BaseMessageHandler | undefined {
    const handlers = this.#handlers
    // Built-in handlers accept different messages, so the one for nearly all of them is tried first: trying six is
    // slow.
    if (this.#usual?.canHandle(message)) return this.#usual
    for (const handler of handlers) if (handler.canHandle(message)) return handler
    return undefined
  }

  /** The result of the handler that accepts the message; undefined if none does. */
  process(message: Message): Awaitable<HandlerResult | undefined> {
    return this.handlerFor(message)?.handle(message)
  }

  get #handlers(): BaseMessageHandler[] {
    if (this.#list) return this.#list
    this.#list = ownHandlers(this.#options)
    this.#usual = this.#list.find(handler => handler instanceof AgentMessageHandler)
    return this.#list
  }
}

function ownHandlers(options: TokenRefreshHandlerOptions): BaseMessageHandler[] {
  return [
    new TokenRefreshHandler(options),
    new ContextValidationHandler(),
    new ErrorMessageHandler(),
    new ChatHistoryHandler(),
    new AgentMessageHandler(),
    new HeartbeatHandler(),
  ]
}

/** The frame's error code as text, whatever the service sent. */
function errorCodeOf(message: Message): string | undefined {
  const code = message.messageData?.error_code
  return code === undefined || code === null ? undefined : String(code)
}
