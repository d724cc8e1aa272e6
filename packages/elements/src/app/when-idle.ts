/** Longest wait for an idle moment, in milliseconds: a hidden page has none, and a busy one few. */
const LIMIT_MS = 300
/** Wait in a browser that does not report idle moments, in milliseconds. */
const PAUSE_MS = 50

/**
 * Calls a function once, when the browser is idle.
 *
 * @returns the undo
 */
export function whenIdle(run: () => void): () => void {
  const isReported = 'requestIdleCallback' in globalThis
  const idle = isReported ? requestIdleCallback(() => end(run)) : undefined
  const timer = setTimeout(() => end(run), isReported ? LIMIT_MS : PAUSE_MS)
  const end = (then?: () => void) => {
    clearTimeout(timer)
    if (idle !== undefined) cancelIdleCallback(idle)
    then?.()
  }
  return () => end()
}
