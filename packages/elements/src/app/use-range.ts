import type { ConversationMessage } from '@aiagent/view'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { EndOfList } from './use-end-of-list.ts'
import { whenIdle } from './when-idle.ts'

/** Number of messages in a group: browsers lay out and paint a group, or skip it, as a whole. */
export const GROUP = 10
/** Number of messages that are rendered at once: more than a screen. */
const FIRST = 2 * GROUP
/** Number of messages that each idle moment adds. */
const STEP = 3 * GROUP
/** Number of messages that are added when the user wants to see earlier ones: some screens. */
const PAGE = 10 * GROUP
/** Wait for the end of a movement, in milliseconds. */
const PAUSE_MS = 100
/**
 * Number of messages that are rendered unasked, for find-in-page and screen readers: most conversations whole. Each takes one to
 * two milliseconds of a processor, and memory.
 */
const UNASKED = 50 * GROUP

/** Which messages are rendered. */
export interface Range {
  /** Index of the first one. */
  readonly first: number
  /**
   * Number of the first message of the conversation. A message keeps its number while others are added before or after it, or
   * are dropped from the start, so that groups of numbers keep their messages.
   */
  readonly start: number
  /** Whether there are earlier messages, which are not added unasked. */
  readonly hasMore: boolean
  showEarlier(): void
}

/**
 * Renders the last messages at once, earlier ones above them in idle moments, and those before them when the user asks or comes
 * near. Complete groups, except at both ends.
 *
 * @param isOpening whether the first messages are about to be painted
 */
export function useRange(
  messages: readonly ConversationMessage[],
  isOpening: boolean,
  { log, isNearEnd, isNearTop, isScrolling, keepPlace, leaveEnd }: Omit<EndOfList, 'toEnd'>,
): Range {
  /** The last message, and its number. */
  const known = useRef<{ readonly id: string | undefined; readonly number: number }>({ id: undefined, number: 0 })
  const from = useRef(0)
  /** Number of messages that are wanted. */
  const wanted = useRef(UNASKED)
  const [, render] = useState({})

  const index = messages.findLastIndex(({ id }) => id === known.current.id)
  const start = index < 0 ? 0 : known.current.number - index
  const end = start + messages.length
  known.current = { id: messages.at(-1)?.id, number: end - 1 }
  if (index < 0) {
    wanted.current = UNASKED
    from.current = end - FIRST
  } else if (isNearEnd && end - from.current > wanted.current + PAGE) {
    // The list has grown much while the user read its end.
    wanted.current = UNASKED
    from.current = end - UNASKED
  }
  const first = Math.max(start, Math.floor(from.current / GROUP) * GROUP)
  const isComplete = first === start || end - first >= wanted.current

  const addEarlier = (count: number) => {
    keepPlace()
    from.current = Math.max(first - count, end - wanted.current)
    render({})
  }
  const addPage = () => {
    wanted.current = Math.max(wanted.current, end - first + PAGE)
    addEarlier(PAGE)
  }
  useEffect(() => {
    if (isOpening || isComplete) return undefined
    return fillWhenIdle(log, isScrolling, () => {
      // In a hidden page idle moments are rare, and nobody waits for the rendering.
      addEarlier(document.hidden ? UNASKED : STEP)
    })
  }, [isOpening, isComplete, first])
  useEffect(() => {
    const list = log.current
    if (first === start || !list) return undefined
    const look = () => {
      if (isNearTop()) addPage()
    }
    list.addEventListener('scroll', look, { passive: true })
    return () => list.removeEventListener('scroll', look)
  }, [first === start, first])
  return {
    first: first - start,
    start,
    hasMore: isComplete && first > start,
    showEarlier() {
      leaveEnd()
      addPage()
    },
  }
}

/**
 * Calls a function once, in an idle moment in which the list is shown and does not move.
 *
 * @returns the undo
 */
function fillWhenIdle({ current: list }: EndOfList['log'], isScrolling: () => boolean, fill: () => void): () => void {
  let cancel = () => {}
  const wait = () => {
    cancel = whenIdle(run)
  }
  const run = () => {
    if (!list?.getClientRects().length) {
      // All rows of a closed chat would be laid out in the moment in which it is opened.
      const observer = new ResizeObserver(() => {
        if (!list?.getClientRects().length) return
        observer.disconnect()
        wait()
      })
      if (list) observer.observe(list)
      cancel = () => observer.disconnect()
    } else if (isScrolling()) {
      // To set the position of a list ends the movement of a finger or a wheel.
      const timer = setTimeout(wait, PAUSE_MS)
      cancel = () => clearTimeout(timer)
    } else fill()
  }
  wait()
  return () => cancel()
}
