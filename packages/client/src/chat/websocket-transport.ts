import type { SocketCloseEvent, WebSocketConstructor, WebSocketLike } from '../platform/environment.ts'
import { FRAME_TOO_LARGE_CODE, FRAME_TOO_LARGE_REASON, MAX_FRAME_LENGTH } from '../platform/frame-limit.ts'
import type { OpenTransport, Transport } from './transport.ts'

const OPEN = 1

/** The code for 1009 that browsers accept from a page. */
const TOO_LARGE_PRIVATE_CODE = 4009

/** A transport over the platform's WebSocket. */
export function webSocketTransport(WebSocket: WebSocketConstructor): OpenTransport {
  return (address, listener) => {
    const socket = new WebSocket(address)
    const detach = () => {
      socket.onopen = socket.onmessage = socket.onclose = null
      // An error event without a listener is fatal in some runtimes, and a socket that is being closed can still fail.
      socket.onerror = () => {}
    }
    socket.onopen = () => listener.opened()
    socket.onmessage = ({ data }: { data: unknown }) => {
      if (typeof data !== 'string' || data.length <= MAX_FRAME_LENGTH) return listener.received(data)
      detach()
      // Pages may not close with 1009.
      socket.close(TOO_LARGE_PRIVATE_CODE, FRAME_TOO_LARGE_REASON)
      listener.closed({ code: FRAME_TOO_LARGE_CODE, reason: FRAME_TOO_LARGE_REASON })
    }
    // A close event always follows an error, and has more information.
    socket.onerror = () => {}
    socket.onclose = (event: SocketCloseEvent) => {
      detach()
      listener.closed({ code: event.code, reason: event.reason, httpStatus: event.httpStatus })
    }
    return new WebSocketTransport(socket, detach)
  }
}

class WebSocketTransport implements Transport {
  readonly #socket: WebSocketLike
  readonly #detach: () => void

  constructor(socket: WebSocketLike, detach: () => void) {
    this.#socket = socket
    this.#detach = detach
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount
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
}
