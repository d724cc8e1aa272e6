import type { SocketConnection, Upgrade } from './socket-end.ts'

/** An event of an emulated socket: the members that the events of a browser's WebSocket have, as far as they are used. */
export interface SocketEvent {
  /** Name of the event. */
  readonly type: 'open' | 'message' | 'close' | 'error'
  /** The socket that emitted it. */
  readonly target: EmulatedSocket
}
/** A received frame. */
export interface SocketMessageEvent extends SocketEvent {
  /** Name of the event. */
  readonly type: 'message'
  /** The text of the frame. */
  readonly data: unknown
}
/** The end of a connection. */
export interface SocketCloseEvent extends SocketEvent {
  /** Name of the event. */
  readonly type: 'close'
  /** Close code; 1006 without a close frame. */
  readonly code: number
  /** Text of the close frame; often empty. */
  readonly reason: string
  /** Whether both sides exchanged close frames. */
  readonly wasClean: boolean
  /** The HTTP status of a rejected upgrade. A browser does not reveal it. */
  readonly httpStatus?: number
}
/** The events of a socket by name. */
export interface SocketEventMap {
  /** The connection is open. */
  open: SocketEvent
  /** A frame arrived. */
  message: SocketMessageEvent
  /** The connection has ended, or could not be opened. The last event. */
  close: SocketCloseEvent
  /** The connection failed; `close` follows. */
  error: SocketEvent
}
type Listener = (event: never) => void
type EventName = keyof SocketEventMap

/** A WebSocket class with connections that end in the same process. */
export type EmulatedSocketClass = new (url: string | URL, protocols?: string | string[]) => EmulatedSocket

const CONNECTING = 0
const OPEN = 1
const CLOSING = 2
const CLOSED = 3

/** Connects to the service, immediately or later: returns the status of a rejection, or the connection. */
export type Approach = (url: URL) => Upgrade | Promise<Upgrade>

/**
 * Looks like a browser's WebSocket; the other end is a service in the same process.
 *
 * Nothing is delivered within the call that caused it. The frames of one direction arrive in order; the close is the
 * last event.
 */
export class EmulatedSocket {
  /** Value of `readyState` before the connection is open. */
  static readonly CONNECTING = CONNECTING
  /** Value of `readyState` while frames can be sent. */
  static readonly OPEN = OPEN
  /** Value of `readyState` during the closing handshake. */
  static readonly CLOSING = CLOSING
  /** Value of `readyState` after the end. */
  static readonly CLOSED = CLOSED
  /** Value of `readyState` before the connection is open. */
  readonly CONNECTING = CONNECTING
  /** Value of `readyState` while frames can be sent. */
  readonly OPEN = OPEN
  /** Value of `readyState` during the closing handshake. */
  readonly CLOSING = CLOSING
  /** Value of `readyState` after the end. */
  readonly CLOSED = CLOSED

  /** The address, with the scheme `ws` or `wss`. */
  readonly url: string
  /** Always empty: the chat has no subprotocols. */
  readonly protocol = ''
  /** Always empty: frames are not compressed. */
  readonly extensions = ''
  /** Accepted and ignored: the service sends text only. */
  binaryType: 'blob' | 'arraybuffer' | 'nodebuffer' | 'fragments' = 'blob'
  /** Called once, when the connection is open. */
  onopen: ((event: SocketEvent) => void) | null = null
  /** Called for each frame of the service. */
  onmessage: ((event: SocketMessageEvent) => void) | null = null
  /** Called once, at the end. */
  onclose: ((event: SocketCloseEvent) => void) | null = null
  /** Called before `onclose` for a connection that failed. */
  onerror: ((event: SocketEvent) => void) | null = null
  /** The HTTP status of a rejected upgrade. */
  httpStatus: number | undefined

  #readyState: 0 | 1 | 2 | 3 = CONNECTING
  #bufferedAmount = 0
  #service: SocketConnection | undefined
  readonly #listeners = new Map<EventName, Map<Listener, boolean>>()
  readonly #toService = new OrderedChannel()
  readonly #toClient = new OrderedChannel()

  /** @throws {SyntaxError} when the address is invalid, or has another scheme than ws, wss, http or https */
  constructor(url: string | URL, approach: Approach) {
    const address = socketAddress(url)
    this.url = address.href
    this.#toClient.add(() => {
      if (this.#readyState !== CONNECTING) return
      const upgrade = approach(address)
      if (!('then' in upgrade)) return this.#enter(upgrade)
      void upgrade.then(late =>
        this.#toClient.add(() => {
          if (this.#readyState === CONNECTING) this.#enter(late)
        }),
      )
    })
  }

  /** State of the connection, as one of the four constants. */
  get readyState(): 0 | 1 | 2 | 3 {
    return this.#readyState
  }

  /** Characters that were sent and have not arrived. */
  get bufferedAmount(): number {
    return this.#bufferedAmount
  }

  /** @throws {Error} named InvalidStateError while the socket is connecting */
  send(data: unknown): void {
    if (this.#readyState === CONNECTING) throw invalidState('The socket is still connecting.')
    const size = sizeOf(data)
    this.#bufferedAmount += size
    // A closing or closed socket drops what it is given; only its buffered amount counts it.
    if (this.#readyState !== OPEN) return
    this.#toService.add(() => {
      this.#bufferedAmount -= size
      this.#service?.receive(data)
    })
  }

  /**
   * Starts the closing handshake; has no effect on a socket that is closing or closed.
   *
   * @throws {Error} named InvalidAccessError for a code that a client may not send: other than 1000 and 3000 to 4999
   */
  close(code = 1005, reason = ''): void {
    if (code !== 1000 && code !== 1005 && !(code >= 3000 && code <= 4999))
      throw Object.assign(new Error('A client may close with 1000, or 3000 to 4999.'), { name: 'InvalidAccessError' })
    if (this.#readyState === CLOSING || this.#readyState === CLOSED) return
    const established = this.#readyState === OPEN
    this.#readyState = CLOSING
    if (!established) {
      this.#toClient.add(() => this.#settle({ code: 1006, reason: '', wasClean: false }, true))
      return
    }
    this.#toService.add(() => this.#service?.close(code, reason))
  }

  /** Adds a listener; one that is added already is not added twice. With `once` it is removed before its first call. */
  addEventListener<K extends EventName>(
    type: K,
    listener: (event: SocketEventMap[K]) => void,
    options?: boolean | { once?: boolean },
  ): void {
    const listeners = this.#listeners.get(type) ?? new Map<Listener, boolean>()
    if (!listeners.has(listener)) listeners.set(listener, typeof options === 'object' && options.once === true)
    this.#listeners.set(type, listeners)
  }

  /** Removes a listener, if it was added. */
  removeEventListener<K extends EventName>(type: K, listener: (event: SocketEventMap[K]) => void): void {
    this.#listeners.get(type)?.delete(listener)
  }

  #enter(upgrade: Upgrade): void {
    if (!upgrade.accepted) {
      const answered = upgrade.status > 0
      if (answered) this.httpStatus = upgrade.status
      const closing = { code: 1006, reason: '', wasClean: false }
      this.#settle(answered ? { ...closing, httpStatus: upgrade.status } : closing, true)
      return
    }
    this.#readyState = OPEN
    this.#dispatch('open', { type: 'open', target: this })
    // A listener may have closed it at once; the service still sees an opening and a close, as over a network.
    this.#service = upgrade.open({
      send: text => this.#toClient.add(() => this.#deliver(text)),
      close: (code, reason) => this.#leaveFromService({ code, reason, wasClean: true }),
      terminate: () => this.#leaveFromService({ code: 1006, reason: '', wasClean: false }),
    })
  }

  #deliver(data: string): void {
    if (this.#readyState === OPEN) this.#dispatch('message', { type: 'message', target: this, data })
  }

  #leaveFromService(closing: Closing): void {
    this.#toClient.add(() => this.#settle(closing))
  }

  #departFromService(): void {
    this.#service?.closed()
    this.#service = undefined
  }

  /** The end of the connection, reached once. */
  #settle(closing: Closing, failed = false): void {
    if (this.#readyState === CLOSED) return
    this.#readyState = CLOSED
    this.#departFromService()
    if (failed) this.#dispatch('error', { type: 'error', target: this })
    this.#dispatch('close', { type: 'close', target: this, ...closing })
  }

  #dispatch<K extends EventName>(type: K, event: SocketEventMap[K]): void {
    const handler = this[`on${type}`] as ((event: SocketEventMap[K]) => void) | null
    if (handler) callSafely(() => handler.call(this, event))
    const listeners = this.#listeners.get(type)
    if (!listeners?.size) return
    for (const [listener, once] of [...listeners]) {
      if (once) listeners.delete(listener)
      callSafely(() => listener.call(this, event as never))
    }
  }
}

type Closing = Pick<SocketCloseEvent, 'code' | 'reason' | 'wasClean' | 'httpStatus'>

/** One direction of a connection: runs the given tasks later, in order, and all pending ones together. */
class OrderedChannel {
  #steps: (() => void)[] = []
  #scheduled = false

  add(step: () => void): void {
    this.#steps.push(step)
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => this.#run())
  }

  #run(): void {
    this.#scheduled = false
    const steps = this.#steps
    this.#steps = []
    for (const step of steps) step()
  }
}

/** The class to use instead of the browser's; all its sockets connect to one service. */
export function createSocketClass(approach: Approach): EmulatedSocketClass {
  return class WebSocket extends EmulatedSocket {
    constructor(url: string | URL) {
      super(url, approach)
    }
  }
}

/** An error of a listener is reported as uncaught, and does not affect the others. */
function callSafely(call: () => void): void {
  try {
    call()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

function socketAddress(url: string | URL): URL {
  let address: URL
  try {
    address = new URL(url)
  } catch (cause) {
    throw new SyntaxError('The address of the socket is not a URL.', { cause })
  }
  if (address.protocol === 'http:') address.protocol = 'ws:'
  if (address.protocol === 'https:') address.protocol = 'wss:'
  if (address.protocol !== 'ws:' && address.protocol !== 'wss:')
    throw new SyntaxError(`A socket cannot have the scheme ${address.protocol}`)
  return address
}

function sizeOf(data: unknown): number {
  if (typeof data === 'string') return data.length
  if (typeof data === 'object' && data !== null) {
    if ('byteLength' in data) return Number(data.byteLength)
    if ('size' in data) return Number(data.size)
  }
  return 0
}

function invalidState(message: string): Error {
  return Object.assign(new Error(message), { name: 'InvalidStateError' })
}
