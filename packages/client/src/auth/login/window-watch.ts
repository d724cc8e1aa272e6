import type { Clock } from '../../platform/clock.ts'
import { TimeLimitError, withTimeLimit } from '../../util/abort.ts'
import type { LoginPage, LoginWindow } from './login-page.ts'

/** Interval at which an open window is checked, in milliseconds. */
export const LOOK_MS = 150
/** How often a window must be observed on another origin before its end counts as closing. */
export const SETTLED_LOOKS = 10
/** Longest time between two checks of a page that was not frozen or throttled meanwhile, in milliseconds. */
const LONGEST_GAP_MS = 5_000
/** How long after the end of a window its answer may arrive, and this page gains focus, in milliseconds. */
const GRACE_MS = 500
/** How often a window must be observed on this origin before its page counts as not the callback page. */
const STRAY_LOOKS = 14

/** How long a logout waits for the answer of its window, in milliseconds. */
const LOGOUT_LIMIT_MS = 30_000

/** How a window ended: `closed` by the user, or `stray`: on a page of this origin that passes on no answer. */
export type WindowEnd = 'closed' | 'stray'

/**
 * Resolves when a window has been closed by its user, or has ended on a page of this origin that is not the callback
 * page.
 *
 * A provider's opener policy separates the window from this page as soon as its page loads, which looks as if it had
 * been closed. So `gone` counts as closed only under three conditions. The window was observed on the provider's origin
 * for a while (a policy separates it immediately). This page was not frozen meanwhile. And the focus returned to this
 * page, as it does when a window closes in front of it. In every other case nothing is reported: the login ends with
 * its answer, with the next login, or with its signal.
 */
export function windowEnd(
  opened: LoginWindow,
  page: Pick<LoginPage, 'hasFocus'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<WindowEnd> {
  return new Promise(resolve => {
    let looks = 0
    let strayLooks = 0
    let lookedAt = clock.now()
    let timer: unknown
    const after = (delayMs: number, next: () => void) => {
      timer = clock.setTimeout(next, delayMs)
    }
    const look = () => {
      const state = opened.state()
      const gap = clock.now() - lookedAt
      lookedAt = clock.now()
      if (state === 'gone') {
        const isCertain = looks >= SETTLED_LOOKS && gap <= LONGEST_GAP_MS
        if (isCertain) after(GRACE_MS, () => page.hasFocus() && resolve('closed'))
        return
      }
      if (state === 'away') looks++
      strayLooks = state === 'returned' ? strayLooks + 1 : 0
      if (strayLooks >= STRAY_LOOKS) return resolve('stray')
      after(LOOK_MS, look)
    }
    look()
    signal.addEventListener('abort', () => clock.clearTimeout(timer), { once: true })
  })
}

/**
 * Waits for the sign-out in a popup until its time is up: an opener policy can hide that the user has closed the window,
 * and nothing can be sent or set until the logout has settled. The window stays open.
 *
 * @throws the error of the sign-out; the signal's reason when it is aborted
 */
export function awaitLogoutWindow(clock: Clock, signal: AbortSignal, signedOut: Promise<void>): Promise<void> {
  return withTimeLimit(clock, LOGOUT_LIMIT_MS, signal, () => signedOut).catch((error: unknown) => {
    if (!(error instanceof TimeLimitError)) throw error
  })
}
