import type { ConversationMessage } from '@aiagent/client/view'
import type { RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Distance from the end that still counts as the end, in pixels. */
const NEAR_PX = 48
/** Time after a movement of the list in which the next one is expected, in milliseconds. */
const SCROLLING_MS = 150
/** Distance that a browser moves the list by itself where the heights of rows change, in pixels. */
const CORRECTION_PX = 100

/** A list that stays at its end while messages arrive, unless the user has scrolled away from it. */
export interface EndOfList {
  readonly log: RefObject<HTMLDivElement | null>
  readonly isAtEnd: boolean
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

export function useEndOfList(messages: readonly ConversationMessage[]): EndOfList {
  const log = useRef<HTMLDivElement>(null)
  const stays = useRef(true)
  const [isAtEnd, setAtEnd] = useState(true)
  /** Where the list was moved to by this code, and when the user has moved it. */
  const movement = useRef({ ownTop: 0, at: -SCROLLING_MS })
  const look = useCallback(() => {
    const list = log.current
    if (!list) return
    stays.current = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_PX
    setAtEnd(stays.current)
  }, [])
  const scroll = useCallback(() => {
    const list = log.current
    if (!list || !stays.current) return
    list.scrollTop = list.scrollHeight
    movement.current.ownTop = list.scrollTop
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
  const last = messages.at(-1)
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
    toEnd() {
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
      stays.current = false
      setAtEnd(false)
    },
  }
}
