import type { Socket } from 'node:net'
import { nextTick } from 'node:process'
import { setImmediate } from 'node:timers'
import { type RawData, WebSocket as WsSocket } from 'ws'
import type { SocketCloseEvent, WebSocketConstructor, WebSocketLike, WebSocketOptions } from './environment.ts'
import { FRAME_TOO_LARGE_CODE, FRAME_TOO_LARGE_REASON, MAX_FRAME_LENGTH } from './frame-limit.ts'
import { DEAD_CONNECTION_REASON, PING_INTERVAL_MS } from './socket-pings.ts'

/**
 * Settings of every socket. A peer that never answers our close frame is disconnected after two seconds: the default of
 * thirty would keep the process alive as long. A separate constant because the published types do not know
 * `closeTimeout`.
 */
const OPTIONS = { perMessageDeflate: false, closeTimeout: 2_000 }

/**
 * How many frames are sent in one write, so that a long burst is not held back until the turn ends. No number between
 * 16 and 256 was clearly the best; see docs/performance.md.
 */
const FRAMES_PER_WRITE = 64

/**
 * How many frames are delivered in one slice. A burst arrives as whole network chunks, thousands of frames each, and
 * `ws` delivers them without a pause. Timers and other sockets would wait until the listeners have handled all of them.
 */
const FRAMES_PER_TURN = 128

/** Options of `ws`, and the library's own. */
interface NodeWebSocketOptions extends WebSocketOptions {
  readonly pingIntervalMs?: number
}

/**
 * A `ws` socket in the shape of the browser's, as far as the library uses it.
 *
 * Text arrives as a string, anything else unchanged. Every socket ends with exactly one close event, also when the
 * upgrade was rejected (with the status in `httpStatus`) or the host does not exist. Frames sent within one turn of the
 * event loop are written together. Frames that arrive together are delivered in slices, with a turn of the event loop
 * between them; while some are pending, no more are read.
 */
class NodeWebSocket implements WebSocketLike {
  onopen: WebSocketLike['onopen'] = null
  onmessage: WebSocketLike['onmessage'] = null
  onclose: WebSocketLike['onclose'] = null
  onerror: WebSocketLike['onerror'] = null
  readonly #socket: WsSocket
  #net: Socket | undefined
  /** Frames held back in this turn of the event loop. */
  #held = 0
  /** Frames delivered since the last turn of the event loop. */
  #told = 0
  /** Frames that are not delivered yet, in order, and the close after them. */
  #late: unknown[] | undefined
  #lateClose: SocketCloseEvent | undefined

  /** Whether something arrived since the last ping. */
  #hasHeard = true
  #isDead = false

  constructor(url: string, { pingIntervalMs = PING_INTERVAL_MS, ...options }: NodeWebSocketOptions = {}) {
    // The limit is read here, not at the top: in the built package its module may load after this one.
    const socket = new WsSocket(url, { ...OPTIONS, maxPayload: MAX_FRAME_LENGTH, ...options })
    this.#socket = socket
    let httpStatus: number | undefined
    socket.on('upgrade', response => {
      this.#net = response.socket
    })
    socket.on('unexpected-response', (_request, response) => {
      httpStatus = response.statusCode
      socket.terminate()
    })
    let pings: ReturnType<typeof setInterval> | undefined
    socket.on('open', () => {
      if (pingIntervalMs > 0) pings = setInterval(() => this.#checkAlive(), pingIntervalMs).unref()
      call(this.onopen, {})
    })
    socket.on('pong', () => {
      this.#hasHeard = true
    })
    socket.on('message', (data: RawData, isBinary: boolean) => this.#arrived(isBinary ? data : data.toString()))
    let isTooLarge = false
    socket.on('error', (error: Error & { code?: unknown }) => {
      isTooLarge ||= error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
      call(this.onerror, { error, message: error.message })
    })
    socket.on('close', (code, reason) => {
      clearInterval(pings)
      const event: SocketCloseEvent & { wasClean: boolean } = {
        code: isTooLarge ? FRAME_TOO_LARGE_CODE : code,
        reason: isTooLarge ? FRAME_TOO_LARGE_REASON : this.#isDead ? DEAD_CONNECTION_REASON : reason.toString(),
        wasClean: code !== 1006,
        httpStatus,
      }
      if (this.#late) this.#lateClose = event
      else call(this.onclose, event)
    })
  }

  get readyState(): number {
    return this.#socket.readyState
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount
  }

  send(data: string): void {
    const net = this.#net
    if (net && this.#held++ === 0) {
      net.cork()
      nextTick(() => {
        this.#held = 0
        net.uncork()
      })
    }
    this.#socket.send(data)
    if (net && this.#held > FRAMES_PER_WRITE) {
      this.#held = 1
      net.uncork()
      net.cork()
    }
  }

  close(code?: number, reason?: string): void {
    this.#socket.close(code, reason)
  }

  /** Pings the peer, and ends a connection on which nothing has arrived since the last ping. */
  #checkAlive(): void {
    // A peer whose frames are not read at the moment has no way to answer.
    if (this.#hasHeard || this.#late) {
      this.#hasHeard = false
      if (this.#socket.readyState === WsSocket.OPEN) this.#socket.ping()
      return
    }
    // After a pause of the process its timers run before it reads what has arrived.
    setImmediate(() =>
      setImmediate(() => {
        if (this.#hasHeard) return
        this.#isDead = true
        this.#socket.terminate()
      }),
    )
  }

  #arrived(data: unknown): void {
    this.#hasHeard = true
    if (this.#late) {
      this.#late.push(data)
      return
    }
    // Counted without reading the clock: an unnecessary pause costs one turn of the loop.
    if (++this.#told >= FRAMES_PER_TURN) {
      this.#late = []
      this.#socket.pause()
      setImmediate(() => this.#goOn(0))
    }
    call(this.onmessage, { data })
  }

  /** Delivers the next slice of pending frames, from an index; when none is left, resumes reading. */
  #goOn(from: number): void {
    const late = this.#late ?? []
    let next = from
    try {
      for (const to = from + FRAMES_PER_TURN; next < to && next < late.length; ) {
        call(this.onmessage, { data: late[next++] })
      }
    } finally {
      // Also when a listener threw: the remaining frames must still be delivered.
      if (next < late.length) setImmediate(() => this.#goOn(next))
      else this.#readOn()
    }
  }

  #readOn(): void {
    this.#late = undefined
    this.#told = 0
    this.#socket.resume()
    const event = this.#lateClose
    this.#lateClose = undefined
    if (event) call(this.onclose, event)
  }
}

/** Handlers accept any event, like those of a browser's socket; each knows which type it receives. */
function call(handler: WebSocketLike['onopen'], event: object): void {
  ;(handler as ((event: object) => unknown) | null)?.(event)
}

export const WebSocketImplementation: WebSocketConstructor = NodeWebSocket
