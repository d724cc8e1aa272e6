import type { CacheAdapter } from '../storage/cache-adapter.ts'
import type { Clock } from './clock.ts'
import type { Page } from './page.ts'

/** The part of the browser's Storage that the library uses. */
export type StorageLike = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/** The part of a WebSocket that the library uses. Handlers are properties, since that is the fastest way in every runtime. */
export interface WebSocketLike {
  /** 1 while the socket is open, as everywhere. */
  readonly readyState: number
  /** Bytes that were written and have not left yet. */
  readonly bufferedAmount: number
  onopen: ((event: never) => unknown) | null
  onmessage: ((event: never) => unknown) | null
  onclose: ((event: never) => unknown) | null
  onerror: ((event: never) => unknown) | null
  /** Writes a text frame. */
  send(data: string): void
  /** Begins the closing; the library sends 1000 as a rule. */
  close(code?: number, reason?: string): void
}

/** What a close event tells. `httpStatus` is known where the runtime tells how an upgrade was refused (not in browsers). */
export interface SocketCloseEvent {
  /** Close code, as the protocol lists them. */
  code: number
  reason: string
  httpStatus?: number | undefined
}

/** The class whose sockets chats run over: the platform's, or one that does the same. */
export type WebSocketConstructor = new (url: string) => WebSocketLike

/**
 * Options of the package `ws` for the chat's sockets on Node, such as `agent` (a proxy), `ca` (a certificate authority) or
 * `headers`. Browsers have none.
 */
export type WebSocketOptions = Readonly<Record<string, unknown>>

/** Where log entries are printed. */
export type ConsoleSink = Pick<Console, 'debug' | 'info' | 'warn' | 'error'>

/**
 * Everything the library takes from the platform. The second argument of `AiAgent` replaces any part of it.
 *
 * A test passes the emulator's `fetch` and `WebSocket` and a clock of its own; a host may pass a `fetch` with a proxy.
 */
export interface Environment {
  /** As the platform has it; always called with an address as text. */
  fetch(input: string, init?: RequestInit): Promise<Response>
  /** The class of the chat's sockets. */
  readonly WebSocket: WebSocketConstructor
  /** Options for the sockets of the platform's own class; a class of the host's needs none. @default none */
  readonly webSocketOptions?: WebSocketOptions | undefined
  /** Time and timers. */
  readonly clock: Clock
  /** A number from 0 (included) to 1 (excluded), as `Math.random`. */
  random(): number
  /** A UUID of version 4, as `crypto.randomUUID`. */
  randomUUID(): string
  /** Where log entries are printed. */
  readonly console: ConsoleSink
  /** The tab's store; absent outside a browser and where the browser forbids it. */
  readonly sessionStorage?: StorageLike | undefined
  /** The origin's store; absent likewise. */
  readonly localStorage?: StorageLike | undefined
  /** The page; absent outside a browser. */
  readonly page?: Page | undefined
  /** The global object, in which scripts leave what they offer. */
  readonly globals: object
  /** Loads a module by its address at run time, for scripts of others where there is no page. */
  importModule(url: string): Promise<unknown>
  /** What stands in for an absent store. By default one for all agents of the process, as a tab would have. */
  readonly memory: CacheAdapter
}
