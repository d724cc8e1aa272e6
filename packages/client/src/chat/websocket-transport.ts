import { CLOSE_CODE } from '@aiagent/protocol'
import type { SocketCloseEvent, WebSocketLike } from '../platform/environment.ts'
import {
  FRAME_TOO_LARGE_CODE,
  FRAME_TOO_LARGE_REASON,
  MAX_FRAME_LENGTH,
  TOO_LARGE_PRIVATE_CODE,
} from '../platform/frame-limit.ts'
import type { Transport, TransportListener } from './transport.ts'

const OPEN = 1

/** An error event without a listener is fatal in some runtimes. A close event always follows it, and has more information. */
const IGNORE_ERROR = () => {}

/** A transport over the platform's WebSocket. */
export class WebSocketTransport implements Transport {
  readonly #socket: WebSocketLike
  readonly #listener: TransportListener

  constructor(socket: WebSocketLike, listener: TransportListener) {
    this.#socket = socket
    this.#listener = listener
    socket.onopen = () => {
      socket.onopen = null
      listener.opened()
    }
    socket.onmessage = ({ data }: { data: unknown }) => this.#received(data)
    socket.onerror = IGNORE_ERROR
    socket.onclose = (event?: Partial<SocketCloseEvent>) => this.#closed(event)
  }

  get bufferedAmount(): number {
    // The stand-in of a test may not count, and a flush would wait indefinitely.
    return this.#socket.bufferedAmount ?? 0
  }

  send(text: string): void {
    // Data written to a closing socket is dropped without an error, in every runtime.
    if (this.#socket.readyState !== OPEN) throw new Error('The socket is not open.')
    this.#socket.send(text)
  }

  close(code: number, reason: string): void {
    this.#detach()
    this.#socket.close(code, reason)
  }

  #received(data: unknown): void {
    if (typeof data !== 'string' || data.length <= MAX_FRAME_LENGTH) return this.#listener.received(data)
    this.close(TOO_LARGE_PRIVATE_CODE, FRAME_TOO_LARGE_REASON)
    this.#listener.closed({ code: FRAME_TOO_LARGE_CODE, reason: FRAME_TOO_LARGE_REASON })
  }

  /** @param event the stand-in of a test may leave all of it out */
  #closed({ code = CLOSE_CODE.ABNORMAL, reason = '', httpStatus }: Partial<SocketCloseEvent> = {}): void {
    this.#detach()
    this.#listener.closed({ code, reason, httpStatus })
  }

  /** Errors are still ignored: a socket that is being closed can fail. */
  #detach(): void {
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null
  }
}
