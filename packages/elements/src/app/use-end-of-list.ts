import type { ConversationMessage } from '@aiagent/view'
import type { RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Beginning, FIRST_PLACE, type ListEvent, nextPlace } from './list-place.ts'

/** Distance of a new answer from the top, in pixels. */
const ABOVE_PX = 8
/** Distance by which the user, and not a browser that corrects heights, has moved the list, in pixels. */
const MOVED_PX = 48
/** Time after a movement of the list in which the next one is expected, in milliseconds. */
const SCROLLING_MS = 150
/** Distance that a browser moves the list by itself where the heights of rows change, in pixels. */
const CORRECTION_PX = 100

/**
 * A list that stays at its end while messages arrive, unless the user has scrolled away from it. An answer that does not fit stays
 * at its beginning.
 */
export interface EndOfList {
  readonly log: RefObject<HTMLDivElement | null>
  /** Whether nothing is cut at the end. */
  readonly hasEnd: boolean
  readonly isNearEnd: boolean
  /** Whether the user sees the last answer: its end, or the beginning that the list has moved to. */
  isSeen(): boolean
  toEnd(): void
  /** Whether there is at most a screen above what is in view, and the user has left the end. */
  isNearTop(): boolean
  /** Whether the user is scrolling. */
  isScrolling(): boolean
  /** Keeps what is in view where it is while the next rendering adds rows above. */
  keepPlace(): void
  /** The user looks at earlier messages. */
  leaveEnd(): void
}

/** The first and the last group before rows are added above, and where the last one was. */
interface KeptPlace {
  readonly first: Element | undefined
  readonly last: HTMLElement
  readonly top: number
}

export function useEndOfList(messages: readonly ConversationMessage[], unread: number): EndOfList {
  const log = useRef<HTMLDivElement>(null)
  const place = useRef(FIRST_PLACE)
  const [seen, render] = useState('')
  const drawn = useRef(seen)
  /** Where the list was moved to by this code, and when the user has moved it. */
  const movement = useRef({ ownTop: 0, at: -SCROLLING_MS })
  const kept = useRef<KeptPlace | undefined>(undefined)
  const dispatch = useCallback((event: ListEvent) => {
    place.current = nextPlace(place.current, event)
    const { end, isMoved, follows } = place.current
    // Where this code places the list, the browser does not move it when rows above what is in view change their height.
    log.current?.style.setProperty('overflow-anchor', follows === 'user' ? 'auto' : 'none')
    render(`${end} ${isMoved}`)
  }, [])
  const look = useCallback(() => {
    const list = log.current
    if (list)
      dispatch({
        type: 'scrolled',
        below: list.scrollHeight - list.scrollTop - list.clientHeight,
        isByUser: Math.abs(list.scrollTop - movement.current.ownTop) > MOVED_PX,
      })
  }, [])
  const scroll = useCallback(() => {
    const list = log.current
    const { follows } = place.current
    if (!list?.clientHeight || follows === 'user') return
    const end = list.scrollHeight - list.clientHeight
    list.scrollTop = follows === 'end' ? end : Math.min(end, topOf(follows, list, end))
    movement.current.ownTop = list.scrollTop
    dispatch({ type: 'placed', below: end - list.scrollTop })
  }, [])

  useEffect(() => {
    const list = log.current
    if (!list) return undefined
    const onScroll = () => {
      const { ownTop } = movement.current
      if (Math.abs(list.scrollTop - ownTop) > CORRECTION_PX) movement.current.at = performance.now()
      look()
    }
    list.addEventListener('scroll', onScroll, { passive: true })
    // Rows get their height when they are painted, images when they are loaded, and the list when the text field grows.
    const observer = new ResizeObserver(() => {
      const { follows, end } = place.current
      // The button that leads to the end takes room from the list: a user who leaves the end slowly is not taken back.
      const isLeaving = follows === 'end' && end !== 'shown' && list.scrollTop !== movement.current.ownTop
      if (!isLeaving) scroll()
    })
    observer.observe(list)
    const rows = new MutationObserver(() => {
      if (list.firstElementChild) observer.observe(list.firstElementChild)
    })
    rows.observe(list, { childList: true })
    if (list.firstElementChild) observer.observe(list.firstElementChild)
    return () => {
      list.removeEventListener('scroll', onScroll)
      observer.disconnect()
      rows.disconnect()
    }
  }, [])
  useLayoutEffect(() => {
    const list = log.current
    // With a message above it, its first row may show neither day nor author: its height is measured again.
    kept.current?.first?.classList.remove('skipped')
    // Before anything else asks for the layout: the browser would then move the list too.
    if (list && kept.current && place.current.follows === 'user') {
      list.scrollTop += kept.current.last.offsetTop - kept.current.top
      movement.current.ownTop = list.scrollTop
    }
    kept.current = undefined
    const before = place.current
    dispatch({ type: 'rendered', messages, unread, isShown: !!list?.clientHeight })
    // A rendering that only shows where the list is, as while the user leaves the end, does not move it back.
    if (drawn.current === seen || place.current !== before) scroll()
    drawn.current = seen
  })

  return {
    log,
    hasEnd: place.current.end === 'shown',
    isNearEnd: place.current.end !== 'far',
    isSeen: () => place.current.end !== 'far' || place.current.isMoved,
    toEnd() {
      dispatch({ type: 'to-end' })
      scroll()
    },
    isNearTop: () =>
      place.current.follows === 'user' && !!log.current && log.current.scrollTop < log.current.clientHeight,
    isScrolling: () => place.current.follows === 'user' && performance.now() - movement.current.at < SCROLLING_MS,
    keepPlace() {
      // The event of a movement may be late.
      if (movement.current.ownTop !== log.current?.scrollTop) look()
      const groups = [...(log.current?.querySelectorAll<HTMLElement>('.group') ?? [])]
      // Messages that arrive are below the top of the last group.
      const last = groups.at(-1)
      kept.current = last && { first: groups[0], last, top: last.offsetTop }
    },
    // The event that reports the movement may be late.
    leaveEnd: () => dispatch({ type: 'to-earlier' }),
  }
}

/**
 * Where the list shows the beginning of a message: its author, or the divider above it. One line of the question stays above an answer
 * that does not fit. Without its row it is the end.
 */
function topOf({ id, question }: Beginning, list: HTMLElement, end: number): number {
  const row = rowOf(id, list)
  if (!row) return end
  const divider = row.previousElementSibling
  if (divider?.matches('.unread')) return offsetIn(list, divider) - ABOVE_PX
  const top = offsetIn(list, row.querySelector('.by, .bubble')) - ABOVE_PX
  const asked = top < end && question ? rowOf(question, list)?.querySelector<HTMLElement>('.bubble') : undefined
  if (!asked) return top
  const { lineHeight, paddingBlockEnd } = getComputedStyle(asked)
  const hidden = asked.clientHeight - Number.parseFloat(lineHeight) - Number.parseFloat(paddingBlockEnd)
  // A question of one line is shown whole.
  const line = offsetIn(list, asked) + (hidden > Number.parseFloat(lineHeight) ? hidden : -ABOVE_PX)
  return top - line < list.clientHeight / 4 ? line : top
}

function rowOf(id: string, list: HTMLElement): Element | null {
  return list.querySelector(`[data-id="${CSS.escape(id)}"]`)
}

/** Where an element begins in the list. An animation does not count. */
function offsetIn(list: HTMLElement, element: Element | null): number {
  let top = 0
  for (let at = element; at instanceof HTMLElement && at !== list.parentElement; at = at.offsetParent)
    top += at.offsetTop
  return top
}
