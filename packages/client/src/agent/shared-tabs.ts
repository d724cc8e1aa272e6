import type { QuestionGate } from '../outbox/question-gate.ts'
import type { TabGroup } from '../tabs/tab-group.ts'
import type { TabParts } from '../tabs/tab-parts.ts'
import { type LazyPart, lazyPart } from '../util/lazy-part.ts'
import type { AgentScope } from './agent-scope.ts'

/** The conversation that all tabs share. The part itself is a separate chunk. */
export class SharedTabs implements QuestionGate {
  readonly #load: LazyPart<TabGroup | undefined>
  /** Loaded before the first session is requested; undefined until then, and where the browser cannot share it. */
  group: TabGroup | undefined

  constructor({ logger }: AgentScope, parts: () => TabParts) {
    const load = async () => {
      const { createTabGroup } = await import('../tabs/tab-group.ts')
      return (this.group = createTabGroup(parts()))
    }
    this.#load = lazyPart(load, error =>
      logger.warn('The module that shares the conversation could not be loaded.', { error }),
    )
  }

  load(): Promise<TabGroup | undefined> {
    return this.#load(group => group)
  }

  take(offered: () => void): boolean {
    return this.group?.turn.take(offered) ?? true
  }

  end(): void {
    this.group?.turn.end()
  }

  forgetUser(): void {
    this.group?.forgetUser()
  }
}
