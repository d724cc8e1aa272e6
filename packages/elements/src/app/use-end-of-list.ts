import type { ConversationMessage } from '@aiagent/view'
import type { RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { findFirstUnread } from './use-unread-divider.ts'

/** Distance from the end that still counts as the end, in pixels. */
const NEAR_PX = 48
/** Distance of a new answer from the top, in pixels. */
const ABOVE_PX = 8
/** Time in which a further message of the agent belongs to the same answer, in milliseconds. */
const TURN_MS = 10_000
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
  readonly isAtEnd: boolean
  /** Whether the user sees the last answer: its end, or the beginning that the list has moved to. */
  readonly isSeen: boolean
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

/** The messages up to the last one that was rendered. */
interface Turn {
  /** Id of the message at whose beginning the list stays, where there is no room for all. */
  first?: string | undefined
  readonly last: ConversationMessage | undefined
  readonly isSeen: boolean
}

export function useEndOfList(messages: readonly ConversationMessage[], unread: number): EndOfList {
  const log = useRef<HTMLDivElement>(null)
  const stays = useRef(true)
  const [isAtEnd, setAtEnd] = useState(true)
  /** Where the list was moved to by this code, and when the user has moved it. */
  const movement = useRef({ ownTop: 0, at: -SCROLLING_MS })
  const last = messages.at(-1)
  const turn = useRef<Turn>({ first: findFirstUnread(messages, unread), last, isSeen: false })
  const counted = useRef(unread)
  const { first, last: known } = turn.current
  if (last?.id !== known?.id) {
    const added = messages.slice(messages.findLastIndex(({ id }) => id === known?.id) + 1)
    const answers = added.slice(added.findLastIndex(({ author }) => author === 'user') + 1)
    const [answer] = answers
    const before = answers.length < added.length ? undefined : first
    const follows = stays.current || answers.length < added.length
    const isShown = !!log.current?.clientHeight
    const isSameTurn = isShown && before && answer && known && answer.time - known.time < TURN_MS
    // What is read stays in view, and so does the first of several unread messages. Without unread ones it is the history.
    const isKept = !answer || !unread || (before && (isSameTurn || !isAtEnd || unread > answers.length))
    turn.current = {
      first: follows ? (isKept ? before : answer.id) : undefined,
      last,
      isSeen: follows && isShown && (!isKept || !!isSameTurn),
    }
  } else if (unread > counted.current && !log.current?.clientHeight) {
    // Unread messages of the page before, in a chat that is not open.
    turn.current.first ??= findFirstUnread(messages, unread)
  }
  counted.current = unread
  const look = useCallback(() => {
    const list = log.current
    if (!list) return
    const isNear = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_PX
    // The user has moved the list.
    if (Math.abs(list.scrollTop - movement.current.ownTop) > NEAR_PX) turn.current.first = undefined
    stays.current = isNear || turn.current.first !== undefined
    setAtEnd(isNear)
  }, [])
  const scroll = useCallback(() => {
    const list = log.current
    if (!list?.clientHeight || !stays.current) return
    const end = list.scrollHeight - list.clientHeight
    const id = turn.current.first
    const row = id && list.querySelector(`[data-id="${CSS.escape(id)}"]`)
    list.scrollTop = row ? Math.min(end, topOf(row, list) - ABOVE_PX) : end
    movement.current.ownTop = list.scrollTop
    setAtEnd(end - list.scrollTop < NEAR_PX)
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
    const observer = new ResizeObserver(scroll)
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
  }, [look, scroll])

  // A new message of the user leads to the end, wherever the list is.
  const lastOfUser = last?.author === 'user' ? last.id : undefined
  const before = useRef(lastOfUser)
  useLayoutEffect(() => {
    if (lastOfUser !== undefined && lastOfUser !== before.current) stays.current = true
    before.current = lastOfUser
    scroll()
  }, [lastOfUser, scroll])
  const kept = useRef<KeptPlace | undefined>(undefined)
  useLayoutEffect(() => {
    const list = log.current
    // With a message above it, its first row may show neither day nor author: its height is measured again.
    kept.current?.first?.classList.remove('skipped')
    if (list && kept.current && !stays.current) {
      list.scrollTop += kept.current.last.offsetTop - kept.current.top
      movement.current.ownTop = list.scrollTop
    }
    kept.current = undefined
    scroll()
  })

  return {
    log,
    isAtEnd,
    isSeen: isAtEnd || turn.current.isSeen,
    toEnd() {
      turn.current.first = undefined
      stays.current = true
      scroll()
    },
    isNearTop: () => !stays.current && !!log.current && log.current.scrollTop < log.current.clientHeight,
    isScrolling: () => !stays.current && performance.now() - movement.current.at < SCROLLING_MS,
    keepPlace() {
      // The event of a movement may be late.
      if (movement.current.ownTop !== log.current?.scrollTop) look()
      const groups = [...(log.current?.querySelectorAll<HTMLElement>('.group') ?? [])]
      // Messages that arrive are below the top of the last group.
      const last = groups.at(-1)
      kept.current = last && { first: groups[0], last, top: last.offsetTop }
    },
    leaveEnd() {
      // The event that tells so may be late.
      turn.current.first = undefined
      stays.current = false
      setAtEnd(false)
    },
  }
}

/** Where a message begins in the list, with its author, or the divider above it. An animation does not count. */
function topOf(row: Element, list: HTMLElement): number {
  const above = row.previousElementSibling
  let top = 0
  let at: Element | null = above?.matches('.unread') ? above : row.querySelector('.by, .bubble')
  while (at instanceof HTMLElement && at !== list.parentElement) {
    top += at.offsetTop
    at = at.offsetParent
  }
  return top
}
