import { untilAborted } from './abort.ts'

interface Running<T> {
  readonly outcome: Promise<T>
  readonly controller: AbortController
  waiting: number
}

/** Abort reason of a task whose callers receive the outcome of a later one. */
class Replaced<T> {
  readonly next: Promise<T>
  constructor(next: Promise<T>) {
    this.next = next
  }
}

const REASON = (signal: AbortSignal): unknown => signal.reason

/**
 * A task that several callers wait for: the first one starts it, others join. Once it has settled, the next caller starts it
 * again. Tasks with different keys run side by side.
 *
 * A caller whose signal is aborted stops waiting. When no caller waits any more, the task itself is aborted.
 */
export class JoinedTask<T> {
  readonly #abortedError: (signal: AbortSignal) => unknown
  /** Absent while no task runs, which is almost always. */
  #running: Map<string, Running<T>> | undefined

  /** @param abortedError the rejection of a caller whose signal is aborted; by default the reason of the signal */
  constructor(abortedError: (signal: AbortSignal) => unknown = REASON) {
    this.#abortedError = abortedError
  }

  /** Whether the task without a key runs. */
  get isRunning(): boolean {
    return this.#running?.has('') ?? false
  }

  /** Whether the task with a signal runs, and would be joined. */
  runs(key: string, signal: AbortSignal): boolean {
    return this.#running?.get(key)?.controller.signal === signal
  }

  /** Has the next caller start new tasks in place of those with certain keys, whose callers still receive their outcomes. */
  forget(matches: (key: string) => boolean): void {
    for (const key of this.#running?.keys() ?? []) if (matches(key)) this.#running?.delete(key)
  }

  /** Joins the running task, otherwise starts it. */
  async join(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal, key = ''): Promise<T> {
    if (signal?.aborted) throw this.#abortedError(signal)
    return this.#await(key, this.#running?.get(key) ?? this.#start(key, work), signal)
  }

  /** Starts another task. The callers of the running one receive its outcome. */
  replace(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const previous = this.#running?.get('')
    const next = this.#start('', work)
    previous?.controller.abort(new Replaced(next.outcome))
    return this.#await('', next, undefined)
  }

  /** Rejects the callers of every running task, and aborts it. The next caller starts a new one. */
  abort(reason?: unknown): void {
    const running = this.#running
    this.#running = undefined
    for (const { controller } of running?.values() ?? []) controller.abort(reason)
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Running<T> {
    const controller = new AbortController()
    const { signal } = controller
    let settle = undefined as ((result: Promise<T>) => void) | undefined
    const result = new Promise<T>(resolve => {
      settle = resolve
    })
    const outcome = untilAborted(result, signal).catch((error: unknown) => {
      if (error instanceof Replaced) return error.next
      throw error
    })
    const running: Running<T> = { outcome, controller, waiting: 0 }
    this.#running ??= new Map()
    this.#running.set(key, running)
    // Only now: `work` may call listeners, which may join the task or abort it.
    settle?.((async () => work(signal))())
    outcome.then(
      () => this.#end(key, running),
      () => this.#end(key, running),
    )
    return running
  }

  async #await(key: string, running: Running<T>, signal: AbortSignal | undefined): Promise<T> {
    running.waiting++
    try {
      return await untilAborted(running.outcome, signal)
    } catch (error) {
      throw signal?.aborted && error === signal.reason ? this.#abortedError(signal) : error
    } finally {
      if (--running.waiting === 0) {
        if (signal?.aborted) running.controller.abort(signal.reason)
        this.#end(key, running)
      }
    }
  }

  #end(key: string, running: Running<T>): void {
    // A newer task may run for the same key.
    if (this.#running?.get(key) !== running) return
    this.#running.delete(key)
    if (this.#running.size === 0) this.#running = undefined
  }
}
