import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { isLoopbackAddress } from '../control/access.ts'

/** Time between attempts to get the port back, in milliseconds: another program may have taken it. */
const RETRY_MS = 100

/** Owns the port of a server: takes it, gives it up for a restart, and takes it again. */
export class Listener {
  readonly #server: Server
  readonly #host: string
  /** The connections that carry requests now, with the latest answer of each. */
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

  /** Takes the port, 0 for a free one, and returns which. */
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

  /** Gives the port up, and breaks the requests in work. An answer that is all written gets out. */
  goDown(): void {
    clearTimeout(this.#timer)
    if (this.#server.listening) this.#server.close()
    this.#server.closeIdleConnections()
    // The request that asked for this is among them: its answer comes within this turn of the event loop.
    setImmediate(() => {
      for (const [socket, response] of this.#busy) if (!response.writableEnded) socket.destroy()
    })
  }

  /** Takes the same port again; goes on trying when it is not free. */
  goUp(): void {
    if (this.#isClosed || this.#server.listening) return
    const again = () => {
      this.#timer = setTimeout(() => this.goUp(), RETRY_MS)
    }
    this.#server.once('error', again)
    this.#server.listen(this.#port, this.#host, () => this.#server.off('error', again))
  }

  /** Gives the port up for good. Resolves when every connection is gone. */
  close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    return new Promise(resolve => this.#server.close(() => resolve()))
  }

  breakAll(): void {
    this.#server.closeAllConnections()
  }
}

/** Breaks the connection of an answer, once what was written of it is out. */
export function cutAfterAnswer(outgoing: {
  readonly destroyed: boolean
  readonly headersSent: boolean
  readonly socket?: unknown
}): void {
  if (outgoing.destroyed) return
  // The head of the answer may not have been written yet.
  if (!outgoing.headersSent) return void setImmediate(() => cutAfterAnswer(outgoing))
  setImmediate(() => (outgoing.socket as Socket | null)?.destroySoon())
}
