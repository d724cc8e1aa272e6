import type { ViewPlatform } from './view-platform.ts'

/** Longest wait for a frame, in milliseconds: a page that was hidden meanwhile, or a frame off screen, paints none. */
const FRAME_LIMIT_MS = 100

/** Listeners of a view. Changes of one frame, or without frames of one microtask, are one notification; none is lost. */
export interface Notifier {
  /** Calls back at each notification. Returns the undo, which returns the number of listeners that are left. */
  subscribe(listener: () => void): () => number
  /** Notifies soon. */
  schedule(): void
  /** Notifies now. */
  notify(): void
  /** Cancels the pending notification. */
  stop(): void
}

/** @param onError receives what a listener throws; the others are called nevertheless */
export function createNotifier(
  { isVisible, requestFrame, setTimer }: ViewPlatform,
  onError: (error: unknown) => void,
): Notifier {
  const listeners = new Set<() => void>()
  /** Counts what was scheduled and notified: a late frame of an earlier notification has no effect. */
  let round = 0
  let stopTimer: (() => void) | undefined
  let isPending = false

  const stop = () => {
    round++
    isPending = false
    stopTimer?.()
  }
  const notify = () => {
    stop()
    for (const listener of [...listeners]) {
      try {
        listener()
      } catch (error) {
        onError(error)
      }
    }
  }
  return {
    stop,
    notify,
    subscribe(listener) {
      // A function that is registered twice is called twice, and each undo removes one.
      const entry = () => listener()
      listeners.add(entry)
      return () => {
        listeners.delete(entry)
        return listeners.size
      }
    },
    schedule() {
      if (isPending) return
      isPending = true
      const scheduled = round
      const run = () => {
        if (scheduled === round) notify()
      }
      if (!isVisible()) return void Promise.resolve().then(run)
      stopTimer = setTimer(run, FRAME_LIMIT_MS)
      requestFrame(run)
    },
  }
}
