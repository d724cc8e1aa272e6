import type { QuestionGate } from '../outbox/turn-taking.ts'
import type { PageWindow } from '../platform/page.ts'
import type { TabGroup } from '../tabs/tab-group.ts'
import type { TabParts } from '../tabs/tab-parts.ts'
import type { AgentScope } from './agent-scope.ts'

/** The conversation that all tabs share. The part itself is a separate chunk. */
export class SharedTabs implements QuestionGate {
  readonly #load: () => Promise<TabGroup | undefined>
  #loading: Promise<TabGroup | undefined> | undefined
  /** Loaded before the first session is requested; undefined until then. */
  group: TabGroup | undefined

  constructor(window: PageWindow, parts: () => TabParts) {
    this.#load = async () => {
      try {
        const { TabGroup } = await import('../tabs/tab-group.ts')
        return (this.group = new TabGroup(parts(), window))
      } catch (error) {
        this.#loading = undefined
        parts().scope.logger.warn('The module that shares the conversation with other tabs could not be loaded.', {
          error,
        })
        return undefined
      }
    }
  }

  load(): Promise<TabGroup | undefined> {
    return (this.#loading ??= this.#load())
  }

  take(offered: () => void): boolean {
    return this.group?.turn.take(offered) ?? true
  }

  end(): void {
    this.group?.turn.end()
  }
}

/** Shares the conversation, with `tabs: 'share'` and where the browser can. */
export function createTabs(
  { config, environment, logger, userState }: AgentScope,
  parts: () => TabParts,
): SharedTabs | undefined {
  const window = environment.page?.window
  if (!config.tabs) return undefined
  if (!window?.navigator?.locks || !window.BroadcastChannel || config.sessionId !== undefined) {
    logger.warn('`tabs` has no effect: it needs a page with Web Locks, and no `sessionId`.')
    return undefined
  }
  const tabs = new SharedTabs(window, parts)
  userState.own({ forgetUser: () => tabs.group?.forgetUser() })
  return tabs
}
