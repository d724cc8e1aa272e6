import type { Clock } from '@aiagent/client'
import type { Clock as ServiceClock } from '@aiagent/emulator'

/** The start of every run, in milliseconds since the epoch. */
const START = Date.UTC(2026, 0, 15, 9, 0, 0)

/** Turns of the event loop after each timer: promises and bodies of responses that it set off are done before the next. */
const TURNS_PER_TIMER = 2

/** The time of a run, for agent and service. */
export interface RunClock {
  /** The agent's view: its wall clock can be wrong, and its timers are counted. */
  readonly agent: Clock
  /** Number of timers of the agent that have neither fired nor been cleared. */
  readonly agentTimers: number
  /** The service's view: its wall clock is right. */
  readonly service: ServiceClock
  /** Milliseconds since the start of the run. */
  elapsed(): number
  /** As {@link elapsed}, without the time that the machine slept. */
  awake(): number
  /** Lets time pass; timers fire. */
  advance(ms: number): Promise<void>
  /** Lets time pass without a timer, as when the machine sleeps. Does nothing where time is real. */
  sleep(ms: number): void
  /** Sets the agent's wall clock forward or back. */
  shiftWallClock(ms: number): void
  /** Sets the agent's wall clock right. */
  restoreWallClock(): void
}

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** What both clocks share: the agent's view with its timer count and its wall clock. */
abstract class ClockOfRun implements RunClock {
  readonly agent: Clock
  readonly service: ServiceClock
  readonly #agentTimers = new Set<unknown>()
  #wallShift = 0

  constructor() {
    const start = (callback: () => void, delayMs: number) => this.startTimer(callback, delayMs)
    const stop = (handle: unknown) => this.stopTimer(handle)
    this.service = { now: () => START + this.elapsed(), setTimeout: start, clearTimeout: stop }
    this.agent = {
      now: () => START + this.elapsed() + this.#wallShift,
      monotonic: () => this.elapsed(),
      setTimeout: (callback, delayMs) => {
        const handle: unknown = start(() => {
          this.#agentTimers.delete(handle)
          callback()
        }, delayMs)
        this.#agentTimers.add(handle)
        return handle
      },
      clearTimeout: handle => {
        this.#agentTimers.delete(handle)
        stop(handle)
      },
    }
  }

  get agentTimers(): number {
    return this.#agentTimers.size
  }

  shiftWallClock(ms: number): void {
    this.#wallShift += ms
  }

  restoreWallClock(): void {
    this.#wallShift = 0
  }

  abstract elapsed(): number
  abstract awake(): number
  abstract advance(ms: number): Promise<void>
  abstract sleep(ms: number): void
  protected abstract startTimer(callback: () => void, delayMs: number): unknown
  protected abstract stopTimer(handle: unknown): void
}

/** A clock that stands still until the run advances it. */
export class SimulatedClock extends ClockOfRun {
  #elapsed = 0
  #slept = 0
  #order = 0
  readonly #timers = new Map<number, Timer>()

  elapsed(): number {
    return this.#elapsed
  }

  awake(): number {
    return this.#elapsed - this.#slept
  }

  async advance(ms: number): Promise<void> {
    const target = this.#elapsed + ms
    await turnEventLoop()
    for (let due = this.#next(target); due; due = this.#next(target)) {
      const [handle, { at, callback }] = due
      this.#timers.delete(handle)
      this.#elapsed = Math.max(this.#elapsed, at)
      callback()
      await turnEventLoop()
    }
    this.#elapsed = target
  }

  sleep(ms: number): void {
    this.#elapsed += ms
    this.#slept += ms
  }

  protected startTimer(callback: () => void, delayMs: number): number {
    this.#timers.set(++this.#order, { at: this.#elapsed + Math.max(0, delayMs), callback })
    return this.#order
  }

  protected stopTimer(handle: unknown): void {
    this.#timers.delete(handle as number)
  }

  /** The soonest timer that is due, the oldest of several. */
  #next(until: number): [number, Timer] | undefined {
    let first: [number, Timer] | undefined
    for (const entry of this.#timers) if (entry[1].at <= (first ? first[1].at - 1e-9 : until)) first = entry
    return first
  }
}

/** Longest real time between two ticks that counts, in milliseconds. */
const LONGEST_TICK_MS = 2

/**
 * Real time, sped up: a second of the run takes a fraction of a real one. For sockets, which know no simulated time.
 *
 * It slows down with the process: on a busy machine the time limits of client and service would otherwise pass before a
 * response can be read.
 */
export class FastClock extends ClockOfRun {
  readonly #speed: number
  readonly #timers = new Map<number, Timer>()
  #elapsed = 0
  #order = 0
  #tickedAt = 0
  #ticker: NodeJS.Timeout | undefined

  /** @param speed seconds of the run in a real second, on a machine that is not busy */
  constructor(speed: number) {
    super()
    this.#speed = speed
  }

  elapsed(): number {
    return this.#elapsed
  }

  awake(): number {
    return this.#elapsed
  }

  advance(ms: number): Promise<void> {
    return new Promise(resolve => this.startTimer(resolve, ms))
  }

  /** Real time cannot pass without timers. */
  sleep(): void {}

  protected startTimer(callback: () => void, delayMs: number): number {
    if (!this.#ticker) {
      this.#tickedAt = performance.now()
      this.#ticker = setInterval(() => this.#tick(), 1)
    }
    this.#timers.set(++this.#order, { at: this.#elapsed + Math.max(0, delayMs), callback })
    return this.#order
  }

  protected stopTimer(handle: unknown): void {
    this.#timers.delete(handle as number)
  }

  #tick(): void {
    const now = performance.now()
    this.#elapsed += Math.min(now - this.#tickedAt, LONGEST_TICK_MS) * this.#speed
    this.#tickedAt = now
    const due = [...this.#timers]
      .filter(([, { at }]) => at <= this.#elapsed)
      .sort(([, one], [, other]) => one.at - other.at)
    for (const [handle, { callback }] of due) if (this.#timers.delete(handle)) callback()
    if (this.#timers.size > 0) return
    clearInterval(this.#ticker)
    this.#ticker = undefined
  }
}

/** Lets everything run that is ready to run. */
export async function turnEventLoop(turns = TURNS_PER_TIMER): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>(resolve => setImmediate(resolve))
}
