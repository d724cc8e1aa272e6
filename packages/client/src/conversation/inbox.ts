import { ProtocolError, parseServerMessage } from '@aiagent/protocol'
import type { Message, ReceivedIn } from '../outbox/message.ts'
import { receivedMessage } from '../outbox/message.ts'
import type { Clock } from '../platform/clock.ts'
import { MAX_WAITING_LENGTH } from '../platform/frame-limit.ts'
import type { BaseMessageHandler, HandlerResult } from './message-handler.ts'
import type { MessageProcessor } from './message-processor.ts'

/** How long the messages behind wait for the promise of a handler, in milliseconds. */
const HANDLER_LIMIT_MS = 30_000

/**
 * Callbacks for a frame, in this order: `arrived`, its handler, `handled`, then `finished`; or `unreadable`. Those that
 * follow are left out once one of them has ended the conversation.
 */
export interface InboxListener {
  /**
   * Whether nothing of the following happens, because the frame belongs to the extension of the wire or was processed
   * before. `seq` is its number in the session, where the service counts.
   */
  isConsumed(message: Message, seq: number | undefined): boolean
  /** Too many frames wait for a handler. The last one is dropped, and the connection must bring no more. */
  overflowed(): void
  /**
   * Called before its handler, for the transcript. `type` is the expected type of the handler's result, `size` the
   * length of the frame's text in characters.
   */
  arrived(message: Message, type: string | undefined, size: number): void
  /** For the events. */
  handled(message: Message, result: HandlerResult | undefined): void
  /** The events were emitted. For everything that the message changes in the conversation. */
  finished(message: Message, result: HandlerResult | undefined): void
  unreadable(error: ProtocolError, data: unknown): void
  /** No handler accepts it; `handled` follows without a result. */
  unclaimed(message: Message): void
  /** A handler threw, rejected, or did not settle in time; `handled` follows without a result. */
  handlerFailed(error: unknown, message: Message): void
}

/**
 * Handles frames one after the other, so that events keep the order of the wire. Owns the frames that arrive while an
 * asynchronous handler runs.
 */
export class Inbox {
  readonly #processor: MessageProcessor
  readonly #origin: ReceivedIn
  readonly #listener: InboxListener
  readonly #clock: Clock
  /** Limit of the handler that others wait for. */
  #limit: unknown
  #waiting: unknown[] | undefined
  /** Length of all waiting frames. */
  #waitingLength = 0
  /** Number of conversations that have ended: a listener or a handler may end one. */
  #ended = 0

  constructor(processor: MessageProcessor, origin: ReceivedIn, listener: InboxListener, clock: Clock) {
    this.#processor = processor
    this.#origin = origin
    this.#listener = listener
    this.#clock = clock
  }

  receive(data: unknown): void {
    if (!this.#waiting) return this.#take(data)
    const length = this.#waitingLength + lengthOf(data)
    if (length > MAX_WAITING_LENGTH) return this.#listener.overflowed()
    this.#waiting.push(data)
    this.#waitingLength = length
  }

  /** Drops waiting frames, and the result they wait for: they belong to a conversation that has ended. */
  clear(): void {
    this.#ended++
    this.#waiting = undefined
    this.#waitingLength = 0
    this.#clock.clearTimeout(this.#limit)
  }

  forgetUser(): void {
    this.clear()
  }

  #take(data: unknown): void {
    let message: Message
    let seq: number | null | undefined
    try {
      const frame = parseServerMessage(data)
      seq = frame.seq
      message = receivedMessage(frame, this.#origin)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#listener.unreadable(error, data)
      return
    }
    if (this.#listener.isConsumed(message, seq ?? undefined)) return
    const ended = this.#ended
    let handler: BaseMessageHandler | undefined
    let result: unknown
    let failure: { error: unknown } | undefined
    try {
      handler = this.#processor.handlerFor(message)
    } catch (error) {
      failure = { error }
    }
    this.#listener.arrived(message, handler?.resultType, (data as string).length)
    if (ended !== this.#ended) return
    try {
      result = handler?.handle(message)
    } catch (error) {
      failure = { error }
    }
    if (isPromise(result)) return this.#await(message, result, ended)
    if (ended !== this.#ended) return
    if (failure) return this.#failed(message, failure.error)
    if (!handler) this.#listener.unclaimed(message)
    this.#report(message, asResult(result))
  }

  #await(message: Message, result: PromiseLike<unknown>, ended: number): void {
    // This message may have waited itself: the others still do.
    const waiting = [...(this.#waiting ?? [])]
    if (ended === this.#ended) this.#waiting = waiting
    const go = (tell: () => void) => {
      // The conversation ended while the handler ran, or its time was over.
      if (this.#waiting !== waiting) return
      this.#clock.clearTimeout(limit)
      try {
        tell()
        // One of these may make the rest wait again, or its listener may end the conversation.
        while (this.#waiting === waiting && waiting.length > 0) {
          const next = waiting.shift()
          this.#waitingLength -= lengthOf(next)
          this.#take(next)
        }
      } finally {
        if (this.#waiting === waiting) {
          this.#waiting = undefined
          this.#waitingLength = 0
        }
      }
    }
    const late = () => new Error(`It did not settle within ${HANDLER_LIMIT_MS / 1_000} seconds.`)
    const limit = this.#clock.setTimeout(() => go(() => this.#failed(message, late())), HANDLER_LIMIT_MS)
    if (ended === this.#ended) this.#limit = limit
    else this.#clock.clearTimeout(limit)
    result.then(
      handled => go(() => this.#report(message, asResult(handled))),
      error => go(() => this.#failed(message, error)),
    )
  }

  #failed(message: Message, error: unknown): void {
    this.#listener.handlerFailed(error, message)
    this.#report(message, undefined)
  }

  #report(message: Message, result: HandlerResult | undefined): void {
    const ended = this.#ended
    this.#listener.handled(message, result)
    if (ended === this.#ended) this.#listener.finished(message, result)
  }
}

function lengthOf(data: unknown): number {
  return typeof data === 'string' ? data.length : 0
}

/** A custom handler's invalid result counts as no result. */
function asResult(value: unknown): HandlerResult | undefined {
  return typeof value === 'object' && value !== null ? (value as HandlerResult) : undefined
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
}
