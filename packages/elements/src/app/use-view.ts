import type { ChatClosed } from '@aiagent/client'
import type { ConversationSnapshot, ConversationView } from '@aiagent/client/view'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
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
export type Trouble = 'offline' | 'reconnecting' | 'silent' | undefined

export function useTrouble({ connection }: ConversationSnapshot): Trouble {
  const { state, isOffline, isSilent } = connection
  const isLost = state === 'reconnecting' || state === 'connecting'
  const now: Trouble =
    isOffline && state !== 'closed' ? 'offline' : isLost ? 'reconnecting' : isSilent ? 'silent' : undefined
  const isTroubled = now !== undefined
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    setShown(false)
    if (!isTroubled) return undefined
    const timer = setTimeout(() => setShown(true), TROUBLE_MS)
    return () => clearTimeout(timer)
  }, [isTroubled])
  return isShown ? now : undefined
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
