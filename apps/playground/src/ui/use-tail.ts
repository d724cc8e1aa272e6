import { useLayoutEffect, useRef } from 'preact/hooks'

/** Keeps a list at its end while entries are added, unless the user has scrolled up. The list can be scrolled by keyboard. */
export function useTail<Element extends HTMLElement>(length: number) {
  const ref = useRef<Element>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    const { current } = ref
    if (current && isAtEnd.current) current.scrollTop = current.scrollHeight
  }, [length])
  const onScroll = () => {
    const { current } = ref
    if (current) isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < 24
  }
  return { ref, onScroll, tabIndex: 0 }
}
