import type { Violation } from './violation.ts'

/** Watches the process during a run: unhandled errors, and listeners that remain. */
export class ProcessWatch {
  readonly #before: number
  readonly #unhandled: unknown[] = []
  readonly #note = (error: unknown) => void this.#unhandled.push(error)

  constructor() {
    this.#before = processListeners()
    process.on('unhandledRejection', this.#note)
    process.on('uncaughtException', this.#note)
  }

  /** Ends the watch and returns what it saw. */
  async stop(): Promise<Violation[]> {
    // Rejections are reported at the end of a turn.
    await new Promise<void>(resolve => setImmediate(resolve))
    process.off('unhandledRejection', this.#note)
    process.off('uncaughtException', this.#note)
    const left = processListeners() - this.#before
    return [
      ...this.#unhandled.map(
        (error): Violation => ({
          kind: 'unhandled',
          text: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
      ),
      ...(left > 0 ? [{ kind: 'leaked', text: `${left} listeners on the process` } as const] : []),
    ]
  }
}

function processListeners(): number {
  return process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
}
