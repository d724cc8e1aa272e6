import type { ConversationMessage } from '@aiagent/client/view'
import type { RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Distance from the end that still counts as the end, in pixels. */
const NEAR_PX = 48

/** A list that stays at its end while messages arrive, unless the user has scrolled away from it. */
export interface EndOfList {
  readonly log: RefObject<HTMLDivElement | null>
  readonly isAtEnd: boolean
  toEnd(): void
  /** Keeps what is in view where it is while the next rendering adds rows above. */
  keepPlace(): void
  /** The user looks at earlier messages. */
  leaveEnd(): void
}

export function useEndOfList(messages: readonly ConversationMessage[]): EndOfList {
  const log = useRef<HTMLDivElement>(null)
  const stays = useRef(true)
  const [isAtEnd, setAtEnd] = useState(true)
  const scroll = useCallback(() => {
    const list = log.current
    if (list && stays.current) list.scrollTop = list.scrollHeight
  }, [])

  useEffect(() => {
    const list = log.current
    if (!list) return undefined
    const look = () => {
      stays.current = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_PX
      setAtEnd(stays.current)
    }
    list.addEventListener('scroll', look, { passive: true })
    // Rows get their height when they are painted, images when they are loaded, and the list when the text field grows.
    const observer = new ResizeObserver(scroll)
    observer.observe(list)
    const rows = new MutationObserver(() => {
      if (list.firstElementChild) observer.observe(list.firstElementChild)
    })
    rows.observe(list, { childList: true })
    if (list.firstElementChild) observer.observe(list.firstElementChild)
    return () => {
      list.removeEventListener('scroll', look)
      observer.disconnect()
      rows.disconnect()
    }
  }, [scroll])

  // A new message of the user leads to the end, wherever the list is.
  const last = messages.at(-1)
  const lastOfUser = last?.author === 'user' ? last.id : undefined
  const before = useRef(lastOfUser)
  useLayoutEffect(() => {
    if (lastOfUser !== undefined && lastOfUser !== before.current) stays.current = true
    before.current = lastOfUser
    scroll()
  }, [lastOfUser, scroll])
  /** Distance of the end from the top of the list, to be kept in the next rendering. */
  const distance = useRef<number | undefined>(undefined)
  useLayoutEffect(() => {
    scroll()
    const list = log.current
    if (list && distance.current !== undefined) list.scrollTop = list.scrollHeight - distance.current
    distance.current = undefined
  })

  return {
    log,
    isAtEnd,
    toEnd() {
      stays.current = true
      scroll()
    },
    keepPlace() {
      const list = log.current
      distance.current = list ? list.scrollHeight - list.scrollTop : undefined
    },
    leaveEnd() {
      // The event that tells so may be late.
      stays.current = false
      setAtEnd(false)
    },
  }
}
