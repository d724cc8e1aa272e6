import type { Message } from '../outbox/message.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import { AgentMessageHandler } from './handlers/agent-message-handler.ts'
import { ChatHistoryHandler } from './handlers/chat-history-handler.ts'
import { ContextValidationHandler } from './handlers/context-validation-handler.ts'
import { ErrorMessageHandler } from './handlers/error-message-handler.ts'
import { HeartbeatHandler } from './handlers/heartbeat-handler.ts'
import { TokenRefreshHandler, type TokenRefreshHandlerOptions } from './handlers/token-refresh-handler.ts'
import type { BaseMessageHandler, HandlerResult } from './message-handler.ts'

/** Which handler gets a message: the first, in order, that says yes. */
export class MessageProcessor {
  readonly #options: TokenRefreshHandlerOptions
  #handlers: BaseMessageHandler[] = []
  /** The handler of answers, while the library's own handlers are the only ones. */
  #usual: BaseMessageHandler | undefined

  constructor(options: TokenRefreshHandlerOptions) {
    this.#options = options
    this.reset()
  }

  /** Adds a handler: last, or at a position (0 is asked first). */
  addHandler(handler: BaseMessageHandler, index: number = this.#handlers.length): void {
    this.#handlers.splice(index, 0, handler)
    this.#usual = undefined
  }

  /** Takes a handler out; false when it is not there. */
  removeHandler(handler: BaseMessageHandler): boolean {
    const index = this.#handlers.indexOf(handler)
    if (index >= 0) this.#handlers.splice(index, 1)
    this.#usual = undefined
    return index >= 0
  }

  /** The handlers in the order in which they are asked. */
  getHandlers(): readonly BaseMessageHandler[] {
    return [...this.#handlers]
  }

  /** Back to the library's own handlers. */
  reset(): void {
    this.#handlers = ownHandlers(this.#options)
    this.#usual = this.#handlers.find(handler => handler instanceof AgentMessageHandler)
  }

  /** The handler that takes the message, if any does. */
  handlerFor(message: Message): BaseMessageHandler | undefined {
    // Own handlers share no message, so the one that takes nearly all may be asked first: asking six takes a while.
    if (this.#usual?.canHandle(message)) return this.#usual
    for (const handler of this.#handlers) if (handler.canHandle(message)) return handler
    return undefined
  }

  /** The result of the handler that takes the message; undefined when none does. */
  process(message: Message): Awaitable<HandlerResult | undefined> {
    return this.handlerFor(message)?.handle(message)
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
