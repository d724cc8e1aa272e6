import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { nextTick } from 'node:process'
import { type RawData, WebSocket as WsSocket } from 'ws'
import type { SocketCloseEvent, WebSocketConstructor, WebSocketLike, WebSocketOptions } from './environment.ts'
import { explainCode, explainStatus } from './error-code.ts'
import { FRAME_TOO_LARGE_CODE, FRAME_TOO_LARGE_REASON, MAX_FRAME_LENGTH } from './frame-limit.ts'
import { PingWatch } from './ping-watch.node.ts'
import { callListener, SlicedDelivery } from './sliced-delivery.node.ts'
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
