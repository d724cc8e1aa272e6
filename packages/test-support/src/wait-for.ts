/** What can be listened to: the client's agent, or any emitter of the same shape. */
interface Subscribable<Events> {
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): unknown
  off<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): unknown
}

/** Longest wait, in milliseconds of real time: only for conditions that never hold, also on a busy machine. */
const LIMIT_MS = 15_000

/**
 * Resolves with the first event of a name, or rejects after {@link LIMIT_MS} of real time.
 *
 * @param accept takes only the events it answers true for
 */
export function waitForEvent<Events, Name extends keyof Events>(
  source: Subscribable<Events>,
  name: Name,
  accept: (event: Events[Name]) => boolean = () => true,
): Promise<Events[Name]> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      source.off(name, listener)
      reject(new Error(`No '${String(name)}' within ${LIMIT_MS} ms.`))
    }, LIMIT_MS)
    const listener = (event: Events[Name]) => {
      if (!accept(event)) return
      clearTimeout(timer)
      source.off(name, listener)
      resolve(event)
    }
    source.on(name, listener)
  })
}

/** Turns the event loop until a condition holds, and fails with its last value after {@link LIMIT_MS} of real time. */
export async function eventually<T>(probe: () => T, description = 'the condition'): Promise<NonNullable<T>> {
  const end = Date.now() + LIMIT_MS
  for (;;) {
    const value = probe()
    if (value) return value
    if (Date.now() > end)
      throw new Error(`Within ${LIMIT_MS} ms ${description} did not hold; last value: ${String(value)}`)
    await new Promise<void>(resolve => setImmediate(resolve))
  }
}
