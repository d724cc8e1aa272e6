import type { AiAgent } from '@aiagent/client'
import { type ConversationView, createConversationView } from '@aiagent/client/view'
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

/**
 * Starts an agent that a mounted provider shows. When the last provider is unmounted the agent ends, unless it is kept. Not at
 * once: React in StrictMode unmounts and mounts each component again.
 */
export function hold(agent: AiAgent, isStarting: boolean, isKept: boolean): () => void {
  const mounted = sharedOf(agent)
  mounted.providers++
  if (agent.getPhase().at === 'destroyed')
    agent.logger.warn('The agent was destroyed. Pass a new agent, or set keepAgent.')
  if (isStarting && !mounted.isStarted) {
    mounted.isStarted = true
    // The error is in the snapshot.
    mounted.view.start().catch(() => {})
  }
  return () => {
    mounted.providers--
    setTimeout(() => {
      if (!mounted.providers && !isKept) void agent.destroy().then(mounted.view.destroy)
    })
  }
}
