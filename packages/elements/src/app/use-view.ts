import type { ChatClosed } from '@aiagent/client'
import type { ConversationSnapshot, ConversationView } from '@aiagent/view'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ChatSettings } from './chat-settings.ts'

/** Time without a connection before the user is told, in milliseconds: most outages are shorter. */
const TROUBLE_MS = 3000

/** Time without a service before the user is offered other ways, in milliseconds. */
const UNREACHABLE_MS = 15_000

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
  /** Whether it has lasted for fifteen seconds. */
  readonly isLong: boolean
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
  const [lastedMs, setLasted] = useState(0)
  useEffect(() => {
    setLasted(0)
    if (!isTroubled) return undefined
    const timers = [TROUBLE_MS, UNREACHABLE_MS].map(ms => setTimeout(() => setLasted(ms), ms))
    return () => timers.forEach(clearTimeout)
  }, [isTroubled])
  const trouble = lastedMs > 0 ? now : undefined
  return { trouble, isLong: lastedMs === UNREACHABLE_MS, isOnline: !trouble && wasConnected.current }
}

/** Whole seconds until a time; 0 where there is none, and after it. A clock that is set meanwhile changes nothing. */
export function useSecondsUntil(time: number | undefined): number {
  const due = useMemo(() => (time === undefined ? 0 : performance.now() + time - Date.now()), [time])
  const leftMs = Math.max(0, due - performance.now())
  const [, render] = useState(0)
  useEffect(() => {
    if (leftMs === 0) return undefined
    const timer = setTimeout(() => render(leftMs), leftMs % 1000 || 1000)
    return () => clearTimeout(timer)
  })
  return Math.ceil(leftMs / 1000)
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
