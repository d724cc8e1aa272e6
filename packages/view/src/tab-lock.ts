import { sha256 } from '@aiagent/client'
import type { ViewPlatform } from './view-platform.ts'

/*
 * Of the tabs of a conversation one has the live desk, and one reports signals. It holds a lock named after the session: the browser
 * releases it with the page, also after a crash. Without locks, each tab counts as alone.
 */

/** Name of a lock or channel of a session. A hash, since every page of the origin can list the names, and the id opens the conversation. */
export const tabName = (kind: 'desk' | 'signals', session: string) => `aiagent-${kind}-${sha256(session).slice(0, 32)}`

/** Waits for a lock. Resolves with what gives it back, or with undefined when the signal is aborted before. */
export function holdLock(
  locks: ViewPlatform['locks'],
  name: string,
  signal: AbortSignal,
): Promise<(() => void) | undefined> {
  if (!locks || signal.aborted) return Promise.resolve(signal.aborted ? undefined : () => {})
  return new Promise(resolve => {
    const grant = () => new Promise<void>(release => resolve(() => release()))
    // A page whose origin may use no locks is alone.
    locks.request(name, { signal }, grant).catch(() => resolve(signal.aborted ? undefined : () => {}))
  })
}
