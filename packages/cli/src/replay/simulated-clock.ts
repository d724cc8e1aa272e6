interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** Time that moves only when it is told to, for the client and the emulator of a replay. */
export class SimulatedClock {
  readonly #start: number
  #elapsed = 0
  #handles = 0
  readonly #timers = new Map<number, Timer>()

  /** @param start milliseconds since the epoch */
  constructor(start: number) {
    this.#start = start
  }

  now = (): number => this.#start + this.#elapsed

  monotonic = (): number => this.#elapsed

  setTimeout = (callback: () => void, delayMs: number): number => {
    this.#timers.set(++this.#handles, { at: this.#elapsed + Math.max(0, delayMs), callback })
    return this.#handles
  }

  clearTimeout = (handle: unknown): void => {
    this.#timers.delete(handle as number)
  }

  /** Moves on to a time, and runs what falls due on the way, in order. Between two timers, promises settle. */
  async advanceTo(target: number): Promise<void> {
    await settlePromises()
    for (let due = this.#next(target); due; due = this.#next(target)) {
      const [handle, timer] = due
      this.#timers.delete(handle)
      this.#elapsed = Math.max(this.#elapsed, timer.at)
      timer.callback()
      await settlePromises()
    }
    this.#elapsed = Math.max(this.#elapsed, target)
  }

  #next(target: number): [number, Timer] | undefined {
    let next: [number, Timer] | undefined
    for (const entry of this.#timers) if (entry[1].at <= target && (!next || entry[1].at < next[1].at)) next = entry
    return next
  }
}

/** Lets promises, and what they start, settle. Requests to an emulator in the same process need a few turns. */
export async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
}
