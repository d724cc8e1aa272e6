import type { Clock } from '@aiagent/client'

/** The system's time, as the client takes it by default. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: handle => clearTimeout(handle as NodeJS.Timeout | undefined),
}

/** A clock that lets a scenario see which timers the client waits for. */
export class ObservedClock implements Clock {
  readonly #clock: Clock
  readonly #pending = new Map<unknown, number>()
  readonly #background = new Set<unknown>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now = (): number => this.#clock.now()

  /** The delays, as they were asked for, of the timers that still wait; those that keep no process alive aside. */
  get pending(): number[] {
    return [...this.#pending.values()]
  }

  /** How many timers wait, those that keep no process alive among them. */
  get waiting(): number {
    return this.#pending.size + this.#background.size
  }

  setTimeout = (callback: () => void, delayMs: number, options?: { background?: boolean }): unknown => {
    const handle: unknown = this.#clock.setTimeout(() => {
      this.#forget(handle)
      callback()
    }, delayMs)
    if (options?.background) this.#background.add(handle)
    else this.#pending.set(handle, delayMs)
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
