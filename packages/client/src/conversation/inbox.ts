import { PERSONA, ProtocolError, parseServerMessage, ROLE } from '@aiagent/protocol'
import type { ChatObserver } from '../chat/connection.ts'
import { MessageError } from '../errors.ts'
import type { UnreadableFrame } from '../events.ts'
import { type Message, receivedMessage } from '../log/message.ts'
import { MAX_WAITING_LENGTH } from '../platform/socket-limits.ts'
import type { AgentScope } from '../scope.ts'
import { Era } from '../util/era.ts'
import { isPromiseLike } from '../util/values.ts'
import { emitInbound, emitUnreadable, historyOf, type InboundEventType } from './inbound-events.ts'
import type { BaseMessageHandler, HandlerResult } from './message-handler.ts'
import type { Recovery, RecoveryParts } from './recovery.ts'

/** How long the messages behind wait for the promise of a handler, in milliseconds. */
const HANDLER_LIMIT_MS = 30_000

/** The parts that it uses. */
interface InboxParts extends Pick<RecoveryParts, 'processor' | 'connection' | 'log' | 'outbox' | 'working'> {
  readonly recovery: Recovery
}

/**
 * Handles frames one after the other, so that events keep the order of the wire. Owns the frames that arrive while an
 * asynchronous handler runs.
 */
export class Inbox implements ChatObserver {
  readonly #scope: AgentScope<InboundEventType>
  readonly #parts: InboxParts
  /** Limit of the handler that others wait for. */
  #limit: unknown
  /** The frames behind the message whose handler runs, and that message: the next one to wait takes over the frames. */
  #waiting: { readonly frames: Fifo<unknown> } | undefined
  /** Length of all waiting frames. */
  #waitingLength = 0
  /** The conversation: a listener or a handler may end it. */
  #era = new Era()

  constructor(scope: AgentScope<InboundEventType>, parts: InboxParts) {
    this.#scope = scope
    this.#parts = parts
    parts.connection.observe(this)
  }

  handleFrame(data: unknown): void {
    if (!this.#waiting) return this.#take(data)
    const length = this.#waitingLength + lengthOf(data)
    if (length > MAX_WAITING_LENGTH) return this.#parts.connection.refuseFrames()
    this.#waiting.frames.push(data)
    this.#waitingLength = length
  }

  /** Drops waiting frames, and the result they wait for: they belong to a conversation that has ended. */
  clear(): void {
    this.#era = this.#era.end()
    this.#waiting = undefined
    this.#waitingLength = 0
    this.#scope.environment.clock.clearTimeout(this.#limit)
  }

  #take(data: unknown): void {
    let message: Message
    let seq: number | null | undefined
    try {
      const frame = parseServerMessage(data)
      seq = frame.seq
      message = receivedMessage(frame, this.#scope.facts, this.#scope.environment.clock)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      return this.#reportUnreadable(error, data)
    }
    // A frame of the extension of the wire, or one that was processed before.
    if (this.#parts.outbox.handleReceipt(message) || this.#parts.recovery.isConsumed(message, seq ?? undefined)) return
    const era = this.#era
    let handler: BaseMessageHandler | undefined
    let result: unknown
    let failure: { error: unknown } | undefined
    try {
      handler = this.#parts.processor.handlerFor(message)
    } catch (error) {
      failure = { error }
    }
    this.#record(message, handler?.resultType, (data as string).length)
    if (era.isOver) return
    try {
      result = handler?.handle(message)
    } catch (error) {
      failure = { error }
    }
    if (isPromiseLike(result)) return this.#await(message, result, era)
    if (era.isOver) return
    if (failure) return this.#failed(message, failure.error)
    if (!handler) this.#scope.logger.warn('No handler accepts a message that arrived.', { role: message.role })
    this.#report(message, asResult(result))
  }

  #await(message: Message, result: PromiseLike<unknown>, era: Era): void {
    // This message may have waited itself: the others still do.
    const waiting = { frames: this.#waiting?.frames ?? new Fifo() }
    if (!era.isOver) this.#waiting = waiting
    const go = (tell: () => void) => {
      // The conversation ended while the handler ran, or its time was over.
      if (this.#waiting !== waiting) return
      this.#scope.environment.clock.clearTimeout(limit)
      try {
        tell()
        // One of these may make the rest wait again, or its listener may end the conversation.
        while (this.#waiting === waiting && waiting.frames.size > 0) {
          const next = waiting.frames.shift()
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
    const limit = this.#scope.environment.clock.setTimeout(
      () => go(() => this.#failed(message, late())),
      HANDLER_LIMIT_MS,
    )
    if (!era.isOver) this.#limit = limit
    else this.#scope.environment.clock.clearTimeout(limit)
    result.then(
      handled => go(() => this.#report(message, asResult(handled))),
      error => go(() => this.#failed(message, error)),
    )
  }

  #failed(message: Message, error: unknown): void {
    this.#scope.logger.error('A message handler failed.', error)
    this.#report(message, undefined)
  }

  #report(message: Message, result: HandlerResult | undefined): void {
    const era = this.#era
    emitInbound(this.#scope, message, result, this.#parts.recovery.isReplaying)
    if (!era.isOver) this.#finish(message, result)
  }

  #reportUnreadable(error: ProtocolError, data: unknown): void {
    this.#scope.reportError(MessageError.unreadable(error))
    emitUnreadable(this.#scope, data as UnreadableFrame)
  }

  /**
   * Records a message in the transcript, before its handler is called.
   *
   * @param type the expected type of the handler's result
   * @param size length of the frame's text in characters
   */
  #record(message: Message, type: string | undefined, size: number): void {
    if (message.persona === PERSONA.AGENT) this.#parts.connection.confirm()
    const timestamp = message.timestamp ?? this.#scope.environment.clock.now()
    this.#parts.log.record(message, 'received', timestamp, type, size, this.#parts.recovery.isReplaying)
  }

  /** The events were emitted: everything follows that the message changes in the conversation. */
  #finish(message: Message, result: HandlerResult | undefined): void {
    const recovery = this.#parts.recovery
    if (message.persona === PERSONA.AGENT) recovery.handleAnswer(message)
    else if (message.role === ROLE.HEARTBEAT) this.#parts.working.start()
    else if (message.role === ROLE.ERROR) this.#parts.working.end()
    recovery.handleMessage(message, historyOf(message, result))
  }
}

function lengthOf(data: unknown): number {
  return typeof data === 'string' ? data.length : 0
}

/** A custom handler's invalid result counts as no result. */
function asResult(value: unknown): HandlerResult | undefined {
  return typeof value === 'object' && value !== null ? (value as HandlerResult) : undefined
}

/** How many empty places a list has at least before it is cut. */
const LEAST_CUT = 1_000

/** A queue whose front is removed without moving the rest. */
export class Fifo<Item> {
  /** From `#first` on; earlier places are empty. */
  #items: (Item | undefined)[] = []
  #first = 0

  /** How many items wait. */
  get size(): number {
    return this.#items.length - this.#first
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Removes the oldest item. */
  shift(): Item | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#first]
    this.#items[this.#first++] = undefined
    if (this.#first > LEAST_CUT && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }
}
