import { useEffect, useState } from 'preact/hooks'
import { whenIdle } from './when-idle.ts'

/** Longest wait for a frame, in milliseconds: a hidden page paints none. */
const LIMIT_MS = 300

/** Whether the first messages are about to be painted: what can wait is done after that, when the browser has time for it. */
export function useOpening(): boolean {
  const [isOpening, setOpening] = useState(true)
  useEffect(() => {
    const end = () => setOpening(false)
    const timer = setTimeout(end, LIMIT_MS)
    let cancel = () => {}
    // There are idle moments before the frame with the messages too.
    const frame = requestAnimationFrame(() => {
      cancel = whenIdle(end)
    })
    return () => {
      clearTimeout(timer)
      cancelAnimationFrame(frame)
      cancel()
    }
  }, [])
  return isOpening
}
