import { SingleFlight } from './single-flight.ts'

/**
 * One task that several callers wait for.
 *
 * The first caller starts it, others join. A caller whose signal is aborted stops waiting. When no caller waits any
 * more, the task itself is aborted, and the next caller starts it again.
 */
export class JoinedTask<T> extends SingleFlight<T> {
  readonly #abortedError: (signal: AbortSignal) => unknown

  /** @param abortedError the rejection of a caller whose signal is aborted */
  constructor(abortedError: (signal: AbortSignal) => unknown) {
    super()
    this.#abortedError = abortedError
  }

  /** Joins the task in flight, otherwise starts it. */
  async join(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await this.run('', work, signal)
    } catch (error) {
      throw signal?.aborted && error === signal.reason ? this.#abortedError(signal) : error
    }
  }
}
