import {
  AiAgent,
  type AiAgentConfig,
  type Environment,
  MemoryCacheAdapter,
  type WebSocketConstructor,
  type WebSocketLike,
} from '@aiagent/client'
import type { RunService } from '../service/service.ts'
import { Exports } from './exports.ts'
import type { TabStorage } from './tab-storage.ts'

/** What the processes of a run have in common. */
export interface LifeParts {
  readonly service: RunService
  readonly random: () => number
  readonly randomUUID: () => string
  /** The stores of the browser; absent where the host has its own store. */
  readonly storages: { readonly session: TabStorage; readonly local: TabStorage } | undefined
  /** The configuration, with the host's store if there is one. */
  config(hasEnded: () => boolean): AiAgentConfig
}

/**
 * One agent in its process. When the process ends, nothing that the agent still does has an effect: its timers, requests,
 * sockets and stores are gone.
 */
export class AgentLife {
  readonly agent: AiAgent
  readonly memory = new MemoryCacheAdapter()
  readonly exports = new Exports()
  /** Time of the last `initialized` event since a sign-out, in milliseconds of the run without sleep. */
  readyAt: number | undefined
  readonly #ending = new AbortController()
  readonly #service: RunService
  readonly #timers = new Set<unknown>()
  readonly #sockets = new Set<WebSocketLike>()

  constructor({ service, random, randomUUID, storages, config }: LifeParts) {
    this.#service = service
    this.agent = new AiAgent(
      { ...config(() => this.hasEnded), recorder: this.exports.recorder },
      {
        ...this.#environment(),
        random,
        randomUUID,
        memory: this.memory,
        ...(storages && { sessionStorage: storages.session, localStorage: storages.local }),
      },
    )
    this.exports.follow(this.agent)
    this.agent.on('initialized', () => {
      this.readyAt = service.clock.awake()
    })
  }

  /** Whether the process has ended. */
  get hasEnded(): boolean {
    return this.signal.aborted
  }

  /** Aborted when the process ends. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Ends the process. The platform closes its sockets. */
  end(): void {
    this.#ending.abort()
    for (const timer of this.#timers) this.#service.clock.agent.clearTimeout(timer)
    for (const socket of this.#sockets) {
      socket.onopen = socket.onmessage = socket.onclose = null
      socket.onerror = () => {}
      socket.close()
    }
  }

  #environment(): Partial<Environment> {
    const { environment, clock } = this.#service
    const { fetch, WebSocket } = environment
    return {
      clock: {
        now: () => clock.agent.now(),
        monotonic: () => clock.agent.monotonic(),
        setTimeout: (callback, delayMs) => {
          if (this.hasEnded) return undefined
          const timer: unknown = clock.agent.setTimeout(() => {
            this.#timers.delete(timer)
            callback()
          }, delayMs)
          this.#timers.add(timer)
          return timer
        },
        clearTimeout: timer => {
          this.#timers.delete(timer)
          clock.agent.clearTimeout(timer)
        },
      },
      ...(fetch && {
        fetch: (input, init) =>
          new Promise((resolve, reject) => {
            const unlessEnded = (settle: () => void) => {
              if (!this.hasEnded) settle()
            }
            if (this.hasEnded) return
            fetch(input, init).then(
              response => unlessEnded(() => resolve(response)),
              error => unlessEnded(() => reject(error)),
            )
          }),
      }),
      ...(WebSocket && { WebSocket: this.#noting(WebSocket) }),
    }
  }

  /** A socket class whose sockets end with the process. */
  #noting(WebSocket: WebSocketConstructor): WebSocketConstructor {
    const note = (socket: WebSocketLike) => {
      this.#sockets.add(socket)
      if (this.hasEnded) socket.close()
    }
    return class extends WebSocket {
      constructor(url: string) {
        super(url)
        note(this)
      }
    }
  }
}
