/** What the library needs of time. Tests bring a clock that they move by hand. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /**
   * Runs a callback once, after a delay in milliseconds.
   *
   * A `background` timer does not keep a Node process alive.
   */
  setTimeout(callback: () => void, delayMs: number, options?: { background?: boolean }): unknown
  /** Takes back what {@link setTimeout} answered with. Does nothing for a timer that has fired. */
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

/** Longest single timer: timers of the platform overflow above 2^31-1 ms, and a sleeping laptop stops them all. */
const LONGEST_STEP_MS = 60_000

/**
 * Runs a callback when the wall clock reaches a moment, and returns its undo.
 *
 * Looks at the clock at least once a minute instead of trusting one long timer, so that a laptop that slept notices soon
 * after waking, and a moment weeks away does not overflow.
 */
export function atTime(clock: Clock, moment: number, callback: () => void): () => void {
  let timer: unknown
  const look = () => {
    const left = moment - clock.now()
    if (left <= 0) return callback()
    timer = clock.setTimeout(look, Math.min(left, LONGEST_STEP_MS), { background: true })
  }
  timer = clock.setTimeout(look, Math.min(Math.max(0, moment - clock.now()), LONGEST_STEP_MS), { background: true })
  return () => clock.clearTimeout(timer)
}
