import type { AiAgent } from '@aiagent/client'
import type { DeskRecord } from './desk-record.ts'
import type { DeskViews } from './desk-views.ts'
import type { ViewPlatform } from './view-platform.ts'

/** What the parts of a desk share, for one user and one conversation. */
export interface DeskScope {
  readonly agent: AiAgent
  readonly platform: ViewPlatform
  readonly views: DeskViews
  readonly record: DeskRecord
  /** Aborted when the user, the conversation or the last view ends. */
  readonly signal: AbortSignal
}

/** Waits so many milliseconds, or until the scope ends. */
export function pause({ platform, signal }: DeskScope, ms: number): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      stop()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const stop = platform.setTimer(end, ms)
    signal.addEventListener('abort', end)
  })
}
