import type { Clock } from '../clock.ts'

/** How a wait ended: `over`, or `gone` when the client or the service has disconnected. */
export type WaitEnd = 'over' | 'gone'

/** Owns all waits of requests, so that they can end together. */
export class PendingWaits {
  readonly #clock: Clock
  readonly #abandon = new Set<() => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Waits for some time. */
  pause(ms: number, signal?: AbortSignal): Promise<WaitEnd> {
    return this.#wait(signal, over => {
      const timer = this.#clock.setTimeout(over, ms)
      return () => this.#clock.clearTimeout(timer)
    })
  }

  /** Waits until listeners are called: those of a fault that is lifted, or of the desk. */
  untilCalled(listeners: Set<() => void>, signal?: AbortSignal): Promise<WaitEnd> {
    return this.#wait(signal, over => {
      listeners.add(over)
      return () => listeners.delete(over)
    })
  }

  /** Ends every wait, because the service has stopped. */
  cancelAll(): void {
    for (const abandon of [...this.#abandon]) abandon()
  }

  #wait(signal: AbortSignal | undefined, begin: (over: () => void) => () => void): Promise<WaitEnd> {
    if (signal?.aborted) return Promise.resolve('gone')
    return new Promise(resolve => {
      const settle = (end: WaitEnd) => {
        undo()
        this.#abandon.delete(leave)
        signal?.removeEventListener('abort', leave)
        resolve(end)
      }
      const leave = () => settle('gone')
      const undo = begin(() => settle('over'))
      this.#abandon.add(leave)
      signal?.addEventListener('abort', leave)
    })
  }
}
