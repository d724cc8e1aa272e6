import type { Environment, WebSocketConstructor } from '@aiagent/client'
import { createEmulator, type Emulator, type SessionRecord } from '@aiagent/emulator'
import type { RunSetup } from '../schedule/step.ts'
import { SimulatedClock } from './run-clock.ts'
import { collectSessions, emulatorOptions, type RunService } from './service.ts'

const OPEN = 1

/** The service in this process, on simulated time. */
export class InProcessService implements RunService {
  readonly clock = new SimulatedClock()
  readonly emulator: Emulator
  readonly endpoint: string
  readonly environment: Partial<Environment>
  readonly sessions: readonly SessionRecord[]
  mostSockets = 0
  readonly #sockets: { readonly readyState: number }[] = []

  constructor(setup: RunSetup, seed: number) {
    this.emulator = createEmulator(emulatorOptions(setup, seed, this.clock))
    this.sessions = collectSessions(this.emulator)
    this.endpoint = this.emulator.origin
    const { fetch, WebSocket } = this.emulator
    this.environment = { fetch, WebSocket: this.#counted(WebSocket) }
  }

  get openSockets(): number {
    return this.#sockets.filter(({ readyState }) => readyState <= OPEN).length
  }

  /** There is no TCP in process. */
  applyTcp(): void {}

  heal(): void {}

  async close(): Promise<void> {
    this.emulator.close()
  }

  #counted(WebSocket: WebSocketConstructor): WebSocketConstructor {
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
