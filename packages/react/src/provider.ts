import type { AiAgent } from '@aiagent/client'
import type { ConversationView, SignalListener } from '@aiagent/view'
import { createContext, createElement, type ReactElement, type ReactNode, useContext, useEffect } from 'react'
import { addLogin, hold, sharedOf } from './agent-views.ts'

/** Props of {@link AiAgentProvider}. */
export interface AiAgentProviderProps {
  /**
   * The agent of the components below. Create it outside of rendering, or with `useState(() => new AiAgent(…))`. Its chat is left
   * when its last provider is unmounted or gets another agent, and continues when a provider is mounted with it again.
   */
  agent: AiAgent
  /** Whether the agent is initialized and connected when the provider is mounted. @default true */
  autoStart?: boolean
  /**
   * Whether the agent stays connected when the provider is unmounted or shows another agent, so that answers arrive meanwhile. Of
   * several providers of an agent, the last one decides. @default false
   */
  keepAgent?: boolean
  /**
   * Whether the agent is destroyed instead, for an agent that was created for this provider and that no other will show. Of
   * several providers of an agent, the last one decides. Without effect with `keepAgent`. @default false
   */
  destroyOnUnmount?: boolean
  /**
   * Called by `login()` first, for hosts that sign their users in themselves. The function of the last rendering counts, and of
   * several providers of an agent that of the one that was mounted last.
   */
  onLogin?: () => unknown
  /**
   * Called with each step of the conversation, for statistics: see {@link ConversationSignal}. Of several providers of an agent, that of
   * each is called.
   */
  onSignal?: SignalListener
  /** The components that use the agent. */
  children?: ReactNode
}

const AgentContext = createContext<AiAgent | undefined>(undefined)

/**
 * Provides an agent to the components below, and connects it while it is mounted. Safe in StrictMode: one session, one
 * connection. On a server it renders without starting anything.
 */
export function AiAgentProvider({
  agent,
  autoStart = true,
  keepAgent = false,
  destroyOnUnmount = false,
  onLogin,
  onSignal,
  children,
}: AiAgentProviderProps): ReactElement {
  const leaving = keepAgent ? 'keep' : destroyOnUnmount ? 'destroy' : 'leave'
  useEffect(() => onSignal && sharedOf(agent).view.onSignal(onSignal), [agent, onSignal])
  useEffect(() => hold(agent, autoStart, leaving), [agent, autoStart, leaving])
  useEffect(() => onLogin && addLogin(agent, onLogin), [agent, onLogin])
  return createElement(AgentContext.Provider, { value: agent }, children)
}

/**
 * The agent of the provider above.
 *
 * @throws {Error} outside of a provider
 */
export function useAiAgent(): AiAgent {
  const agent = useContext(AgentContext)
  if (!agent) throw new Error('This component needs an <AiAgentProvider> above it.')
  return agent
}

/** The view of the provider's agent, with its actions; always the same object for the same agent. */
export function useConversationView(): ConversationView {
  return sharedOf(useAiAgent()).view
}
