import { SingleFlight } from './single-flight.ts'

/**
 * One piece of work that several callers wait for.
 *
 * The first starts it, others join. A caller whose signal is aborted stops waiting; when nobody waits any more the work
 * itself is aborted, and the next caller starts it afresh.
 */
export class JoinedTask<T> {
  readonly #flight = new SingleFlight<T>()
  readonly #abortedError: (signal: AbortSignal) => unknown

  /** @param abortedError what a caller is rejected with when its signal is aborted */
  constructor(abortedError: (signal: AbortSignal) => unknown) {
    this.#abortedError = abortedError
  }

  /** Joins the work under way, else starts it. */
  async join(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await this.#flight.run('', work, signal)
    } catch (error) {
      throw signal?.aborted && error === signal.reason ? this.#abortedError(signal) : error
    }
  }

  /** Aborts the work under way; its callers are rejected with what the work makes of that. */
  abort(reason?: unknown): void {
    this.#flight.abort(reason)
  }
}
