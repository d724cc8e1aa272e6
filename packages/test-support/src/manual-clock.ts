interface Timer {
  readonly at: number
  readonly order: number
  readonly callback: () => void
}

/**
 * A clock that stands still until a test moves it.
 *
 * Has the shape that the client and the emulator ask of a clock. Timers run in the order of their due time; between two
 * of them the event loop turns, so that promises and network callbacks that a timer set off are done before the next.
 */
export class ManualClock {
  /** Time since the clock was made, which timers run by. */
  #elapsed = 0
  /** What the wall clock shows beyond that. */
  #wallOffset: number
  #order = 0
  readonly #timers = new Map<number, Timer>()

  /** @param start milliseconds since the epoch; a fixed day in 2026 by default */
  constructor(start = Date.UTC(2026, 0, 15, 9, 0, 0)) {
    this.#wallOffset = start
  }

  /** The wall clock, in milliseconds since the epoch. */
  now = (): number => this.#wallOffset + this.#elapsed

  /** The monotonic clock: {@link shiftWallClock} does not change it. */
  monotonic = (): number => this.#elapsed

  setTimeout = (callback: () => void, delayMs: number): number => {
    const order = ++this.#order
    this.#timers.set(order, { at: this.#elapsed + Math.max(0, delayMs), order, callback })
    return order
  }

  clearTimeout = (handle: unknown): void => {
    this.#timers.delete(handle as number)
  }

  /** How many timers wait. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  /** Milliseconds until each waiting timer, soonest first. */
  get pendingDelays(): number[] {
    return [...this.#timers.values()].map(timer => timer.at - this.#elapsed).sort((a, b) => a - b)
  }

  /** Moves time forward and runs what falls due on the way, in order. */
  async advance(ms: number): Promise<void> {
    const target = this.#elapsed + ms
    await turnEventLoop()
    for (let due = this.#next(target); due; due = this.#next(target)) {
      this.#timers.delete(due.order)
      this.#elapsed = Math.max(this.#elapsed, due.at)
      due.callback()
      await turnEventLoop()
    }
    // Another advance may be on its way.
    this.#elapsed = Math.max(this.#elapsed, target)
    await turnEventLoop()
  }

  /** Lets time pass without running a timer, as when a process is stopped. Due timers run with the next advance. */
  jump(ms: number): void {
    this.#elapsed += ms
  }

  /** Sets the wall clock forward or back. Time does not pass, and no timer is affected. */
  shiftWallClock(ms: number): void {
    this.#wallOffset += ms
  }

  #next(until: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers.values()) {
      if (timer.at > until) continue
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer
    }
    return first
  }
}

/** Lets everything run that is ready to run: pending promises, and callbacks that the platform has queued. */
export async function turnEventLoop(turns = 4): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>(resolve => setImmediate(resolve))
}
