import type { AiAgent } from '@aiagent/client'
import type { ConversationView, ConversationViewOptions } from './conversation-snapshot.ts'
import { createActions } from './view-actions.ts'
import { defaultPlatform } from './view-platform.ts'
import { EMPTY_SNAPSHOT } from './view-state.ts'
import { createViewStore } from './view-store.ts'

/**
 * Creates the view of an agent's conversation. It shows what the transcript of the agent holds, and uses the agent's public
 * API only; several views of one agent are independent.
 *
 * @example
 * const view = createConversationView(agent)
 * view.subscribe(() => render(view.getSnapshot()))
 * await view.start()
 */
export function createConversationView(agent: AiAgent, options: ConversationViewOptions = {}): ConversationView {
  const store = createViewStore(agent, { ...defaultPlatform, ...options.platform })
  const { subscribe, getSnapshot, setDraft, destroy } = store
  return Object.freeze({
    ...createActions(agent, store, options),
    subscribe,
    getSnapshot,
    getServerSnapshot: () => EMPTY_SNAPSHOT,
    setDraft,
    destroy,
  })
}
