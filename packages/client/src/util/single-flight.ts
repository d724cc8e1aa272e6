import { untilAborted } from './abort.ts'

interface Flight<T> {
  readonly promise: Promise<T>
  readonly controller: AbortController
  waiting: number
}

/**
 * Lets concurrent callers share a call: while a call for a key is in flight, later callers wait for its result. Once it
 * has settled, the next one starts a new call.
 *
 * A caller whose signal is aborted stops waiting at once; the call itself is aborted when no caller waits any more.
 */
export class SingleFlight<T> {
  /** Absent while no call is in flight, which is almost always. */
  #flights: Map<string, Flight<T>> | undefined

  /** @throws the signal's reason when the caller's own signal is aborted; otherwise the rejection of the call */
  async run(key: string, start: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    const flight = this.#flights?.get(key) ?? this.#start(key, start)
    flight.waiting++
    try {
      return await untilAborted(flight.promise, signal)
    } finally {
      if (--flight.waiting === 0) this.#end(key, flight, signal)
    }
  }

  /** Aborts every call in flight, whose callers are rejected with the reason. The next caller starts a new one. */
  abort(reason?: unknown): void {
    const flights = this.#flights
    this.#flights = undefined
    for (const flight of flights?.values() ?? []) flight.controller.abort(reason)
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController()
    let settle: (result: Promise<T>) => void = () => {}
    const promise = new Promise<T>(resolve => {
      settle = resolve
    })
    const flight: Flight<T> = { promise, controller, waiting: 0 }
    this.#flights ??= new Map()
    this.#flights.set(key, flight)
    // Only now: `start` may call listeners, which may join the call or abort it. It may also use parts of the host that never
    // settle.
    settle(untilAborted((async () => start(controller.signal))(), controller.signal))
    const leave = () => this.#leave(key, flight)
    flight.promise.then(leave, leave)
    return flight
  }

  #end(key: string, flight: Flight<T>, signal: AbortSignal | undefined): void {
    if (signal?.aborted) flight.controller.abort(signal.reason)
    this.#leave(key, flight)
  }

  #leave(key: string, flight: Flight<T>): void {
    // A newer call may be in flight for the same key.
    if (this.#flights?.get(key) !== flight) return
    this.#flights.delete(key)
    if (this.#flights.size === 0) this.#flights = undefined
  }
}

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
