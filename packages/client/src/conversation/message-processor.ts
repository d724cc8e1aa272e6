import type { Message } from '../log/message.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import {
  AgentMessageHandler,
  ChatHistoryHandler,
  ContextValidationHandler,
  ErrorMessageHandler,
  HeartbeatHandler,
  TokenRefreshHandler,
  type TokenRefreshHandlerOptions,
} from './handlers.ts'
import type { BaseMessageHandler, HandlerResult } from './message-handler.ts'

/** Selects the handler of a message: the first that accepts it. */
export class MessageProcessor {
  readonly #options: TokenRefreshHandlerOptions
  /** Created with the first message. */
  #list: BaseMessageHandler[] | undefined
  /** The handler of answers, while only the library's own handlers are registered. */
  #usual: BaseMessageHandler | undefined

  constructor(options: TokenRefreshHandlerOptions) {
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
