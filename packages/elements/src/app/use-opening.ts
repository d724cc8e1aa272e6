import { useEffect, useState } from 'preact/hooks'

/** Longest wait for an idle moment, in milliseconds. */
const LIMIT_MS = 300

/** Whether the first messages are about to be painted: what can wait is done when the browser has time for it. */
export function useOpening(): boolean {
  const [isOpening, setOpening] = useState(true)
  useEffect(() => {
    const end = () => setOpening(false)
    // Safari has no idle moments.
    if (!globalThis.requestIdleCallback) {
      const timer = setTimeout(end, LIMIT_MS / 2)
      return () => clearTimeout(timer)
    }
    const idle = requestIdleCallback(end, { timeout: LIMIT_MS })
    return () => cancelIdleCallback(idle)
  }, [])
  return isOpening
}
