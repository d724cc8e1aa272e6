import type { IncomingMessage, Server } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { CLOSE_CODE } from '@aiagent/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { MAX_SOCKET_PAYLOAD } from '../chat/frame-size.ts'
import type { Refusal, Upgrade } from '../chat/socket-end.ts'
import type { Emulator } from '../emulator.ts'
import type { HostCheck } from './host-check.ts'

/** How long a client may take to answer a close before its connection is broken, in milliseconds. */
const CLOSE_PATIENCE_MS = 1000

/** Accepts the chat connections of a real port, with the same handler as those in the process. */
export class SocketServer {
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_SOCKET_PAYLOAD, perMessageDeflate: false })
  readonly #waiting = new Set<Duplex>()

  constructor(server: Server, emulator: () => Emulator | undefined, check: HostCheck) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy())
      const upgrade = check(request) ?? judge(request, emulator())
      if (!('then' in upgrade)) return this.#answer(request, socket, head, upgrade)
      this.#waiting.add(socket)
      void upgrade.then(late => {
        this.#waiting.delete(socket)
        this.#answer(request, socket, head, late)
      })
    })
  }

  /** Breaks the connections that still wait for the response to their upgrade. */
  breakWaiting(): void {
    for (const socket of this.#waiting) socket.destroy()
    this.#waiting.clear()
  }

  /** Waits for closing connections, and breaks those that take too long. */
  async close(): Promise<void> {
    this.breakWaiting()
    const open = [...this.#sockets.clients]
    const gone = Promise.all(open.map(socket => new Promise(resolve => socket.once('close', resolve))))
    const timer = setTimeout(() => {
      for (const socket of open) socket.terminate()
    }, CLOSE_PATIENCE_MS)
    await gone
    clearTimeout(timer)
    this.#sockets.close()
  }

  #answer(request: IncomingMessage, socket: Duplex, head: Buffer, upgrade: Upgrade): void {
    // The client may have disconnected while the response was delayed.
    if (socket.destroyed) return
    if (upgrade.accepted) this.#sockets.handleUpgrade(request, socket, head, opened => connect(opened, upgrade))
    else if (upgrade.status === 0) socket.destroy()
    else refuse(socket, upgrade)
  }
}

function judge(request: IncomingMessage, emulator: Emulator | undefined): Upgrade | Promise<Upgrade> {
  if (!emulator) return { accepted: false, status: 503, code: '503-001', message: 'The service is starting.' }
  let url: URL
  try {
    url = new URL(request.url ?? '/', emulator.origin)
  } catch {
    return { accepted: false, status: 400, code: '400-004', message: 'The address cannot be read.' }
  }
  return emulator.upgrade(url, flatHeaders(request))
}

function connect(socket: WebSocket, upgrade: Extract<Upgrade, { accepted: true }>): void {
  const connection = upgrade.open({
    send: text => socket.send(text),
    // 1005 means "without a code", and is never on the wire.
    close: (code, reason) => (code === CLOSE_CODE.NO_STATUS ? socket.close() : socket.close(code, reason)),
    terminate: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: lost => {
      socket.resume()
      if (!lost) return
      // Data in the system's buffers arrived before the client's answer to this.
      isLosing = true
      socket.once('pong', () => {
        isLosing = false
      })
      socket.ping()
    },
  })
  let isLosing = false
  socket.on('message', (data, isBinary) => {
    if (!isLosing) connection.receive(isBinary ? data : data.toString())
  })
  socket.on('close', () => connection.closed())
  // A broken frame or connection: a close event follows with the relevant data.
  socket.on('error', () => {})
}

function refuse(socket: Duplex, { status, code, message }: Refusal): void {
  const body = JSON.stringify({ code, message })
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'Connection: close',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  )
}

function flatHeaders(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  return headers
}
