import type { PageWindow } from '../platform/page.ts'

/** Where the locks of stored queues are. */
export interface QueueLockOptions {
  /** Absent outside a page. */
  readonly window: PageWindow | undefined
  /** Tells apart the stores of a process. */
  readonly identity: object
}

/** Keys that agents of this process use, by store. */
const inUse = new WeakMap<object, Set<string>>()

/**
 * Takes the lock of a stored queue: in a page a Web Lock, elsewhere one of the process.
 *
 * @param waitMs how long to wait for an agent that has it, in a page
 * @returns what gives it back; undefined when another agent has it
 */
export async function occupyQueue(
  { window, identity }: QueueLockOptions,
  key: string,
  waitMs: number,
): Promise<(() => void) | undefined> {
  if (!window) return occupyInProcess(identity, key)
  const { locks } = window.navigator
  return new Promise(resolve => {
    const hold = (lock: Lock | null) => {
      if (!lock) return resolve(undefined)
      return new Promise<void>(release => resolve(release))
    }
    const options = waitMs > 0 ? { signal: AbortSignal.timeout(waitMs) } : { ifAvailable: true }
    locks.request(`aiagent-queue-${key}`, options, hold).catch(() => resolve(undefined))
  })
}

function occupyInProcess(store: object, key: string): (() => void) | undefined {
  const keys = inUse.get(store) ?? new Set<string>()
  inUse.set(store, keys)
  if (keys.has(key)) return undefined
  keys.add(key)
  return () => void keys.delete(key)
}
