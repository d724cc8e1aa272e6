import type { SocketCloseEvent, WebSocketConstructor, WebSocketLike } from '../platform/environment.ts'

/** What a recorded socket reports. */
export interface SocketRecord {
  open(): void
  sent(data: string): void
  received(data: unknown): void
  closing(code: number): void
  closed(code: number, httpStatus: number | undefined): void
}

type Handler = ((event: never) => unknown) | null

/** The class whose sockets report what passes through them, and do nothing else differently. */
export function recordSockets(Socket: WebSocketConstructor, record: () => SocketRecord): WebSocketConstructor {
  return class RecordedSocket implements WebSocketLike {
    static readonly revealsStatus = Socket.revealsStatus
    readonly #socket: WebSocketLike
    readonly #record: SocketRecord
    onopen: Handler = null
    onmessage: Handler = null
    onclose: Handler = null
    onerror: Handler = null

    constructor(url: string) {
      this.#record = record()
      const socket = new Socket(url)
      this.#socket = socket
      socket.onopen = (event: unknown) => {
        this.#record.open()
        call(this.onopen, event)
      }
      socket.onmessage = (event: { data: unknown }) => {
        // Without a handler the client has let go of the socket: it does not see the frame.
        if (this.onmessage) this.#record.received(event.data)
        call(this.onmessage, event)
      }
      socket.onclose = (event: SocketCloseEvent) => {
        this.#record.closed(event.code, event.httpStatus)
        call(this.onclose, event)
      }
      socket.onerror = (event: unknown) => call(this.onerror, event)
    }

    get readyState(): number {
      return this.#socket.readyState
    }

    get bufferedAmount(): number {
      return this.#socket.bufferedAmount
    }

    send(data: string): void {
      this.#record.sent(data)
      this.#socket.send(data)
    }

    close(code?: number, reason?: string): void {
      this.#record.closing(code ?? 1005)
      this.#socket.close(code, reason)
    }
  }
}

/** Each handler knows which event it receives. */
function call(handler: Handler, event: unknown): void {
  ;(handler as ((event: unknown) => unknown) | null)?.(event)
}
