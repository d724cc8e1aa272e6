import { MessageError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { Page } from '../platform/page.ts'
import { afterPause } from '../platform/pause.ts'
import { MessageQueue, type QueuedMessage } from './message-queue.ts'
import type { Transport } from './transport.ts'

/*
 * The one ordered way out. It owns an entry per message, and decides whether a message is written at once or waits.
 *
 *   shut ── open(transport) ──► flushing ── nothing waits any more ──► flowing
 *    ▲                             │                                      │
 *    └───────────── shut() ────────┴──────────────────────────────────────┘
 *
 * Nothing overtakes: as long as anything waits, what is new goes behind it. Waiting messages leave in bursts with a
 * pause between them (FLOW-05), so that a long queue neither floods the service nor freezes the page.
 */

/** Messages of one burst. */
export const BURST_SIZE = 16

/** Pause between two bursts, in milliseconds. */
export const BURST_PAUSE_MS = 5

/** With more than this unsent in the socket, in bytes, a burst waits for the next pause. */
const CONGESTED_BYTES = 256 * 1024

export interface OutboundLaneOptions {
  clock: Clock
  page?: Page | undefined
  maxQueueSize: number
  /** A message has been written to a socket. */
  onWritten?(id: string): void
  /** Everything that waited has been written: how many messages, since the lane was last flowing. */
  onFlushed(count: number): void
}

interface Flushing {
  readonly at: 'flushing'
  readonly transport: Transport
  cancel?: () => void
}

type State =
  | { readonly at: 'shut'; readonly transport: undefined }
  | Flushing
  | { readonly at: 'flowing'; readonly transport: Transport }

const SHUT: State = { at: 'shut', transport: undefined }

export class OutboundLane {
  readonly #options: OutboundLaneOptions
  readonly #queue: MessageQueue
  #state: State = SHUT
  /** Written from the queue since the lane was last flowing. */
  #flushed = 0

  constructor(options: OutboundLaneOptions) {
    this.#options = options
    this.#queue = new MessageQueue(options.maxQueueSize)
  }

  /** How many messages wait. */
  get size(): number {
    return this.#queue.size
  }

  get limit(): number {
    return this.#options.maxQueueSize
  }

  /**
   * Takes a message: writes it, or puts it behind what waits.
   *
   * @throws {MessageError} reason `queue_full`; nothing has changed then
   */
  accept(id: string, data: string): void {
    if (this.#state.at === 'flowing') {
      try {
        this.#state.transport.send(data)
        this.#options.onWritten?.(id)
        return
      } catch {
        // The socket is going down and its close event is on the way: the message waits for the next one.
        this.#state = SHUT
      }
    }
    if (!this.#queue.enqueue({ id, data, timestamp: this.#options.clock.now(), attempts: 0 }))
      throw queueFull(id, this.limit)
  }

  /** A transport is ready for messages: sends what waits, then lets everything through. */
  open(transport: Transport): void {
    if (this.#state.transport === transport) return
    this.shut()
    const state: Flushing = { at: 'flushing', transport }
    this.#state = state
    this.#flush(state, BURST_SIZE)
  }

  /** The transport is gone, or must not be used yet. What waits stays in order. */
  shut(): void {
    if (this.#state.at === 'flushing') this.#state.cancel?.()
    this.#state = SHUT
  }

  /** Takes a message out that waits; false when it does not. */
  withdraw(id: string): boolean {
    return this.#queue.remove(id)
  }

  /** Takes out everything that waits, and returns it. */
  clear(): QueuedMessage[] {
    this.#flushed = 0
    return this.#queue.clear()
  }

  #flush(state: Flushing, allowance: number): void {
    for (let left = allowance; left > 0 && this.#state === state; left--) {
      const entry = this.#queue.peek()
      if (!entry) break
      entry.attempts++
      try {
        state.transport.send(entry.data)
      } catch {
        // Stays first in line; the close event of this socket follows.
        this.shut()
        return
      }
      this.#queue.dequeue()
      this.#flushed++
      this.#options.onWritten?.(entry.id)
    }
    if (this.#state !== state) return
    if (!this.#queue.isEmpty) return this.#pause(state)
    this.#state = { at: 'flowing', transport: state.transport }
    const count = this.#flushed
    this.#flushed = 0
    if (count > 0) this.#options.onFlushed(count)
  }

  #pause(state: Flushing): void {
    const { clock, page } = this.#options
    const since = clock.now()
    state.cancel = afterPause(clock, page, BURST_PAUSE_MS, () => {
      // A wake-up that comes late, as in a tab that has just been hidden, sends what the elapsed time allows.
      const bursts = Math.max(1, Math.floor((clock.now() - since) / BURST_PAUSE_MS))
      const buffered = state.transport.bufferedAmount
      this.#flush(state, buffered === 0 ? bursts * BURST_SIZE : buffered < CONGESTED_BYTES ? 1 : 0)
    })
  }
}

/** The refusal of a message that finds no place. */
export function queueFull(id: string, limit: number): MessageError {
  return new MessageError(
    `The message was not taken: ${limit} messages wait already. Connect, or raise maxQueueSize.`,
    'queue_full',
    { messageId: id },
  )
}
