import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { isLoopbackAddress } from '../control/access.ts'

/** Time between attempts to reopen the port, in milliseconds: another program may use it. */
const RETRY_MS = 100

/** Owns the port of a server: opens it, releases it for a restart, and opens it again. */
export class Listener {
  readonly #server: Server
  readonly #host: string
  /** The current connections, with the latest response of each. */
  readonly #busy = new Map<Socket, ServerResponse>()
  #port = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(server: Server, host: string) {
    this.#server = server
    this.#host = host
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#busy.set(request.socket, response)
      response.once('close', () => {
        if (this.#busy.get(request.socket) === response) this.#busy.delete(request.socket)
      })
    })
  }

  /** Opens the port, 0 for a free one, and returns its number. */
  async open(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      const fail = (cause: NodeJS.ErrnoException) => {
        const why =
          cause.code === 'EADDRINUSE' ? 'it is taken. Choose another port, or 0 for a free one' : cause.message
        reject(new Error(`Cannot listen on ${this.#host}, port ${port}: ${why}.`, { cause }))
      }
      this.#server.once('error', fail)
      this.#server.listen(port, this.#host, () => {
        this.#server.off('error', fail)
        resolve()
      })
    })
    this.#port = (this.#server.address() as AddressInfo).port
    return this.#port
  }

  /** Whether only this machine can connect. Known once the port is open. */
  get isLoopback(): boolean {
    return isLoopbackAddress((this.#server.address() as AddressInfo | null)?.address)
  }

  /** Releases the port, and breaks the requests in flight. A completely written response is still sent. */
  goDown(): void {
    clearTimeout(this.#timer)
    if (this.#server.listening) this.#server.close()
    this.#server.closeIdleConnections()
    // The request that asked for this is among them: its response follows within this turn of the event loop.
    setImmediate(() => {
      for (const [socket, response] of this.#busy) if (!response.writableEnded) socket.destroy()
    })
  }

  /** Opens the same port again; retries while it is not free. */
  goUp(): void {
    if (this.#isClosed || this.#server.listening) return
    const again = () => {
      this.#timer = setTimeout(() => this.goUp(), RETRY_MS)
    }
    this.#server.once('error', again)
    this.#server.listen(this.#port, this.#host, () => this.#server.off('error', again))
  }

  /** Closes the port. Resolves when every connection is closed. */
  close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    return new Promise(resolve => this.#server.close(() => resolve()))
  }

  breakAll(): void {
    this.#server.closeAllConnections()
  }
}

/** Breaks the connection of a response, after its written part was sent. */
export function cutAfterAnswer(outgoing: {
  readonly destroyed: boolean
  readonly headersSent: boolean
  readonly socket?: unknown
}): void {
  if (outgoing.destroyed) return
  // The head of the response may not have been written yet.
  if (!outgoing.headersSent) return void setImmediate(() => cutAfterAnswer(outgoing))
  setImmediate(() => (outgoing.socket as Socket | null)?.destroySoon())
}
