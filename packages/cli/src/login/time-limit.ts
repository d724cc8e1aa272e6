/** The time for something was up. */
export class TimeLimitReached extends Error {
  override readonly name = 'TimeLimitReached'
}

/**
 * Does work with a signal that aborts when the time is up, or when the outer one does.
 *
 * @param limitMs in milliseconds
 */
export async function withTimeLimit<T>(
  limitMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const forward = () => controller.abort(outer.reason)
  const timer = setTimeout(() => controller.abort(new TimeLimitReached('The time is up.')), limitMs)
  if (outer.aborted) forward()
  outer.addEventListener('abort', forward, { once: true })
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    outer.removeEventListener('abort', forward)
  }
}
