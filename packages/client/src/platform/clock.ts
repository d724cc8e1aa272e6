/** Time and timers. Tests pass a clock that they move by hand. */
export interface Clock {
  /** Wall clock, in milliseconds since the epoch. For timestamps and the expiry of tokens only: it may be set back. */
  now(): number
  /** Milliseconds since some fixed moment. Never goes back, so waits and time limits are measured by it. */
  monotonic(): number
  /**
   * Runs a callback once, after a delay in milliseconds. A delay above 2^31-1 counts as that, the longest that timers
   * of the platform keep.
   *
   * A `background` timer does not keep a Node process alive.
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

/** Longest single timer, because a sleeping laptop stops all timers. */
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
