import { parseServerMessage, ProtocolError } from '@aiagent/protocol'
import type { Message, ReceivedIn } from './message.ts'
import { receivedMessage } from './message.ts'
import type { HandlerResult } from './message-handler.ts'
import type { MessageProcessor } from './message-processor.ts'

/** What becomes of a frame, in this order: `arrived`, its handler, then `handled`; or `unreadable`. */
export interface InboxListener {
  /** Before its handler is asked: the transcript's turn. `type` is what the handler's result will say. */
  arrived(message: Message, type: string | undefined): void
  handled(message: Message, result: HandlerResult | undefined): void
  unreadable(error: ProtocolError, data: unknown): void
  /** A handler threw or rejected; `handled` follows without a result. */
  handlerFailed(error: unknown, message: Message): void
}

/**
 * Takes frames one after the other, so that events keep the order of the wire. It owns the frames that arrive while a
 * handler of the host's takes its time.
 */
export class Inbox {
  readonly #processor: MessageProcessor
  readonly #place: () => ReceivedIn
  readonly #listener: InboxListener
  #waiting: unknown[] | undefined

  constructor(processor: MessageProcessor, place: () => ReceivedIn, listener: InboxListener) {
    this.#processor = processor
    this.#place = place
    this.#listener = listener
  }

  receive(data: unknown): void {
    if (this.#waiting) this.#waiting.push(data)
    else this.#take(data)
  }

  /** Forgets what waits: it belongs to a conversation that was left. */
  clear(): void {
    if (this.#waiting) this.#waiting.length = 0
  }

  #take(data: unknown): void {
    let message: Message
    try {
      message = receivedMessage(parseServerMessage(data), this.#place())
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#listener.unreadable(error, data)
      return
    }
    try {
      const handler = this.#processor.handlerFor(message)
      this.#listener.arrived(message, handler?.resultType)
      const result = handler?.handle(message)
      if (isPromise(result)) this.#await(message, result)
      else this.#listener.handled(message, result)
    } catch (error) {
      this.#failed(message, error)
    }
  }

  #await(message: Message, result: PromiseLike<HandlerResult | undefined>): void {
    const waiting: unknown[] = []
    this.#waiting = waiting
    Promise.resolve(result)
      .then(
        handled => this.#listener.handled(message, handled),
        error => this.#failed(message, error),
      )
      .finally(() => {
        this.#waiting = undefined
        // One of these may make the rest wait again.
        for (const data of waiting) this.receive(data)
      })
  }

  #failed(message: Message, error: unknown): void {
    this.#listener.handlerFailed(error, message)
    this.#listener.handled(message, undefined)
  }
}

function isPromise(value: unknown): value is PromiseLike<HandlerResult | undefined> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
}
