import type { ConsoleSink } from '../logger.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import type { Page } from './page.ts'

/** The part of the browser's Storage that the library uses. */
export interface StorageLike {
  /** Number of keys. */
  readonly length: number
  /** The value of a key, or null. A forbidden storage may throw; it then counts as empty. */
  getItem(key: string): string | null
  /** Stores a value. A full or forbidden storage may throw; the value is then not stored. */
  setItem(key: string, value: string): void
  /** Removes a key, if it exists. */
  removeItem(key: string): void
  /** The key at an index, in the order of the storage. */
  key(index: number): string | null
}

/** The part of a WebSocket that the library uses. Handlers are properties, since that is fastest in every runtime. */
export interface WebSocketLike {
  /** 1 while the socket is open. */
  readonly readyState: number
  /** Bytes that are queued and not sent yet. */
  readonly bufferedAmount: number
  /** Called once, when the connection is open. */
  onopen: ((event: never) => unknown) | null
  /** Called for each received frame, with its text in `data`. */
  onmessage: ((event: never) => unknown) | null
  /** Called once, when the connection has ended or could not be opened, with a {@link SocketCloseEvent}. */
  onclose: ((event: never) => unknown) | null
  /** Called before `onclose` for a connection that failed. The library reads nothing of its event. */
  onerror: ((event: never) => unknown) | null
  /** Writes a text frame. */
  send(data: string): void
  /** Starts the closing handshake; the library usually sends 1000. */
  close(code?: number, reason?: string): void
}

/**
 * The part of a close event that the library uses. Browsers reveal nothing of a failed opening but a code.
 */
export interface SocketCloseEvent {
  /** Close code, as listed in the protocol. */
  code: number
  /** The text of the close frame; often empty. */
  reason: string
  /** HTTP status of a rejected upgrade. Absent in browsers. */
  httpStatus?: number | undefined
  /** The header `Retry-After` of a rejected upgrade. Absent in browsers. */
  retryAfter?: string | undefined
  /** The header `Date` of a rejected upgrade. Absent in browsers. */
  date?: string | undefined
  /** Why the chat could not be opened. Absent in browsers. */
  error?: Error | undefined
  /** The same as the rest of a sentence. Absent in browsers. */
  why?: string | undefined
}

/** The WebSocket class for chats: the platform's, or a compatible one. */
export type WebSocketConstructor = (new (
  url: string,
) => WebSocketLike) & {
  /** Whether close events have the status of each rejected upgrade, so that one without a status was not rejected. @default false */
  readonly revealsStatus?: boolean | undefined
}

/**
 * Options of the package `ws` for the chat's sockets on Node, such as `agent` (a proxy), `ca` (a certificate authority)
 * or `headers`. Not used in browsers.
 *
 * `pingIntervalMs` is the library's own: the time between two pings, in milliseconds. A connection on which nothing has
 * arrived from one ping to the next is replaced, so after at most twice this time. The default is 9,000; 0 sends no pings.
 */
export type WebSocketOptions = Readonly<Record<string, unknown>>

/**
 * All dependencies of the library on the platform. The second argument of `AiAgent` replaces any part of it.
 *
 * A test passes the emulator's `fetch` and `WebSocket` and its own clock; a host may pass a `fetch` with a proxy.
 */
export interface Environment {
  /** The `fetch` function; always called with the address as a string. */
  fetch(input: string, init?: RequestInit): Promise<Response>
  /** The WebSocket class of the chat. */
  readonly WebSocket: WebSocketConstructor
  /** Options for sockets of the platform's own class; not used with a custom class. @default none */
  readonly webSocketOptions?: WebSocketOptions | undefined
  /** Time and timers. */
  readonly clock: Clock
  /** A number from 0 (included) to 1 (excluded), as `Math.random`. */
  random(): number
  /** A UUID of version 4, as `crypto.randomUUID`. */
  randomUUID(): string
  /** Output for log entries. */
  readonly console: ConsoleSink
  /** The session storage of the tab; absent outside a browser and if the browser forbids it. */
  readonly sessionStorage?: StorageLike | undefined
  /** The local storage of the origin; absent outside a browser and if the browser forbids it. */
  readonly localStorage?: StorageLike | undefined
  /** The page; absent outside a browser. */
  readonly page?: Page | undefined
  /** The global object, in which scripts store what they provide. */
  readonly globals: object
  /** Imports a module by its address at run time, for connector scripts where there is no page. */
  importModule(url: string): Promise<unknown>
  /** Used instead of an absent store. By default, one for all agents of the process, like a tab's. */
  readonly memory: CacheAdapter
}

/** Time and timers. Tests pass a clock that they advance manually. */
export interface Clock {
  /** Wall clock, in milliseconds since the epoch. Only for timestamps and token expiry: it may be set back. */
  now(): number
  /** Milliseconds since a fixed time. Never goes back, so waits and time limits use it. */
  monotonic(): number
  /**
   * Runs a callback once, after a delay in milliseconds. A delay above 2^31-1 is reduced to that, the maximum of the
   * platform's timers.
   *
   * A `background` timer keeps neither a Node process alive nor an Angular application unstable.
   */
  setTimeout(callback: () => void, delayMs: number, options?: { background?: boolean }): unknown
  /** Cancels a timer by the handle from {@link setTimeout}. Does nothing for a timer that has fired. */
  clearTimeout(handle: unknown): void
}

/** A UUID of version 4 from 16 random bytes, which it changes. */
export function uuidOf(bytes: Uint8Array): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
