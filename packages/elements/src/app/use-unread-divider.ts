import type { ConversationSnapshot } from '@aiagent/view'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { ChatSettings } from './chat-settings.ts'
import { findFirstUnread } from './list-place.ts'

/**
 * Marks messages as read when the user can see them, and remembers where the unread ones began.
 *
 * @returns id of the message below the divider; until the next message of the user
 */
export function useUnreadDivider(
  { view, strings, emit }: ChatSettings,
  { messages, unread }: ConversationSnapshot,
  log: RefObject<HTMLElement | null>,
  isAnswerSeen: () => boolean,
): string | undefined {
  const [divider, setDivider] = useState<string>()
  const isVisible = useVisibility(log)
  const isSeen = isVisible && isAnswerSeen()
  const last = messages.at(-1)
  // Tells one unread message from the next where the count is the same: all may be read between two renderings.
  const firstUnread = findFirstUnread(messages, unread)?.id
  // The observer reports a moment later, or never, that the chat has been hidden and shown again; the list may just have moved.
  const seesNow = () => isVisible && isAnswerSeen() && log.current?.getClientRects().length

  // Before the user can act on what is rendered: what was shown is read, even if the chat is closed at once.
  useLayoutEffect(() => {
    // What the user sees as it arrives is marked as read at once, and was never unread for the host.
    if (unread > 0 && seesNow()) return
    emit('aiagent-unread', { count: unread, text: unread > 0 ? strings.unread(unread) : '' })
    if (unread > 0) setDivider(firstUnread)
  }, [unread, firstUnread])
  useLayoutEffect(() => {
    if (unread === 0 || !isSeen) return
    let frame = 0
    const look = () => {
      if (seesNow()) view.markRead()
      else frame = requestAnimationFrame(look)
    }
    look()
    return () => cancelAnimationFrame(frame)
  }, [isSeen, unread, firstUnread])
  useEffect(() => {
    if (last?.author === 'user') setDivider(undefined)
  }, [last?.author, last?.id])
  // A list that is removed, as at a sign-out, has no unread messages.
  useLayoutEffect(() => () => emit('aiagent-unread', { count: 0, text: '' }), [])
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
