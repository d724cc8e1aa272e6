import type { CacheAdapter } from './cache-adapter.ts'
import type { Clock } from './clock.ts'
import type { Page } from './page.ts'

/** The part of the browser's Storage that the library uses. */
export type StorageLike = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/** The part of a WebSocket that the library uses. Handlers are properties, since that is the fastest way in every runtime. */
export interface WebSocketLike {
  readonly readyState: number
  readonly bufferedAmount: number
  onopen: ((event: never) => unknown) | null
  onmessage: ((event: never) => unknown) | null
  onclose: ((event: never) => unknown) | null
  onerror: ((event: never) => unknown) | null
  send(data: string): void
  close(code?: number, reason?: string): void
}

/** What a close event tells. `httpStatus` is known where the runtime tells how an upgrade was refused (not in browsers). */
export interface SocketCloseEvent {
  code: number
  reason: string
  httpStatus?: number | undefined
}

export type WebSocketConstructor = new (url: string) => WebSocketLike

/** Where log entries are printed. */
export type ConsoleSink = Pick<Console, 'debug' | 'info' | 'warn' | 'error'>

/**
 * Everything the library takes from the platform. The second argument of `AiAgent` replaces any part of it.
 *
 * A test passes the emulator's `fetch` and `WebSocket` and a clock of its own; a host may pass a `fetch` with a proxy.
 */
export interface Environment {
  fetch(input: string, init?: RequestInit): Promise<Response>
  readonly WebSocket: WebSocketConstructor
  readonly clock: Clock
  /** A number from 0 (included) to 1 (excluded), as `Math.random`. */
  random(): number
  randomUUID(): string
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
