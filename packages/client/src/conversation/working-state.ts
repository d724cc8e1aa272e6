import type { ChatObserver, Connection } from '../chat/connection.ts'
import type { AgentScope } from '../scope.ts'

/**
 * Longest silence after a heartbeat during which the agent counts as working, in milliseconds. Heartbeats come every few seconds, and
 * a service that dies while it works sends nothing more.
 */
const WORKING_LIMIT_MS = 30_000

/** Whether the agent is working on an answer: from a heartbeat until an answer, an error, a close, or silence. */
export class WorkingState implements ChatObserver {
  readonly #scope: AgentScope<'workingChanged'>
  #isWorking = false
  /** Time of the last heartbeat, on the monotonic clock. */
  #heartbeatAt = 0
  #timer: unknown

  constructor(scope: AgentScope<'workingChanged'>, connection: Connection) {
    this.#scope = scope
    connection.observe(this)
  }

  get isWorking(): boolean {
    return this.#isWorking
  }

  /** A heartbeat has arrived. */
  start(): void {
    this.#heartbeatAt = this.#scope.environment.clock.monotonic()
    if (this.#isWorking) return
    this.#wait(WORKING_LIMIT_MS)
    this.#change(true)
  }

  end(): void {
    if (!this.#isWorking) return
    this.#scope.environment.clock.clearTimeout(this.#timer)
    this.#change(false)
  }

  handleLost(): void {
    this.end()
  }

  #wait(delayMs: number): void {
    const { clock } = this.#scope.environment
    this.#timer = clock.setTimeout(
      () => {
        const left = this.#heartbeatAt + WORKING_LIMIT_MS - clock.monotonic()
        if (left > 0) this.#wait(left)
        else this.end()
      },
      delayMs,
      { background: true },
    )
  }

  #change(isWorking: boolean): void {
    this.#isWorking = isWorking
    this.#scope.emit('workingChanged', () => ({ isWorking }))
  }
}
