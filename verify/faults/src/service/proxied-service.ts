import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Environment } from '@aiagent/client'
import type { Emulator, SessionRecord } from '@aiagent/emulator'
import { type EmulatorServer, type FaultProxy, serveEmulator, startFaultProxy } from '@aiagent/emulator/node'
import type { RunSetup } from '../schedule/step.ts'
import { FastClock } from './run-clock.ts'
import { collectSessions, emulatorOptions, type RunService, type TcpStep } from './service.ts'

/** Seconds of the run in a real second. Time limits of ten seconds pass in half a second. */
const SPEED = 20

/** The service on a real port, behind a TCP proxy that breaks connections without telling either side. */
export class ProxiedService implements RunService {
  readonly clock: FastClock
  readonly emulator: Emulator
  readonly endpoint: string
  /** The platform's own `fetch` and the client's own socket. */
  readonly environment: Partial<Environment> = {}
  readonly sessions: readonly SessionRecord[]
  mostSockets = 0
  readonly #server: EmulatorServer
  readonly #proxy: FaultProxy
  readonly #connections = new Set<Socket>()

  /** Starts service and proxy. */
  static async start(setup: RunSetup, seed: number): Promise<ProxiedService> {
    const clock = new FastClock(SPEED)
    let server: EmulatorServer | undefined
    const proxy = await startFaultProxy({ target: () => server?.url ?? '', seed, clock: clock.service })
    server = await serveEmulator({ ...emulatorOptions(setup, seed, clock), origin: proxy.url, offersLogin: false })
    return new ProxiedService(clock, server, proxy)
  }

  private constructor(clock: FastClock, server: EmulatorServer, proxy: FaultProxy) {
    this.clock = clock
    this.#server = server
    this.#proxy = proxy
    this.emulator = server.emulator
    this.endpoint = proxy.url
    this.sessions = collectSessions(server.emulator)
    subscribe('http.client.request.start', this.#noteRequest)
  }

  get openSockets(): number {
    return this.#connections.size
  }

  applyTcp(step: TcpStep): void {
    switch (step.do) {
      case 'tcp-cut':
        return this.#proxy.cut()
      case 'tcp-stall':
        return this.#proxy.stall({ alsoLater: step.alsoLater })
      case 'tcp-resume':
        return this.#proxy.resume()
      case 'tcp-refuse':
        return this.#proxy.refuse(step.isRefusing)
      case 'tcp-delay':
        return this.#proxy.delay(step.ms, step.jitterMs)
      default:
        return step satisfies never
    }
  }

  heal(): void {
    this.#proxy.refuse(false)
    this.#proxy.delay(0)
    this.#proxy.resume()
  }

  async close(): Promise<void> {
    unsubscribe('http.client.request.start', this.#noteRequest)
    await this.#proxy.close()
    await this.#server.close()
  }

  readonly #noteRequest = (message: unknown) => {
    const { request } = message as { request: ClientRequest }
    const port = new URL(this.endpoint).port
    if (request.getHeader('upgrade') !== 'websocket' || !String(request.getHeader('host')).endsWith(`:${port}`)) return
    if (request.socket) this.#noteConnection(request.socket)
    else request.once('socket', this.#noteConnection)
  }

  readonly #noteConnection = (socket: Socket) => {
    this.#connections.add(socket)
    this.mostSockets = Math.max(this.mostSockets, this.#connections.size)
    socket.once('close', () => this.#connections.delete(socket))
  }
}
