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

/** How long a wait turns the event loop without a pause, in milliseconds of real time. After it, other processes need the core. */
const SPIN_MS = 10

/** Of the platform, also where a test replaces the global one later. */
const { setTimeout: setRealTimeout } = globalThis

/** Turns the event loop until a condition holds, and fails with its last value after {@link LIMIT_MS} of real time. */
export async function eventually<T>(probe: () => T, description = 'the condition'): Promise<NonNullable<T>> {
  const start = Date.now()
  for (;;) {
    const value = probe()
    if (value) return value
    const waitedMs = Date.now() - start
    if (waitedMs > LIMIT_MS)
      throw new Error(`Within ${LIMIT_MS} ms ${description} did not hold; last value: ${String(value)}`)
    await new Promise<void>(resolve => (waitedMs < SPIN_MS ? setImmediate(resolve) : setRealTimeout(resolve, 1)))
  }
}
