import { setImmediate } from 'node:timers'
import type { WebSocket as WsSocket } from 'ws'
import type { SocketCloseEvent, WebSocketLike } from './environment.ts'

/**
 * How many frames are delivered in one slice. A burst arrives as whole network chunks, thousands of frames each, and
 * `ws` delivers them without a pause. Timers and other sockets would wait until the listeners have handled all of them.
 */
const FRAMES_PER_TURN = 128

/**
 * Delivers what a socket receives to its listeners in slices, with a turn of the event loop between them. While some
 * frames are pending, no more are read, and the close waits for the last of them.
 */
export class SlicedDelivery {
  readonly #socket: WsSocket
  readonly #listeners: WebSocketLike
  /** Frames delivered since the last turn of the event loop. */
  #delivered = 0
  /** Frames that are not delivered yet, in order, and the close after them. */
  #pending: unknown[] | undefined
  #close: SocketCloseEvent | undefined

  constructor(socket: WsSocket, listeners: WebSocketLike) {
    this.#socket = socket
    this.#listeners = listeners
  }

  /** Whether frames are pending, so that no more are read. */
  get isPaused(): boolean {
    return this.#pending !== undefined
  }

  /** Delivers a frame, at once or after those that are pending. */
  deliver(data: unknown): void {
    if (this.#pending) {
      this.#pending.push(data)
      return
    }
    // Counted without reading the clock: an unnecessary pause costs one turn of the loop.
    if (++this.#delivered >= FRAMES_PER_TURN) {
      this.#pending = []
      this.#socket.pause()
      setImmediate(() => this.#deliverSlice(0))
    }
    try {
      callListener(this.#listeners.onmessage, { data })
    } catch (error) {
      // Thrown from here, it would stop the receiver of `ws` for good.
      setImmediate(() => {
        throw error
      })
    }
  }

  /** Reports the close, after the frames that are pending. */
  close(event: SocketCloseEvent): void {
    if (this.#pending) this.#close = event
    else callListener(this.#listeners.onclose, event)
  }

  /** Delivers the next slice of pending frames, from an index; when none is left, resumes reading. */
  #deliverSlice(from: number): void {
    const pending = this.#pending ?? []
    let next = from
    try {
      for (const to = from + FRAMES_PER_TURN; next < to && next < pending.length; ) {
        callListener(this.#listeners.onmessage, { data: pending[next++] })
      }
    } finally {
      // Also when a listener threw: the remaining frames must still be delivered.
      if (next < pending.length) setImmediate(() => this.#deliverSlice(next))
      else this.#resume()
    }
  }

  #resume(): void {
    this.#pending = undefined
    this.#delivered = 0
    this.#socket.resume()
    const event = this.#close
    this.#close = undefined
    if (event) callListener(this.#listeners.onclose, event)
  }
}

/** Listeners accept any event, like those of a browser's socket; each knows which type it receives. */
export function callListener(listener: WebSocketLike['onopen'], event: object): void {
  ;(listener as ((event: object) => unknown) | null)?.(event)
}
