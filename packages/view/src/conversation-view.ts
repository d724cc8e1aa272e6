import type { AiAgent } from '@aiagent/client'
import type { ConversationView, ConversationViewOptions, SignalListener } from './conversation-snapshot.ts'
import type { OpenLiveDesk } from './live-desk.ts'
import { createActions } from './view-actions.ts'
import { defaultPlatform } from './view-platform.ts'
import { EMPTY_SNAPSHOT } from './view-state.ts'
import { createViewStore } from './view-store.ts'

/**
 * Creates the view of an agent's conversation. It shows what the transcript of the agent holds, and uses the agent's public
 * API only; several views of one agent are independent, but for the live desk that those with `escalate` share.
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
  let isDestroyed = false
  /** End the optional parts. */
  const ends: (() => void)[] = []
  /** Creates an optional part once its code is loaded. */
  const load = async <Part>(name: string, code: Promise<() => Part>, end: (part: Part) => void) => {
    try {
      const create = await code
      if (isDestroyed) return undefined
      const part = create()
      ends.push(() => end(part))
      return part
    } catch (error) {
      agent.logger.warn(`The code of the ${name} could not be loaded. The conversation continues without it.`, {
        error,
      })
      return undefined
    }
  }
  const loadDesk = async (escalate: OpenLiveDesk) => {
    // What is restored before its code is loaded was offered by the page before.
    let before = store.list.escalation()
    const stop = agent.subscribe('transcriptRestored', () => {
      before = store.list.escalation()
    })
    ends.push(stop)
    const { joinDesk } = await import('./desk.ts')
    return () => {
      stop()
      const alone: OpenLiveDesk = (escalation, { conversation: _, ...rest }) => escalate(escalation, rest)
      return joinDesk(agent, store, platform, options.passesConversation === false ? alone : escalate, before)
    }
  }
  const loadSignals = async () => {
    const written = new Set(agent.getTranscript({ direction: 'sent' }).map(({ message }) => message.messageId))
    const begun = { time: platform.now(), written }
    const { createSignals } = await import('./signals.ts')
    return () => createSignals(agent, store, platform, listeners, begun)
  }
  const desk = options.escalate && load('live desk', loadDesk(options.escalate), part => part.remove(store))
  const listeners = new Set<SignalListener>()
  let hasSignals = false
  return Object.freeze({
    ...createActions(agent, store, options, desk),
    subscribe,
    getSnapshot,
    getServerSnapshot: () => EMPTY_SNAPSHOT,
    setDraft,
    onSignal(listener: SignalListener) {
      const entry: SignalListener = signal => listener(signal)
      listeners.add(entry)
      if (!hasSignals) void load('signals', loadSignals(), part => part.destroy())
      hasSignals = true
      return () => void listeners.delete(entry)
    },
    destroy() {
      isDestroyed = true
      for (const end of ends) end()
      return store.destroy()
    },
  })
}
