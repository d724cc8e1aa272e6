import type { Clock } from '@aiagent/client'

/** The system's time, which remembers the wait that was asked for last. */
export interface ObservedClock extends Clock {
  /** Delay of the last timer that was set, in milliseconds. */
  readonly lastDelayMs: number
}

/**
 * Makes the clock that a chat gives to its agent.
 *
 * No event tells how long the agent waits before it reconnects; but it sets that timer right before it reports the new
 * state, so the last delay at that moment is the wait.
 */
export function createObservedClock(): ObservedClock {
  let lastDelayMs = 0
  return {
    get lastDelayMs() {
      return lastDelayMs
    },
    now: () => Date.now(),
    setTimeout(callback, delayMs, options) {
      lastDelayMs = delayMs
      const timer = setTimeout(callback, delayMs)
      if (options?.background) timer.unref()
      return timer
    },
    clearTimeout: handle => clearTimeout(handle as NodeJS.Timeout | undefined),
  }
}
