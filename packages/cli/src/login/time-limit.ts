/** Thrown when a time limit is reached. */
export class TimeLimitReached extends Error {
  override readonly name = 'TimeLimitReached'
}

/**
 * Runs work with a signal that aborts at the time limit, or when the outer signal aborts.
 *
 * @param limitMs the time limit in milliseconds
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
