import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Environment, WebSocketConstructor } from '@aiagent/client'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import type { Service } from './wire.ts'

const OPEN = 1

/**
 * Counts what an agent holds: sockets, listeners on the page, on signals and on the process, and errors that nobody
 * handled. Sockets are counted as objects in process, and as connections of this process over a port.
 */
export class LeakWatch {
  /** The most sockets that were open, or about to open, at any one time. In process only. */
  mostSockets = 0
  /** Listeners for the page's return. */
  pageListeners = 0
  isPageHidden = false
  readonly unhandled: unknown[] = []
  readonly #sockets: { readonly readyState: number }[] = []
  readonly #connections = new Set<Socket>()
  readonly #signals: AbortSignal[] = []
  readonly #returns = new Set<() => void>()
  readonly #before: number

  constructor() {
    this.#before = processListeners()
    process.on('unhandledRejection', this.#noteUnhandled)
    process.on('uncaughtException', this.#noteUnhandled)
    subscribe('http.client.request.start', this.#noteRequest)
  }

  /** The environment with a socket class that counts. Without one, connections are counted. */
  counting(environment: Partial<Environment>): Partial<Environment> {
    return environment.WebSocket
      ? { ...environment, WebSocket: this.#countedClass(environment.WebSocket) }
      : environment
  }

  /** A page that counts who listens to it. */
  get page(): NonNullable<Environment['page']> {
    return {
      isHidden: () => this.isPageHidden,
      nextTask: callback => void setImmediate(callback),
      addScript: () => {
        throw new Error('No script is expected here.')
      },
      onReturn: listener => {
        this.#returns.add(listener)
        this.pageListeners++
        return () => {
          if (this.#returns.delete(listener)) this.pageListeners--
        }
      },
    }
  }

  /** The page comes back to life. */
  comeBack(): void {
    this.isPageHidden = false
    for (const listener of [...this.#returns]) listener()
  }

  /** A signal for a call, whose listeners are counted. */
  controller(): AbortController {
    const controller = new AbortController()
    this.#signals.push(controller.signal)
    return controller
  }

  get openSockets(): number {
    return this.#sockets.filter(({ readyState }) => readyState <= OPEN).length + this.#connections.size
  }

  /** Fails unless everything was given back. A closed connection may take a turn or two to go. */
  async expectNothingLeft(): Promise<void> {
    if (this.#connections.size > 0) await eventually(() => this.openSockets === 0, 'that no connection is left')
    expect(this.openSockets).toBe(0)
    expect(this.pageListeners).toBe(0)
    expect(this.#signals.flatMap(signal => getEventListeners(signal, 'abort'))).toEqual([])
  }

  /** Takes the watch's own listeners away, and fails when an error went unhandled or a listener stayed. */
  async stop(): Promise<void> {
    // Rejections are reported at the end of a turn.
    await new Promise<void>(resolve => setImmediate(resolve))
    process.off('unhandledRejection', this.#noteUnhandled)
    process.off('uncaughtException', this.#noteUnhandled)
    unsubscribe('http.client.request.start', this.#noteRequest)
    expect(this.unhandled).toEqual([])
    expect(processListeners()).toBe(this.#before)
  }

  readonly #noteUnhandled = (error: unknown) => void this.unhandled.push(error)

  readonly #noteRequest = (message: unknown) => {
    const { request } = message as { request: ClientRequest }
    if (request.getHeader('upgrade') !== 'websocket') return
    if (request.socket) this.#noteConnection(request.socket)
    else request.once('socket', this.#noteConnection)
  }

  readonly #noteConnection = (socket: Socket) => {
    this.#connections.add(socket)
    socket.once('close', () => this.#connections.delete(socket))
  }

  #countedClass(WebSocket: WebSocketConstructor): WebSocketConstructor {
    const note = (socket: { readonly readyState: number }) => {
      this.#sockets.push(socket)
      this.mostSockets = Math.max(this.mostSockets, this.openSockets)
    }
    return class extends WebSocket {
      constructor(url: string) {
        super(url)
        note(this)
      }
    }
  }
}

/** A scenario with an eye on what it leaves behind. */
export const watched =
  (run: (service: Service, watch: LeakWatch) => Promise<void>) =>
  async (service: Service): Promise<void> => {
    const watch = new LeakWatch()
    await run(service, watch).catch(async error => {
      // What stopping finds after a failure is its consequence.
      await watch.stop().catch(() => {})
      throw error
    })
    await watch.stop()
  }

/** Whether a promise has settled, and its error. */
export interface Outcome {
  settled: boolean
  error?: unknown
}

/** Follows a promise to its end. */
export function outcomeOf(promise: Promise<unknown>): Outcome {
  const outcome: Outcome = { settled: false }
  promise.then(
    () => {
      outcome.settled = true
    },
    error => Object.assign(outcome, { settled: true, error }),
  )
  return outcome
}

function processListeners(): number {
  return process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
}
