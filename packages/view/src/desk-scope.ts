import type { AiAgent } from '@aiagent/client'
import type { DeskRecord } from './desk-record.ts'
import type { DeskViews } from './desk-views.ts'
import type { ViewPlatform } from './view-platform.ts'

/** What the parts of a desk share, for one user and one conversation. It owns their timers. */
export class DeskScope {
  readonly #controller = new AbortController()
  readonly #pauses = new Set<() => void>()
  readonly agent: AiAgent
  readonly platform: ViewPlatform
  readonly views: DeskViews
  readonly record: DeskRecord

  constructor(agent: AiAgent, platform: ViewPlatform, views: DeskViews, record: DeskRecord) {
    this.agent = agent
    this.platform = platform
    this.views = views
    this.record = record
  }

  /** Aborted when the user, the conversation or the last view ends. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Waits so many milliseconds, or until the scope ends. */
  pause(ms: number): Promise<void> {
    return new Promise(resolve => {
      const end = () => {
        stop()
        this.#pauses.delete(end)
        resolve()
      }
      const stop = this.platform.setTimer(end, ms)
      this.#pauses.add(end)
    })
  }

  end(): void {
    this.#controller.abort()
    for (const end of this.#pauses) end()
  }
}
