import type { ConversationSnapshot } from '@aiagent/client/view'
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ChatSettings } from './chat-settings.ts'

/**
 * Marks messages as read when the user can see them, and remembers where the unread ones began.
 *
 * @returns id of the message below the divider; until the next message of the user
 */
export function useUnreadDivider(
  { view, emit }: ChatSettings,
  { messages, unread }: ConversationSnapshot,
  log: RefObject<HTMLElement | null>,
  isAnswerSeen: boolean,
): string | undefined {
  const [divider, setDivider] = useState<string>()
  const isVisible = useVisibility(log)
  const isSeen = isVisible && isAnswerSeen
  const last = messages.at(-1)
  // The observer reports a moment later, or never, that the chat has been hidden and shown again.
  const seesNow = () => isSeen && log.current?.getClientRects().length

  useEffect(() => {
    // What the user sees as it arrives is marked as read at once, and was never unread for the host.
    if (unread > 0 && seesNow()) return
    emit('aiagent-unread', { count: unread })
    if (unread === 0) return
    const ofAgent = messages.filter(({ author }) => author === 'agent')
    const first = ofAgent[Math.max(0, ofAgent.length - unread)]
    setDivider(first?.id)
  }, [unread])
  useEffect(() => {
    if (unread === 0 || !isSeen) return
    let frame = 0
    const look = () => {
      if (seesNow()) view.markRead()
      else frame = requestAnimationFrame(look)
    }
    look()
    return () => cancelAnimationFrame(frame)
  }, [isSeen, unread])
  useEffect(() => {
    if (last?.author === 'user') setDivider(undefined)
  }, [last?.author, last?.id])
  return divider
}

/** Whether the user can see the element: it is in the viewport, and the page is visible. */
function useVisibility(ref: RefObject<HTMLElement | null>): boolean {
  const [isVisible, setVisible] = useState(false)
  useEffect(() => {
    let isInView = false
    const look = () => setVisible(isInView && document.visibilityState === 'visible')
    const observer = new IntersectionObserver(entries => {
      isInView = entries.at(-1)?.isIntersecting ?? false
      look()
    })
    if (ref.current) observer.observe(ref.current)
    document.addEventListener('visibilitychange', look)
    return () => {
      observer.disconnect()
      document.removeEventListener('visibilitychange', look)
    }
  }, [ref])
  return isVisible
}
