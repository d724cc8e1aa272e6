import type { ConversationMessage } from '@aiagent/client/view'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { EndOfList } from './use-end-of-list.ts'

/** Number of messages in a group: browsers lay out and paint a group, or skip it, as a whole. */
export const GROUP = 10
/** Number of messages that are rendered at once: more than a screen. */
const FIRST = 2 * GROUP
/** Number of messages that are there soon after. */
const SOON = 5 * GROUP
/** Number of messages that each step back adds. */
const PAGE = 10 * GROUP

/** Which messages are rendered. */
export interface Range {
  /** Index of the first one. */
  readonly first: number
  /**
   * Number of the first message of the conversation. A message keeps its number while others are added before or after it, or
   * are dropped from the start, so that groups of numbers keep their messages.
   */
  readonly start: number
  showEarlier(): void
}

/**
 * Renders the last messages, and the earlier ones that the user asked for. Complete groups, except at both ends.
 *
 * @param isOpening whether the first messages are about to be painted
 */
export function useRange(
  messages: readonly ConversationMessage[],
  isOpening: boolean,
  { isAtEnd, keepPlace, leaveEnd }: Pick<EndOfList, 'isAtEnd' | 'keepPlace' | 'leaveEnd'>,
): Range {
  /** The last message, and its number. */
  const known = useRef<{ readonly id: string | undefined; readonly number: number }>({ id: undefined, number: 0 })
  const from = useRef(0)
  /** Number of messages that the user asked to see. */
  const wanted = useRef(PAGE)
  const [, render] = useState({})

  const index = messages.findLastIndex(({ id }) => id === known.current.id)
  const start = index < 0 ? 0 : known.current.number - index
  const end = start + messages.length
  known.current = { id: messages.at(-1)?.id, number: end - 1 }
  // Older messages are left out again when the list has grown much while the user read its end.
  const isRenewed = index < 0 || (isAtEnd && end - from.current > wanted.current + PAGE)
  if (isRenewed) {
    wanted.current = PAGE
    from.current = end - FIRST
  }
  const first = Math.max(start, Math.floor(from.current / GROUP) * GROUP)

  const renderFrom = (number: number) => {
    keepPlace()
    from.current = number
    render({})
  }
  useEffect(() => {
    if (!isOpening && first > start && end - first < SOON) renderFrom(end - SOON)
  })
  return {
    first: first - start,
    start,
    showEarlier() {
      leaveEnd()
      wanted.current = end - first + PAGE
      renderFrom(first - PAGE)
    },
  }
}
