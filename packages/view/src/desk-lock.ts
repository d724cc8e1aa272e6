import type { ViewPlatform } from './view-platform.ts'

/*
 * Tabs of one conversation have one live desk. The tab in which it is open holds a lock with the name of the session: the browser
 * releases it with the page, also after a crash. Without locks, each tab counts as alone.
 */

/** Gives a lock back. */
export type Release = () => void

type Locks = ViewPlatform['locks']

/** Whether a tab holds the lock. */
export async function isHeld(locks: Locks, name: string): Promise<boolean> {
  const { held = [] } = (await locks?.query().catch(() => undefined)) ?? {}
  return held.some(lock => lock.name === name)
}

/** Waits for the lock. Resolves with undefined when the signal is aborted before. */
export function hold(locks: Locks, name: string, signal: AbortSignal): Promise<Release | undefined> {
  if (!locks || signal.aborted) return Promise.resolve(signal.aborted ? undefined : () => {})
  return new Promise(resolve => {
    const grant = () => new Promise<void>(release => resolve(() => release()))
    // A page whose origin may use no locks is alone.
    locks.request(name, { signal }, grant).catch(() => resolve(signal.aborted ? undefined : () => {}))
  })
}
