import { abortedError } from '../errors.ts'

interface Run<T> {
  readonly promise: Promise<T>
  readonly controller: AbortController
  callers: number
}

/**
 * One piece of work that several callers wait for.
 *
 * The first starts it, others join. A caller whose signal is aborted stops waiting; when nobody waits any more the work
 * itself is aborted, and the next caller starts it afresh.
 */
export class JoinedTask<T> {
  readonly #name: string
  #run: Run<T> | undefined

  /** @param name what an ABORTED error says was aborted */
  constructor(name: string) {
    this.#name = name
  }

  get isRunning(): boolean {
    return this.#run !== undefined
  }

  /**
   * Joins the work under way, else starts it.
   *
   * @throws {SDKError} code ABORTED when the signal is aborted
   */
  join(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted) return Promise.reject(abortedError(this.#name, signal))
    const run = (this.#run ??= this.#start(work))
    run.callers++
    if (!signal) return run.promise
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        reject(abortedError(this.#name, signal))
        if (--run.callers > 0) return
        this.#forget(run)
        run.controller.abort(signal.reason)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      run.promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
    })
  }

  /** Aborts the work under way; its callers are rejected with what the work makes of that. */
  abort(reason?: unknown): void {
    this.#run?.controller.abort(reason)
    this.#run = undefined
  }

  #start(work: (signal: AbortSignal) => Promise<T>): Run<T> {
    const controller = new AbortController()
    const run: Run<T> = { promise: work(controller.signal), controller, callers: 0 }
    // The callers hear of a failure; when all have given up nobody does, and that is no unhandled rejection.
    run.promise.catch(() => {}).finally(() => this.#forget(run))
    return run
  }

  #forget(run: Run<T>): void {
    if (this.#run === run) this.#run = undefined
  }
}
