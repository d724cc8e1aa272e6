import { PERSONA, ROLE } from '@aiagent/protocol'
import { MessageError } from '../errors.ts'
import { largeFrameBytes } from './frame-size.ts'
import { Message, type MessageObject } from './message.ts'

/** What `send()` takes beside the message. */
export interface SendOptions {
  /** The caller's id for the message; else its `messageId`, else a new UUID. */
  id?: string
  /** @default 'customer' */
  from?: string
  /** @default the agent's name */
  to?: string
}

export interface OutgoingMessagesOptions {
  /** Whether the agent is known, so that messages can be completed and leave. */
  isSettled(): boolean
  /** How many messages may wait, here and in the lane together. */
  limit: number
  waitingInLane(): number
  newId(): string
  now(): number
  /** Where a message belongs, once the agent is known. */
  place(): { to: string; agentId: string | undefined; sessionId: string | undefined }
  /** What may be sent of a person's words. @throws {MessageError} when nothing may */
  mask(content: string, messageId: string): string
  /** Hands a frame to the lane. @throws {MessageError} when there is no place */
  accept(id: string, frame: string): void
  /** A message that was taken is so large that the service may refuse it. */
  large(id: string, bytes: number): void
  /** A message has been accepted. */
  accepted(message: Message): void
  /** A message that was held could not go on. */
  failed(error: MessageError): void
  /** The refusal of a message that finds no place. */
  full(id: string): MessageError
}

/**
 * The way of a message from the caller to the lane. It owns the messages that were given before the agent was known;
 * they count against the queue's limit and go on, in order, with {@link release}.
 */
export class OutgoingMessages {
  readonly #options: OutgoingMessagesOptions
  #held: Message[] = []

  constructor(options: OutgoingMessagesOptions) {
    this.#options = options
  }

  /** How many messages wait for the agent to be known. */
  get heldCount(): number {
    return this.#held.length
  }

  /**
   * Takes a message.
   *
   * @returns its id
   * @throws {MessageError} reasons `invalid`, `encoding_failed`, `queue_full`; the message has left no trace then
   */
  submit(data: string | MessageObject | Message, options: SendOptions = {}): string {
    const settled = this.#held.length === 0 && this.#options.isSettled()
    const message = this.#complete(data, options, settled)
    message.validate()
    const id = message.messageId as string
    if (settled) this.#pass(message)
    else this.#hold(id, message)
    return id
  }

  /** The agent is known: what was held goes on. */
  release(): void {
    // Taken out one by one: what a listener sends meanwhile goes behind what is still held.
    for (let message = this.#held.shift(); message; message = this.#held.shift()) {
      try {
        this.#pass(this.#complete(message, {}, true))
      } catch (error) {
        if (!(error instanceof MessageError)) throw error
        this.#options.failed(error)
      }
    }
  }

  /** Takes a message back that is held; false when it is not. */
  withdraw(id: string): boolean {
    const at = this.#held.findIndex(message => message.messageId === id)
    if (at >= 0) this.#held.splice(at, 1)
    return at >= 0
  }

  /** Takes out what is held, and returns the ids. */
  clear(): string[] {
    const ids = this.#held.map(message => message.messageId as string)
    this.#held = []
    return ids
  }

  #complete(data: string | MessageObject | Message, options: SendOptions, settled: boolean): Message {
    const given: Partial<Message> = typeof data === 'string' ? { content: data } : (data as Partial<Message>)
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw new MessageError('send() takes text, a Message, or an object with persona, role and content.', 'invalid')
    const place = settled ? this.#options.place() : undefined
    return new Message(given.persona ?? PERSONA.CUSTOMER, given.role ?? ROLE.HUMAN, given.content, {
      // An empty id names no message.
      messageId: options.id || given.messageId || this.#options.newId(),
      messageData: given.messageData,
      timestamp: given.timestamp ?? this.#options.now(),
      from: options.from ?? given.from ?? PERSONA.CUSTOMER,
      to: options.to ?? given.to ?? place?.to,
      agentId: place?.agentId,
      sessionId: place?.sessionId,
    })
  }

  #pass(complete: Message): void {
    const message = this.#masked(complete)
    const frame = message.toPayloadString()
    this.#options.accept(message.messageId as string, frame)
    const bytes = largeFrameBytes(frame)
    if (bytes !== undefined) this.#options.large(message.messageId as string, bytes)
    this.#options.accepted(asWritten(message, frame))
  }

  /** The message as anybody but its author may see it: what a person says to the agent is masked (FLOW-19). */
  #masked(message: Message): Message {
    const { persona, role, content } = message
    if (persona !== PERSONA.CUSTOMER || role !== ROLE.HUMAN || !content) return message
    const masked = this.#options.mask(content, message.messageId as string)
    return masked === content ? message : message.clone({ content: masked })
  }

  #hold(id: string, message: Message): void {
    if (this.#held.length + this.#options.waitingInLane() >= this.#options.limit) throw this.#options.full(id)
    // What cannot be written is refused now, not when nobody listens any more.
    this.#held.push(asWritten(message, message.toPayloadString()))
  }
}

/** The message with its data as it was written, so that a later change of the host's object changes nothing. */
function asWritten(message: Message, frame: string): Message {
  return message.messageData
    ? message.clone({ messageData: (JSON.parse(frame) as MessageObject).messageData })
    : message
}
