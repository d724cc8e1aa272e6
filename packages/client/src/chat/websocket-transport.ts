import type { SocketCloseEvent, WebSocketConstructor, WebSocketLike } from '../platform/environment.ts'
import type { OpenTransport, Transport } from './transport.ts'

const OPEN = 1

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
    socket.onmessage = (event: { data: unknown }) => listener.received(event.data)
    // A close event always follows an error, and knows more.
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
    // What is written to a socket that is closing disappears without a word, in every runtime.
    if (this.#socket.readyState !== OPEN) throw new Error('The socket is not open.')
    this.#socket.send(text)
  }

  close(code: number, reason: string): void {
    this.#detach()
    this.#socket.close(code, reason)
  }
}
