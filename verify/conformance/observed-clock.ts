import type { Clock } from '@aiagent/client'

/** The system clock, as the client uses it by default. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  monotonic: () => performance.now(),
  clearTimeout: handle => clearTimeout(handle as NodeJS.Timeout | undefined),
}

/** A clock that shows the pending timers of the client. */
export class ObservedClock implements Clock {
  readonly #clock: Clock
  readonly #pending = new Map<unknown, { readonly delayMs: number; readonly at: number }>()
  readonly #background = new Set<unknown>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now = (): number => this.#clock.now()

  monotonic = (): number => this.#clock.monotonic()

  /** Delays of the pending timers, except those that do not keep the process alive. */
  get pending(): number[] {
    return [...this.#pending.values()].map(({ delayMs }) => delayMs)
  }

  /** Time until the next of the pending timers whose delay is no longer than the given one. */
  untilNext(longestMs: number): number | undefined {
    const due = [...this.#pending.values()].flatMap(({ delayMs, at }) => (delayMs <= longestMs ? at : []))
    return due.length > 0 ? Math.max(0, Math.min(...due) - this.monotonic()) : undefined
  }

  /** Number of pending timers, including those that do not keep the process alive. */
  get waiting(): number {
    return this.#pending.size + this.#background.size
  }

  setTimeout = (callback: () => void, delayMs: number, options?: { background?: boolean }): unknown => {
    const handle: unknown = this.#clock.setTimeout(() => {
      this.#forget(handle)
      callback()
    }, delayMs)
    if (options?.background) this.#background.add(handle)
    else this.#pending.set(handle, { delayMs, at: this.monotonic() + delayMs })
    return handle
  }

  clearTimeout = (handle: unknown): void => {
    this.#forget(handle)
    this.#clock.clearTimeout(handle)
  }

  #forget(handle: unknown): void {
    this.#pending.delete(handle)
    this.#background.delete(handle)
  }
}
