import type { Clock } from './clock.ts'
import type { Page } from './page.ts'

/** Limit for a platform with a stopped clock: five milliseconds are some thousands of tasks. */
const MAX_TASKS = 50_000

/**
 * Runs a callback after a few milliseconds, also in a hidden tab.
 *
 * A browser delays the timers of a hidden page to one a second, and after minutes to one a minute. There the wait is
 * spent in tasks, one after the other. That costs processor time, so it is for short pauses only.
 *
 * @returns a function that cancels the call
 */
export function afterPause(clock: Clock, page: Page | undefined, pauseMs: number, callback: () => void): () => void {
  if (!page?.isHidden()) {
    const timer = clock.setTimeout(callback, pauseMs)
    return () => clock.clearTimeout(timer)
  }
  const end = clock.monotonic() + pauseMs
  let isWanted = true
  let tasks = 0
  const look = () => {
    if (!isWanted) return
    if (clock.monotonic() >= end || ++tasks > MAX_TASKS) callback()
    else page.nextTask(look)
  }
  page.nextTask(look)
  return () => {
    isWanted = false
  }
}
