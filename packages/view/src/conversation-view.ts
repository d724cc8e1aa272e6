import type { AiAgent } from '@aiagent/client'
import type { ConversationView, ConversationViewOptions } from './conversation-snapshot.ts'
import type { Desk } from './desk.ts'
import type { OpenLiveDesk } from './live-desk.ts'
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
  const platform = { ...defaultPlatform, ...options.platform }
  const store = createViewStore(agent, platform, options)
  const { subscribe, getSnapshot, setDraft } = store
  const known = store.list.escalation()
  let isDestroyed = false
  let part: Desk | undefined
  const load = async (escalate: OpenLiveDesk): Promise<Desk | undefined> => {
    try {
      const { joinDesk } = await import('./desk.ts')
      if (!isDestroyed) part = joinDesk(agent, store, platform, escalate, known)
    } catch (error) {
      agent.logger.warn('The code of the live desk could not be loaded. The conversation continues without it.', {
        error,
      })
    }
    return part
  }
  const desk = options.escalate && load(options.escalate)
  return Object.freeze({
    ...createActions(agent, store, options, desk),
    subscribe,
    getSnapshot,
    getServerSnapshot: () => EMPTY_SNAPSHOT,
    setDraft,
    destroy() {
      isDestroyed = true
      part?.remove(store)
      part = undefined
      return store.destroy()
    },
  })
}
