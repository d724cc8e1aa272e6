/** Time as the emulator sees it. The default is the system's; a test passes one that it controls. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once after a delay in milliseconds, and returns a handle for `clearTimeout`. */
  setTimeout(callback: () => void, delayMs: number): unknown
  /** Cancels a timer; undefined and expired handles have no effect. */
  clearTimeout(handle: unknown): void
}

/** The system's time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => globalThis.setTimeout(callback, delayMs),
  clearTimeout: handle => globalThis.clearTimeout(handle as ReturnType<typeof globalThis.setTimeout>),
}

/** Maximum delay of timers of JavaScript engines; a longer one would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

/**
 * Sets a background timer: it does not keep a Node process alive. A delay beyond the maximum is shortened, so the
 * callback must check the clock and set the timer again if it is too early.
 */
export function watchTimer(clock: Clock, callback: () => void, delayMs: number): unknown {
  const handle = clock.setTimeout(callback, Math.min(Math.max(0, delayMs), LONGEST_DELAY_MS))
  if (typeof handle === 'object' && handle !== null && 'unref' in handle && typeof handle.unref === 'function')
    handle.unref()
  return handle
}
