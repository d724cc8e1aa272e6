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
 * Counts the resources of an agent: sockets, listeners on the page, on signals and on the process, and unhandled errors.
 * Sockets are counted as objects in process, and as connections of this process over a port.
 */
export class LeakWatch {
  /** Highest number of sockets that were open or opening at the same time. In process only. */
  mostSockets = 0
  /** Number of listeners for `pageshow`, visibility and network. */
  pageListeners = 0
  readonly unhandled: unknown[] = []
  readonly #sockets: { readonly readyState: number }[] = []
  readonly #connections = new Set<Socket>()
  readonly #signals: AbortSignal[] = []
  readonly #returns = new Set<(awayMs: number) => void>()
  readonly #before: number

  constructor() {
    this.#before = processListeners()
    process.on('unhandledRejection', this.#noteUnhandled)
    process.on('uncaughtException', this.#noteUnhandled)
    subscribe('http.client.request.start', this.#noteRequest)
  }

  /** The environment with a counting socket class. Without one, connections are counted. */
  counting(environment: Partial<Environment>): Partial<Environment> {
    return environment.WebSocket
      ? { ...environment, WebSocket: this.#countedClass(environment.WebSocket) }
      : environment
  }

  /** A page that counts its listeners. */
  get page(): NonNullable<Environment['page']> {
    return {
      isHidden: () => false,
      nextTask: callback => void setImmediate(callback),
      addScript: () => {
        throw new Error('This page cannot load scripts.')
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

  /** Creates a signal whose listeners are counted. */
  controller(): AbortController {
    const controller = new AbortController()
    this.#signals.push(controller.signal)
    return controller
  }

  get openSockets(): number {
    return this.#sockets.filter(({ readyState }) => readyState <= OPEN).length + this.#connections.size
  }

  /** Fails unless everything was released. A closed connection may take a few turns of the event loop. */
  async expectNothingLeft(): Promise<void> {
    if (this.#connections.size > 0) await eventually(() => this.openSockets === 0, 'no connection is left')
    expect(this.openSockets).toBe(0)
    expect(this.pageListeners).toBe(0)
    expect(this.#signals.flatMap(signal => getEventListeners(signal, 'abort'))).toEqual([])
  }

  /** Removes its own listeners; fails if an error was unhandled or a listener remained. */
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

/** Runs a scenario and checks that it leaves nothing behind. */
export const watched =
  (run: (service: Service, watch: LeakWatch) => Promise<void>) =>
  async (service: Service): Promise<void> => {
    const watch = new LeakWatch()
    await run(service, watch).catch(async error => {
      // A failure of stop() after a failed scenario is only a consequence.
      await watch.stop().catch(() => {})
      throw error
    })
    await watch.stop()
  }

/** Whether a promise has settled, and with which error. */
export interface Outcome {
  settled: boolean
  error?: unknown
}

/** Observes a promise until it settles. */
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
