import type { SocketCloseEvent, WebSocketConstructor } from '../platform/environment.ts'
import type { OpenTransport } from './transport.ts'

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
    return {
      get bufferedAmount() {
        return socket.bufferedAmount
      },
      send(text) {
        // What is written to a socket that is closing disappears without a word, in every runtime.
        if (socket.readyState !== OPEN) throw new Error('The socket is not open.')
        socket.send(text)
      },
      close(code, reason) {
        detach()
        socket.close(code, reason)
      },
    }
  }
}
