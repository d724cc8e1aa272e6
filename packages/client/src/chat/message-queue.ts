/** A message on its way out, with the id its sender knows it by. */
export interface QueuedMessage {
  /** The id that its sender knows it by. */
  readonly id: string
  /** The frame's text. */
  readonly data: string
  /** When it was taken, in milliseconds since the epoch. */
  readonly timestamp: number
  /** How often writing it was tried. */
  attempts: number
}

/** Messages that wait, in order. In memory only. */
export class MessageQueue {
  readonly #limit: number
  #entries: QueuedMessage[] = []
  /** Index of the first waiting entry. Taking from the front of an array is slow: it is done when most have left. */
  #head = 0

  /** @param limit how many may wait; one more is refused */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Appends a message; false, and nothing changed, when the queue is full. */
  enqueue(entry: QueuedMessage): boolean {
    if (this.size >= this.#limit) return false
    this.#entries.push(entry)
    return true
  }

  /** The first message, which stays. */
  peek(): QueuedMessage | undefined {
    return this.#entries[this.#head]
  }

  /** Takes the first message out. */
  dequeue(): QueuedMessage | undefined {
    const entry = this.peek()
    this.#head++
    // Past the end of an empty queue, too: it is cut to an empty one.
    if (this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head)
      this.#head = 0
    }
    return entry
  }

  /** Counts one more try for a message. */
  markAttempted(id: string): void {
    const entry = this.#find(id)
    if (entry) entry.attempts++
  }

  /** Takes a message out of the middle; false when it is not there. */
  remove(id: string): boolean {
    const entry = this.#find(id)
    if (!entry) return false
    this.#entries.splice(this.#entries.indexOf(entry, this.#head), 1)
    return true
  }

  /** Empties the queue and returns what was in it. */
  clear(): QueuedMessage[] {
    const cleared = this.getAll()
    this.#entries = []
    this.#head = 0
    return cleared
  }

  /** The waiting messages, in order; the list is the caller's. */
  getAll(): QueuedMessage[] {
    return this.#entries.slice(this.#head)
  }

  /** How many messages wait. */
  get size(): number {
    return this.#entries.length - this.#head
  }

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    return this.size === 0
  }

  #find(id: string): QueuedMessage | undefined {
    return this.#entries.find((entry, index) => index >= this.#head && entry.id === id)
  }
}
