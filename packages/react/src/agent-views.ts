import type { AiAgent } from '@aiagent/client'
import { type ConversationView, createConversationView } from '@aiagent/view'
import { once } from './once.ts'

/** What the mounted providers of an agent share. */
interface Shared {
  readonly view: ConversationView
  /** What `login()` may call first: the last one counts. */
  readonly logins: Set<() => unknown>
  providers: number
  isStarted: boolean
}

/**
 * What the providers of an agent share: rendering twice, as in StrictMode, finds the same. Creating it starts nothing, since a
 * rendering may be discarded.
 */
export const sharedOf = /* @__PURE__ */ once((agent: AiAgent): Shared => {
  const logins = new Set<() => unknown>()
  const view = createConversationView(agent, { onLogin: () => [...logins].at(-1)?.() })
  return { view, logins, providers: 0, isStarted: false }
})

/** Has `login()` call the function first. Returns the undo. */
export function addLogin(agent: AiAgent, onLogin: () => unknown): () => void {
  const { logins } = sharedOf(agent)
  const entry = () => onLogin()
  logins.add(entry)
  return () => void logins.delete(entry)
}

/** What becomes of an agent when its last provider is unmounted. */
export type Leaving = 'leave' | 'keep' | 'destroy'

/**
 * Starts an agent that a mounted provider shows. When the last provider is unmounted the chat is left, and starts again with the
 * next one: the agent is the host's. Not at once: React in StrictMode unmounts and mounts each component again.
 */
export function hold(agent: AiAgent, isStarting: boolean, leaving: Leaving): () => void {
  const shared = sharedOf(agent)
  const { view } = shared
  shared.providers++
  const isDestroyed = agent.status.phase.at === 'destroyed'
  if (isDestroyed) agent.logger.warn('The agent was destroyed. Pass a new agent.')
  // With a destroyed agent it sets the error of the snapshot.
  if (isDestroyed || (isStarting && !shared.isStarted)) {
    shared.isStarted = true
    // The error is in the snapshot.
    view.start().catch(() => {})
  }
  return () => {
    shared.providers--
    setTimeout(() => {
      if (shared.providers || leaving === 'keep') return
      shared.isStarted = false
      void (leaving === 'leave' ? view.leave() : agent.destroy().then(view.destroy))
    })
  }
}
