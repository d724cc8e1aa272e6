import type { WebSocketConstructor, WebSocketLike } from '@aiagent/client'
import type { Clock } from '@aiagent/emulator'

const CLOSING = 2
const CLOSED = 3

/**
 * A socket class whose close events come a while after the close, as those of platforms do: until then the socket is
 * closing, and what is written to it is lost.
 *
 * @param delayMs time between close and close event; asked for each socket
 * @param onCreate receives each socket
 */
export function slowClosing(
  WebSocket: WebSocketConstructor,
  clock: Clock,
  delayMs: () => number,
  onCreate: (socket: WebSocketLike) => void,
): WebSocketConstructor {
  return class SlowClosingSocket implements WebSocketLike {
    onopen: WebSocketLike['onopen'] = null
    onmessage: WebSocketLike['onmessage'] = null
    onclose: WebSocketLike['onclose'] = null
    onerror: WebSocketLike['onerror'] = null
    readonly #socket: WebSocketLike
    #isClosing = false

    constructor(url: string) {
      const socket = new WebSocket(url)
      this.#socket = socket
      socket.onopen = (event: never) => this.onopen?.(event)
      socket.onmessage = (event: never) => this.onmessage?.(event)
      socket.onerror = (event: never) => this.onerror?.(event)
      socket.onclose = (event: never) => {
        this.#isClosing = true
        clock.setTimeout(() => {
          this.#isClosing = false
          this.onclose?.(event)
        }, delayMs())
      }
      onCreate(this)
    }

    get readyState(): number {
      return this.#isClosing ? CLOSING : this.#socket.readyState
    }

    get bufferedAmount(): number {
      return this.#socket.bufferedAmount
    }

    send(data: string): void {
      if (this.readyState < CLOSING) this.#socket.send(data)
    }

    close(code?: number, reason?: string): void {
      if (this.readyState < CLOSED) this.#socket.close(code, reason)
    }
  }
}
