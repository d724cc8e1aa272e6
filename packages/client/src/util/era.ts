import { untilAborted } from './abort.ts'

/**
 * A period in which results are wanted. Its owner ends it where they are no longer: at a sign-out, or with a newer request.
 *
 *     const era = this.#era
 *     const answer = await request()
 *     if (era.isOver) return
 *
 *     this.#era = this.#era.end() // Nothing of before has an effect any more.
 */
export class Era {
  /** Whether it has ended. A field, since frames are many. */
  isOver = false
  #reason: unknown
  #controller: AbortController | undefined
  /** Of the calls in flight. Absent while there is none: in a process with many idle agents each one costs 700 bytes. */
  #calls: Set<AbortController> | undefined

  /** Aborted by the end. For an owner of which there are few; calls of others are {@link during}. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.isOver) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /**
   * Runs a call until the era ends, or the caller's signal is aborted, even if it ignores the signal that it receives.
   *
   * @throws the reason of the end, or that of the signal
   */
  async during<T>(call: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.isOver) throw this.#reason
    const controller = new AbortController()
    const abort = signal && (() => controller.abort(signal.reason))
    if (abort) signal.addEventListener('abort', abort)
    this.#calls ??= new Set()
    this.#calls.add(controller)
    try {
      return await untilAborted(call(controller.signal), controller.signal)
    } finally {
      if (abort) signal.removeEventListener('abort', abort)
      this.#calls?.delete(controller)
      if (this.#calls?.size === 0) this.#calls = undefined
    }
  }

  /** Ends the era with its calls. Returns the next one. */
  end(reason?: unknown): Era {
    this.isOver = true
    this.#reason = reason
    this.#controller?.abort(reason)
    for (const call of this.#calls ?? []) call.abort(reason)
    return new Era()
  }
}
