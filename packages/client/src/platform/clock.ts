/** Time and timers. Tests pass a clock that they advance manually. */
export interface Clock {
  /** Wall clock, in milliseconds since the epoch. Only for timestamps and token expiry: it may be set back. */
  now(): number
  /** Milliseconds since a fixed time. Never goes back, so waits and time limits use it. */
  monotonic(): number
  /**
   * Runs a callback once, after a delay in milliseconds. A delay above 2^31-1 is reduced to that, the maximum of the
   * platform's timers.
   *
   * A `background` timer keeps neither a Node process alive nor an Angular application unstable.
   */
  setTimeout(callback: () => void, delayMs: number, options?: { background?: boolean }): unknown
  /** Cancels a timer by the handle from {@link setTimeout}. Does nothing for a timer that has fired. */
  clearTimeout(handle: unknown): void
}

/** Resolves after a delay, or as soon as the signal is aborted; it never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clock.clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.setTimeout(done, delayMs)
    signal?.addEventListener('abort', done, { once: true })
  })
}
