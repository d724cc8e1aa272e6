import type { Clock } from './clock.ts'
import type { Page } from './page.ts'

/**
 * Runs a callback after a few milliseconds, also in a hidden tab.
 *
 * A browser delays the timers of a hidden page to one a second, and after minutes to one a minute. There the wait is
 * spent in tasks, one after the other; that costs processor time, so it is for short pauses only.
 *
 * @returns the undo
 */
export function afterPause(clock: Clock, page: Page | undefined, pauseMs: number, callback: () => void): () => void {
  if (!page?.isHidden()) {
    const timer = clock.setTimeout(callback, pauseMs)
    return () => clock.clearTimeout(timer)
  }
  const end = clock.now() + pauseMs
  let wanted = true
  const look = () => {
    if (!wanted) return
    if (clock.now() >= end) callback()
    else page.nextTask(look)
  }
  page.nextTask(look)
  return () => {
    wanted = false
  }
}
