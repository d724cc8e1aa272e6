import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { nextTick } from 'node:process'
import { clearInterval, setImmediate, setInterval } from 'node:timers'
import { type RawData, WebSocket as WsSocket } from 'ws'
import type { SocketCloseEvent, WebSocketConstructor, WebSocketLike, WebSocketOptions } from './environment.ts'
import { explainCode, explainStatus } from './error-code.ts'
import {
  DEAD_CONNECTION_REASON,
  FRAME_TOO_LARGE_CODE,
  FRAME_TOO_LARGE_REASON,
  MAX_FRAME_LENGTH,
  PING_INTERVAL_MS,
} from './socket-limits.ts'

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

/** Options of `ws`, and the library's own. */
interface NodeWebSocketOptions extends WebSocketOptions {
  readonly pingIntervalMs?: number
}

/** A socket that knows the object which reports its events. */
class OwnedSocket extends WsSocket {
  declare owner: NodeWebSocket
}

function ownerOf(socket: WsSocket): NodeWebSocket {
  return (socket as OwnedSocket).owner
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
  static readonly revealsStatus = true
  onopen: WebSocketLike['onopen'] = null
  onmessage: WebSocketLike['onmessage'] = null
  onclose: WebSocketLike['onclose'] = null
  onerror: WebSocketLike['onerror'] = null
  readonly #socket: WsSocket
  readonly #delivery: SlicedDelivery
  readonly #pings: PingWatch
  readonly #pingIntervalMs: number
  /** What an error says of the end. */
  #failure: Partial<SocketCloseEvent> | undefined
  #isTooLarge = false
  #net: Socket | undefined
  /** Frames held back in this turn of the event loop. */
  #held = 0

  constructor(url: string, { pingIntervalMs = PING_INTERVAL_MS, ...options }: NodeWebSocketOptions = {}) {
    // The limit is read here, not at the top: in the built package its module may load after this one.
    const socket = new OwnedSocket(url, { ...OPTIONS, maxPayload: MAX_FRAME_LENGTH, ...options })
    socket.owner = this
    this.#pingIntervalMs = pingIntervalMs
    this.#socket = socket
    this.#delivery = new SlicedDelivery(socket, this)
    this.#pings = new PingWatch(socket, this.#delivery)
    // Static functions, which all sockets share: closures would cost each socket half a kilobyte.
    socket.on('upgrade', NodeWebSocket.#onUpgrade)
    socket.on('unexpected-response', NodeWebSocket.#onRefused)
    socket.on('open', NodeWebSocket.#onOpen)
    socket.on('pong', NodeWebSocket.#onPong)
    socket.on('message', NodeWebSocket.#onMessage)
    socket.on('error', NodeWebSocket.#onError)
    socket.on('close', NodeWebSocket.#onClose)
  }

  static #onUpgrade(this: WsSocket, { socket }: IncomingMessage): void {
    ownerOf(this).#net = socket
  }

  static #onRefused(this: WsSocket, _request: unknown, { statusCode, headers }: IncomingMessage): void {
    const { date, 'retry-after': retryAfter } = headers
    ownerOf(this).#failure = { httpStatus: statusCode, retryAfter, date, why: explainStatus(statusCode) }
    this.terminate()
  }

  static #onOpen(this: WsSocket): void {
    const owner = ownerOf(this)
    owner.#pings.start(owner.#pingIntervalMs)
    callListener(owner.onopen, {})
  }

  static #onPong(this: WsSocket): void {
    ownerOf(this).#pings.handleSign()
  }

  static #onMessage(this: WsSocket, data: RawData, isBinary: boolean): void {
    const owner = ownerOf(this)
    owner.#pings.handleSign()
    owner.#delivery.deliver(isBinary ? data : data.toString())
  }

  static #onError(this: WsSocket, error: Error & { code?: unknown }): void {
    const owner = ownerOf(this)
    owner.#isTooLarge ||= error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    owner.#failure ??= { error, why: explainCode(new URL(this.url), error) }
    callListener(owner.onerror, { error, message: error.message })
  }

  static #onClose(this: WsSocket, code: number, reason: Buffer): void {
    const owner = ownerOf(this)
    owner.#pings.stop()
    const event: SocketCloseEvent & { wasClean: boolean } = {
      code: owner.#isTooLarge ? FRAME_TOO_LARGE_CODE : code,
      reason: owner.#isTooLarge
        ? FRAME_TOO_LARGE_REASON
        : owner.#pings.isDead
          ? DEAD_CONNECTION_REASON
          : reason.toString(),
      wasClean: code !== 1006,
      httpStatus: undefined,
      ...owner.#failure,
    }
    owner.#delivery.close(event)
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
}

/** The global WebSocket when this file was loaded: Node's own, or none before Node 22. */
const GIVEN_WEB_SOCKET: unknown = globalThis.WebSocket

/**
 * A socket of the package `ws`, unless the global WebSocket was replaced since this file was loaded: a test, or a tool that
 * intercepts the network, has then installed its own class, which is used as in a page.
 *
 * A constructor may return another object, so the caller receives the socket itself, without a wrapper.
 */
export const WebSocketImplementation = function openOnNode(url: string, options?: NodeWebSocketOptions): WebSocketLike {
  const { WebSocket } = globalThis
  return typeof WebSocket === 'function' && WebSocket !== GIVEN_WEB_SOCKET
    ? new WebSocket(url)
    : new NodeWebSocket(url, options)
} as unknown as WebSocketConstructor

/** Pings the peer of a socket regularly, and ends a connection on which nothing has arrived since the last ping. */
export class PingWatch {
  readonly #socket: WsSocket
  readonly #delivery: SlicedDelivery
  /** Whether something arrived since the last ping. */
  #hasHeard = true
  #isDead = false
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(socket: WsSocket, delivery: SlicedDelivery) {
    this.#socket = socket
    this.#delivery = delivery
  }

  /** Whether the connection was ended because nothing arrived. */
  get isDead(): boolean {
    return this.#isDead
  }

  /** @param intervalMs time between two pings, in milliseconds; 0 for none */
  start(intervalMs: number): void {
    // A static function, which all sockets share: a closure would cost each socket memory.
    if (intervalMs > 0) this.#timer = setInterval(PingWatch.#check, intervalMs, this).unref()
  }

  /** Something has arrived. */
  handleSign(): void {
    this.#hasHeard = true
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  static #check(watch: PingWatch): void {
    watch.#checkAlive()
  }

  #checkAlive(): void {
    // A peer whose frames are not read at the moment has no way to answer.
    if (this.#hasHeard || this.#delivery.isPaused) {
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
}

/**
 * How many frames are delivered in one slice. A burst arrives as whole network chunks, thousands of frames each, and
 * `ws` delivers them without a pause. Timers and other sockets would wait until the listeners have handled all of them.
 */
const FRAMES_PER_TURN = 128

/**
 * Delivers what a socket receives to its listeners in slices, with a turn of the event loop between them. While some
 * frames are pending, no more are read, and the close waits for the last of them.
 */
export class SlicedDelivery {
  readonly #socket: WsSocket
  readonly #listeners: WebSocketLike
  /** Frames delivered since the last turn of the event loop. */
  #delivered = 0
  /** Frames that are not delivered yet, in order, and the close after them. */
  #pending: unknown[] | undefined
  #close: SocketCloseEvent | undefined

  constructor(socket: WsSocket, listeners: WebSocketLike) {
    this.#socket = socket
    this.#listeners = listeners
  }

  /** Whether frames are pending, so that no more are read. */
  get isPaused(): boolean {
    return this.#pending !== undefined
  }

  /** Delivers a frame, at once or after those that are pending. */
  deliver(data: unknown): void {
    if (this.#pending) {
      this.#pending.push(data)
      return
    }
    // Counted without reading the clock: an unnecessary pause costs one turn of the loop.
    if (++this.#delivered >= FRAMES_PER_TURN) {
      this.#pending = []
      this.#socket.pause()
      setImmediate(() => this.#deliverSlice(0))
    }
    try {
      callListener(this.#listeners.onmessage, { data })
    } catch (error) {
      // Thrown from here, it would stop the receiver of `ws` for good.
      setImmediate(() => {
        throw error
      })
    }
  }

  /** Reports the close, after the frames that are pending. */
  close(event: SocketCloseEvent): void {
    if (this.#pending) this.#close = event
    else callListener(this.#listeners.onclose, event)
  }

  /** Delivers the next slice of pending frames, from an index; when none is left, resumes reading. */
  #deliverSlice(from: number): void {
    const pending = this.#pending ?? []
    let next = from
    try {
      for (const to = from + FRAMES_PER_TURN; next < to && next < pending.length; ) {
        callListener(this.#listeners.onmessage, { data: pending[next++] })
      }
    } finally {
      // Also when a listener threw: the remaining frames must still be delivered.
      if (next < pending.length) setImmediate(() => this.#deliverSlice(next))
      else this.#resume()
    }
  }

  #resume(): void {
    this.#pending = undefined
    this.#delivered = 0
    this.#socket.resume()
    const event = this.#close
    this.#close = undefined
    if (event) callListener(this.#listeners.onclose, event)
  }
}

/** Listeners accept any event, like those of a browser's socket; each knows which type it receives. */
export function callListener(listener: WebSocketLike['onopen'], event: object): void {
  ;(listener as ((event: object) => unknown) | null)?.(event)
}
