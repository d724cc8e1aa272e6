import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** A chat address that sends a burst of frames to each client. */
export interface BurstServer {
  readonly url: string
  close(): Promise<void>
}

export interface Burst {
  /** Payload of every frame. */
  readonly payload: string
  readonly times: number
  /** Sends binary frames rather than text. @default false */
  readonly binary?: boolean
}

/**
 * Sends one burst, in a single write, to every WebSocket that opens.
 *
 * Runs in a separate thread with the bytes prepared, so that the receiving thread spends its time on receiving only.
 */
export async function serveBurst(burst: Burst): Promise<BurstServer> {
  const worker = new Worker(SCRIPT, { eval: true, workerData: burst })
  const [port] = (await once(worker, 'message')) as [number]
  return { url: `ws://127.0.0.1:${port}`, close: async () => void (await worker.terminate()) }
}

const SCRIPT = `
const { createHash } = require('node:crypto')
const { createServer } = require('node:http')
const { parentPort, workerData } = require('node:worker_threads')

const payload = Buffer.from(workerData.payload)
const start = workerData.binary ? 0x82 : 0x81
const head = payload.length < 126
  ? Buffer.from([start, payload.length])
  : Buffer.from([start, 126, payload.length >> 8, payload.length & 255])
const burst = Buffer.concat(Array(workerData.times).fill(Buffer.concat([head, payload])))
const server = createServer()
server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1')
    .update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11')
    .digest('base64')
  socket.on('error', () => {})
  socket.on('data', () => {})
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Accept: ' + accept]
  socket.write(lines.join('\\r\\n') + '\\r\\n\\r\\n')
  socket.write(burst)
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`
