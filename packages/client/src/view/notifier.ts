import type { ViewPlatform } from './view-platform.ts'

/** Longest wait for a frame, in milliseconds: a page that was hidden meanwhile, or a frame off screen, paints none. */
const FRAME_LIMIT_MS = 100

/**
 * Listeners of a view. Changes of one frame, or without frames of one microtask, are one notification; none is lost.
 */
export class Notifier {
  readonly #platform: ViewPlatform
  readonly #onError: (error: unknown) => void
  readonly #listeners = new Set<() => void>()
  /** Cancels the pending notification. */
  #cancel: (() => void) | undefined

  /** @param onError receives what a listener throws; the others are called nevertheless */
  constructor(platform: ViewPlatform, onError: (error: unknown) => void) {
    this.#platform = platform
    this.#onError = onError
  }

  subscribe(listener: () => void): () => void {
    // A listener that is registered twice is called twice, and each undo removes one.
    const entry = () => listener()
    this.#listeners.add(entry)
    return () => void this.#listeners.delete(entry)
  }

  /** Notifies soon. */
  schedule(): void {
    if (this.#cancel) return
    const { isVisible, requestFrame, setTimer } = this.#platform
    let isPending = true
    const run = () => {
      if (isPending) this.notify()
    }
    const stopTimer = isVisible() ? setTimer(run, FRAME_LIMIT_MS) : undefined
    this.#cancel = () => {
      isPending = false
      stopTimer?.()
    }
    if (stopTimer) requestFrame(run)
    else void Promise.resolve().then(run)
  }

  /** Notifies now. */
  notify(): void {
    this.stop()
    for (const listener of [...this.#listeners]) {
      try {
        listener()
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  /** Cancels the pending notification. */
  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}
