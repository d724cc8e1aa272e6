import { Opaque } from '../util/values.ts'
/** An outbound message that waits for the connection. */
export interface QueuedMessage {
  /** The sender's id of the message. */
  readonly id: string
  /** The text of the frame. */
  readonly data: string
  /** Time of acceptance, in milliseconds since the epoch. */
  readonly timestamp: number
  /** How often the message was written to a socket, successfully or not. */
  attempts: number
}

/** Outbound messages in order, first in first out. In memory only. */
export class MessageQueue<Entry extends QueuedMessage = QueuedMessage> extends Opaque {
  readonly #limit: number
  #entries: Entry[] = []
  /** Index of the first waiting entry. Removing the front of an array is slow, so it is done for many at once. */
  #head = 0

  /** @param limit maximum number of waiting messages; one more is rejected. The default is that of `AiAgentConfig.maxQueueSize` */
  constructor(limit: number = 1_000) {
    super()
    this.#limit = limit
  }

  /** Appends a message; returns false, and changes nothing, when the queue is full. */
  enqueue(entry: Entry): boolean {
    if (this.size >= this.#limit) return false
    this.#entries.push(entry)
    return true
  }

  /** The first message, which stays in the queue. */
  peek(): Entry | undefined {
    return this.#entries[this.#head]
  }

  /** Removes the first message and returns it. */
  dequeue(): Entry | undefined {
    const entry = this.peek()
    this.#head++
    // Also past the end of an empty queue: the list is then cut to an empty one.
    if (this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head)
      this.#head = 0
    }
    return entry
  }

  /** Adds one to the attempts of a message. */
  markAttempted(id: string): void {
    const entry = this.#find(id)
    if (entry) entry.attempts++
  }

  /** Removes a message wherever it is in the queue; returns false when it is not there. */
  remove(id: string): boolean {
    const entry = this.#find(id)
    if (!entry) return false
    this.#entries.splice(this.#entries.indexOf(entry, this.#head), 1)
    return true
  }

  /** Empties the queue and returns the removed messages. */
  clear(): Entry[] {
    const cleared = this.getAll()
    this.#entries = []
    this.#head = 0
    return cleared
  }

  /** A copy of the waiting messages, in order. */
  getAll(): Entry[] {
    return this.#entries.slice(this.#head)
  }

  /** Number of waiting messages. */
  get size(): number {
    return this.#entries.length - this.#head
  }

  /** Whether no message waits. */
  get isEmpty(): boolean {
    return this.size === 0
  }

  #find(id: string): Entry | undefined {
    return this.#entries.find((entry, index) => index >= this.#head && entry.id === id)
  }
}
