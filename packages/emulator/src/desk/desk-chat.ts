import type { Clock } from '../clock.ts'
import type { DeskContext } from './desk-context.ts'

/** A message of a chat with a colleague. */
export interface DeskMessage {
  /** Unique in its chat. That of a customer's message was chosen by the customer's page. */
  readonly id: string
  /** Who wrote it. */
  readonly from: 'customer' | 'colleague'
  /** The text as it arrived: masked, where the customer's page masks. */
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** A chat at the desk, as plain data. */
export interface DeskChatRecord {
  /** Name of the chat at the desk. It opens nothing, unlike the handle of the customer. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** `waiting` until a colleague has joined, then `open`; `ended` when one of the two has left. */
  state: 'waiting' | 'open' | 'ended'
  /** Name of the colleague who has joined. */
  name?: string
  /** The conversation before the chat, oldest first. @default none */
  readonly conversation?: readonly DeskContext[]
  /** All messages, oldest first. */
  readonly messages: DeskMessage[]
}

/** Name of a colleague who gives none. */
const COLLEAGUE = 'Support'

/** Most messages of the customer in a chat, and most characters of them with their ids. */
const MESSAGE_LIMIT = 1_000
const TEXT_LIMIT = 100_000

/** A chat between a customer and a colleague. Tests and the desk page play the colleague. */
export class DeskChat {
  readonly #record: DeskChatRecord
  readonly #clock: Clock
  readonly #notify: () => void
  #isTyping = false
  /** Number of the customer's messages that `nextMessage()` has returned. */
  #read = 0
  readonly #readers = new Set<() => void>()

  /** @param notify called after each change */
  constructor(record: DeskChatRecord, clock: Clock, notify: () => void) {
    this.#record = record
    this.#clock = clock
    this.#notify = notify
  }

  /** Milliseconds since the epoch. */
  get startedAt(): number {
    return this.#record.startedAt
  }

  /** Name of the chat at the desk. */
  get id(): string {
    return this.#record.id
  }

  /** `waiting` until a colleague has joined, then `open`; `ended` when one of the two has left. */
  get state(): DeskChatRecord['state'] {
    return this.#record.state
  }

  /** Name of the colleague; undefined until one has joined. */
  get name(): string | undefined {
    return this.#record.name
  }

  /** Whether the colleague is writing. */
  get isTyping(): boolean {
    return this.#isTyping
  }

  /** The conversation with the agent before the chat, as far as the customer's page has passed it; oldest first. */
  get conversation(): readonly DeskContext[] {
    return this.#record.conversation ?? []
  }

  /** All messages, oldest first. */
  get messages(): readonly DeskMessage[] {
    return this.#record.messages
  }

  /** The chat as plain data, for a store. */
  get record(): Readonly<DeskChatRecord> {
    return this.#record
  }

  /** Has a colleague join; the first message does so, too. @param name 'Support' by default, or the name so far */
  join(name = this.#record.name ?? COLLEAGUE): void {
    this.#assertOpen()
    if (this.#record.state === 'open' && this.#record.name === name) return
    this.#record.state = 'open'
    this.#record.name = name
    this.#change()
  }

  /**
   * Says something as the colleague, who is not writing any more.
   *
   * @throws {Error} when the chat has ended
   */
  say(text: string): void {
    this.join()
    this.#isTyping = false
    this.#add({ id: `colleague-${this.#record.messages.length + 1}`, from: 'colleague', text })
  }

  /**
   * Shows the customer whether the colleague is writing.
   *
   * @throws {Error} when the chat has ended
   */
  setTyping(isTyping: boolean): void {
    this.#assertOpen()
    if (this.#isTyping === isTyping) return
    this.join()
    this.#isTyping = isTyping
    this.#change()
  }

  /** Ends the chat, as either side. A second call has no effect. */
  end(): void {
    if (this.#record.state === 'ended') return
    this.#record.state = 'ended'
    this.#isTyping = false
    this.#change()
  }

  /**
   * Waits for the next text of the customer: each is returned once, in order.
   *
   * @throws {Error} when the chat ends without another one
   */
  async nextMessage(): Promise<string> {
    for (;;) {
      const message = this.#record.messages.filter(({ from }) => from === 'customer')[this.#read]
      if (message) {
        this.#read++
        return message.text
      }
      this.#assertOpen()
      await new Promise<void>(resolve => this.#readers.add(resolve))
    }
  }

  /** Whether a text of the customer fits into the chat. A repetition does. */
  hasRoomFor(id: string, text: string): boolean {
    const received = this.#record.messages.filter(({ from }) => from === 'customer')
    if (received.some(message => message.id === id)) return true
    const length = received.reduce((sum, message) => sum + message.id.length + message.text.length, 0)
    return received.length < MESSAGE_LIMIT && length + id.length + text.length <= TEXT_LIMIT
  }

  /**
   * Adds a text of the customer. A repetition, known by its id, has no effect.
   *
   * @throws {Error} when the chat has ended
   */
  receive(id: string, text: string): void {
    if (this.#record.messages.some(message => message.id === id)) return
    this.#assertOpen()
    this.#add({ id, from: 'customer', text })
  }

  #add(message: Omit<DeskMessage, 'at'>): void {
    this.#record.messages.push({ ...message, at: this.#clock.now() })
    this.#change()
  }

  #assertOpen(): void {
    if (this.#record.state === 'ended') throw new Error(`The chat ${this.id} has ended.`)
  }

  #change(): void {
    this.#notify()
    for (const wake of [...this.#readers]) wake()
    this.#readers.clear()
  }
}
