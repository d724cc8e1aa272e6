import type { ChatClosed } from '@aiagent/client'
import type { ConversationSnapshot, ConversationView } from '@aiagent/view'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ChatSettings } from './chat-settings.ts'

/** Time without a connection before the user is told, in milliseconds: most outages are shorter. */
const TROUBLE_MS = 3000

/** The snapshot of the view; renders again with each change. */
export function useSnapshot(view: ConversationView): ConversationSnapshot {
  const [snapshot, setSnapshot] = useState(view.getSnapshot)
  useLayoutEffect(() => {
    setSnapshot(view.getSnapshot())
    return view.subscribe(() => setSnapshot(view.getSnapshot()))
  }, [view])
  return snapshot
}

/** What is wrong with the connection, once it has lasted for three seconds. */
export type Trouble = 'offline' | 'reconnecting' | 'connecting' | 'silent' | undefined

/** What is said of the connection. */
export interface ConnectionLine {
  readonly trouble: Trouble
  /** Whether the chat is connected, or was until a moment ago: a short outage does not show. */
  readonly isOnline: boolean
}

export function useConnectionLine({ connection }: ConversationSnapshot): ConnectionLine {
  const { state, isOffline, isSilent, remedy } = connection
  const wasConnected = useRef(false)
  const isLost = remedy === 'wait'
  if (!isLost) wasConnected.current = state === 'connected'
  const attempt = wasConnected.current ? 'reconnecting' : 'connecting'
  const now: Trouble = isOffline && state !== 'closed' ? 'offline' : isLost ? attempt : isSilent ? 'silent' : undefined
  const isTroubled = now !== undefined
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    setShown(false)
    if (!isTroubled) return undefined
    const timer = setTimeout(() => setShown(true), TROUBLE_MS)
    return () => clearTimeout(timer)
  }, [isTroubled])
  const trouble = isShown ? now : undefined
  return { trouble, isOnline: !trouble && wasConnected.current }
}

/** How the chat was closed last. */
export function useClosed({ agent }: ChatSettings): ChatClosed | undefined {
  const [closed, setClosed] = useState<ChatClosed>()
  useEffect(() => agent.subscribe('closed', ({ payload }) => setClosed(payload)), [agent])
  return closed
}

/** Name of the agent, once it is known. */
export function useAgentName({ agent }: ChatSettings): string | undefined {
  const [name, setName] = useState<string>()
  useEffect(() => {
    let isCurrent = true
    const load = async () => {
      const { name: own, agentProfileDetails } = await agent.getAgentDetails()
      if (isCurrent) setName(agentProfileDetails?.name ?? own ?? undefined)
    }
    if (agent.getIsInitialized()) load().catch(() => {})
    const stop = agent.subscribe('initialized', ({ payload }) => setName(payload.agent?.name ?? undefined))
    return () => {
      isCurrent = false
      stop()
    }
  }, [agent])
  return name
}
