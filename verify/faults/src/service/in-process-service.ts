import type { Environment } from '@aiagent/client'
import { createEmulator, type Emulator, type SessionRecord } from '@aiagent/emulator'
import { Random } from '../schedule/random.ts'
import type { RunSetup } from '../schedule/step.ts'
import { SimulatedClock } from './run-clock.ts'
import { collectSessions, emulatorOptions, type RunService } from './service.ts'
import { slowClosing } from './slow-closing-socket.ts'

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
    const random = new Random(seed ^ 0xc105e)
    const delayMs = () => (random.chance(0.5) ? 0 : random.integer(1, 30))
    const note = (socket: { readonly readyState: number }) => {
      this.#sockets.push(socket)
      this.mostSockets = Math.max(this.mostSockets, this.openSockets)
    }
    this.environment = { fetch, WebSocket: slowClosing(WebSocket, this.clock.service, delayMs, note) }
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
}
