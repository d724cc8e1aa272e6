import { useEffect, useState } from 'preact/hooks'

/** Longest wait for an idle moment, in milliseconds: a hidden page paints nothing, and Safari has no idle moments. */
const LIMIT_MS = 300

/** Whether the first messages are about to be painted: what can wait is done after that, when the browser has time for it. */
export function useOpening(): boolean {
  const [isOpening, setOpening] = useState(true)
  useEffect(() => {
    const end = () => setOpening(false)
    const timer = setTimeout(end, LIMIT_MS)
    let idle = 0
    // There are idle moments before the frame with the messages too.
    const frame = requestAnimationFrame(() => {
      idle = globalThis.requestIdleCallback?.(end)
    })
    return () => {
      clearTimeout(timer)
      cancelAnimationFrame(frame)
      globalThis.cancelIdleCallback?.(idle)
    }
  }, [])
  return isOpening
}
