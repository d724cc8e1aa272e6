/** Something has taken too long. */
export class LateError extends Error {
  override readonly name = 'LateError'
  /** For the event of a conversation that cannot start. */
  readonly code = 'TIMEOUT'
}

/**
 * The result of some work, unless it takes too long.
 *
 * @throws {LateError} after the time. What the work does later is ignored
 */
export async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const running = work()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LateError(`There was no answer within ${ms} ms.`)), ms)
  })
  try {
    return await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
    running.catch(() => {})
  }
}
