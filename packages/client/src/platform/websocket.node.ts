import type { Socket } from 'node:net'
import { nextTick } from 'node:process'
import { setImmediate } from 'node:timers'
import { type RawData, WebSocket as WsSocket } from 'ws'
import type { SocketCloseEvent, WebSocketConstructor, WebSocketLike, WebSocketOptions } from './environment.ts'
import { FRAME_TOO_LARGE_CODE, FRAME_TOO_LARGE_REASON, MAX_FRAME_LENGTH } from './frame-limit.ts'

/**
 * Settings of every socket. A peer that never answers our close frame is cut off after two seconds: the default of thirty
 * would hold the process for as long. Named apart from its use because the published types do not know `closeTimeout`.
 */
const OPTIONS = { perMessageDeflate: false, closeTimeout: 2_000 }

/**
 * How many frames leave in one write, so that a long burst is not all held back until the turn ends. Between 16 and 256
 * no number was clearly the best; see docs/performance.md.
 */
const FRAMES_PER_WRITE = 64

/**
 * How many frames are told in one go. A burst arrives as whole chunks of the network, thousands of frames each, and `ws`
 * tells them all without a pause: timers and other sockets would wait for as long as the listeners need for all of them.
 */
const FRAMES_PER_TURN = 128

/**
 * A `ws` socket in the shape of the browser's, as far as the library uses it.
 *
 * Text arrives as a string, anything else as it is. Every socket ends with exactly one close event, also when the upgrade
 * was refused (with the status in `httpStatus`) or the host does not exist. Frames that are sent within one turn of the
 * event loop leave together, in few writes. Frames that arrive together are told in slices, between which the event loop
 * turns; while some wait, no more are read.
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
  /** Frames told since the event loop was last given a turn. */
  #told = 0
  /** Frames that wait for their turn, in order, and the close behind them. */
  #late: unknown[] | undefined
  #lateClose: SocketCloseEvent | undefined

  constructor(url: string, options?: WebSocketOptions) {
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
    socket.on('open', () => call(this.onopen, {}))
    socket.on('message', (data: RawData, isBinary: boolean) => this.#arrived(isBinary ? data : data.toString()))
    let isTooLarge = false
    socket.on('error', (error: Error & { code?: unknown }) => {
      isTooLarge ||= error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
      call(this.onerror, { error, message: error.message })
    })
    socket.on('close', (code, reason) => {
      const event: SocketCloseEvent & { wasClean: boolean } = {
        code: isTooLarge ? FRAME_TOO_LARGE_CODE : code,
        reason: isTooLarge ? FRAME_TOO_LARGE_REASON : reason.toString(),
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

  #arrived(data: unknown): void {
    if (this.#late) {
      this.#late.push(data)
      return
    }
    // Counted without a look at the clock: a pause that was not needed costs one turn of the loop.
    if (++this.#told >= FRAMES_PER_TURN) {
      this.#late = []
      this.#socket.pause()
      setImmediate(() => this.#goOn(0))
    }
    call(this.onmessage, { data })
  }

  /** Tells the next slice of what waits, from a place in the list; when nothing is left, reads on. */
  #goOn(from: number): void {
    const late = this.#late ?? []
    let next = from
    try {
      for (const to = from + FRAMES_PER_TURN; next < to && next < late.length; ) {
        call(this.onmessage, { data: late[next++] })
      }
    } finally {
      // Also when a listener threw: what is behind must not wait for ever.
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

/** Handlers take any event, as those of a browser's socket do; each of them knows which one it gets. */
function call(handler: WebSocketLike['onopen'], event: object): void {
  ;(handler as ((event: object) => unknown) | null)?.(event)
}

export const WebSocketImplementation: WebSocketConstructor = NodeWebSocket
