/** Waits for a promise until the signal is aborted: then it rejects with the signal's reason. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  let abort: (() => void) | undefined
  try {
    return await new Promise<T>((resolve, reject) => {
      abort = () => reject(signal.reason)
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort)
      promise.then(resolve, reject)
    })
  } finally {
    if (abort) signal.removeEventListener('abort', abort)
  }
}

/** The part of a clock that a time limit needs. */
interface Timers {
  setTimeout(callback: () => void, delayMs: number): unknown
  clearTimeout(handle: unknown): void
}

/** The rejection of {@link withTimeLimit} at the limit. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
}

/**
 * Runs work until the caller's signal is aborted or the time is up, even if the work ignores the signal it receives.
 *
 * The time is that of the given clock; the platform's `AbortSignal.timeout` has its own clock and is slow.
 *
 * @throws {TimeLimitError} when the time is up; the signal's reason when it was aborted
 */
export async function withTimeLimit<T>(
  timers: Timers,
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const timer = timers.setTimeout(() => controller.abort(new TimeLimitError(`Took more than ${limitMs} ms.`)), limitMs)
  const abort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  try {
    return await untilAborted(work(controller.signal), controller.signal)
  } finally {
    timers.clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** Resolves after a delay, or as soon as the signal is aborted; it never rejects. */
export function sleep(timers: Timers, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const done = () => {
      timers.clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = timers.setTimeout(done, delayMs)
    signal?.addEventListener('abort', done, { once: true })
  })
}
