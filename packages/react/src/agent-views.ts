import type { AiAgent } from '@aiagent/client'
import { type ConversationView, createConversationView } from '@aiagent/client/view'

/** The view of an agent, and the mounted providers that use it. */
interface Held {
  view: ConversationView
  providers: number
  isStarted: boolean
  onLogin: (() => unknown) | undefined
}

/** One view for each agent: rendering twice, as in StrictMode, finds the same. */
const held = new WeakMap<AiAgent, Held>()

function heldOf(agent: AiAgent): Held {
  const known = held.get(agent)
  if (known) return known
  const created: Held = {
    view: createConversationView(agent, { onLogin: () => created.onLogin?.() }),
    providers: 0,
    isStarted: false,
    onLogin: undefined,
  }
  held.set(agent, created)
  return created
}

/** The view of an agent. */
export function viewOf(agent: AiAgent): ConversationView {
  return heldOf(agent).view
}

/** What a provider wants of the agent that it shows. */
export interface HoldOptions {
  readonly isStarting: boolean
  readonly isKept: boolean
}

/** Sets what `login()` calls first. */
export function setOnLogin(agent: AiAgent, onLogin: (() => unknown) | undefined): void {
  heldOf(agent).onLogin = onLogin
}

/**
 * Starts an agent that a mounted provider shows. When the last provider is unmounted, the view ends, and so does the agent,
 * unless it is kept. Not at once: React in StrictMode unmounts and mounts each component again.
 */
export function hold(agent: AiAgent, { isStarting, isKept }: HoldOptions): () => void {
  const mounted = heldOf(agent)
  mounted.providers++
  if (isStarting && !mounted.isStarted) {
    mounted.isStarted = true
    // The error is in the snapshot.
    mounted.view.start().catch(() => {})
  }
  return () => {
    mounted.providers--
    setTimeout(() => {
      if (mounted.providers > 0 || held.get(agent) !== mounted) return
      held.delete(agent)
      mounted.view.destroy()
      if (!isKept) void agent.destroy()
    })
  }
}
