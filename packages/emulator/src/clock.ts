/** Time as the emulator sees it. The default is the system's; a test passes one that it moves itself. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  setTimeout(callback: () => void, delayMs: number): unknown
  clearTimeout(handle: unknown): void
}

/** The system's time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => globalThis.setTimeout(callback, delayMs),
  clearTimeout: handle => globalThis.clearTimeout(handle as ReturnType<typeof globalThis.setTimeout>),
}

/** Longest delay that timers of JavaScript engines keep; a longer one would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

/**
 * Sets a timer that watches rather than works: it does not keep a Node process alive, and a delay beyond what timers
 * hold is cut short, so the callback has to look at the clock and come back if it is too early.
 */
export function watchTimer(clock: Clock, callback: () => void, delayMs: number): unknown {
  const handle = clock.setTimeout(callback, Math.min(Math.max(0, delayMs), LONGEST_DELAY_MS))
  if (typeof handle === 'object' && handle !== null && 'unref' in handle && typeof handle.unref === 'function')
    handle.unref()
  return handle
}
