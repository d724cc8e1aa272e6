import type { Clock } from '../platform/clock.ts'
import { withTimeLimit } from '../util/abort.ts'

/** Longest wait for one operation of the store, in milliseconds. */
const STORE_LIMIT_MS = 2_000

/** Operations on the store of a queue: one after the other, since it may be slow, hang or fail. */
export class QueueOperations {
  readonly #clock: Clock
  readonly #warn: (text: string, details?: Record<string, unknown>) => void
  #last: Promise<unknown> = Promise.resolve()
  #isBroken = false
  #isWarned = false

  constructor(clock: Clock, warn: (text: string, details?: Record<string, unknown>) => void) {
    this.#clock = clock
    this.#warn = warn
  }

  /** Whether the store took too long, and nothing was written since. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** Something was written. */
  confirm(): void {
    this.#isBroken = false
  }

  /** Runs work after all before it. A store that fails costs the next page the queue, and this page nothing. */
  run(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(async () => {
      try {
        await work()
      } catch (error) {
        this.#fail(error)
      }
    })
    this.#last = done
    return done
  }

  /** As {@link run}, and resolves at the latest after a time. The work goes on. */
  async runWithin(limitMs: number, work: () => Promise<void>): Promise<void> {
    try {
      await withTimeLimit(this.#clock, limitMs, undefined, () => this.run(work))
    } catch (error) {
      this.#isBroken = true
      this.#fail(error)
    }
  }

  /** One call of the store, which may hang. */
  async ask<T>(call: () => T | PromiseLike<T>): Promise<T> {
    return withTimeLimit(this.#clock, STORE_LIMIT_MS, undefined, async () => call())
  }

  /** Logs the first warning. */
  warnOnce(text: string, details?: Record<string, unknown>): void {
    if (!this.#isWarned) this.#warn(text, details)
    this.#isWarned = true
  }

  #fail(error: unknown): void {
    this.warnOnce('The store of the queue failed: queued messages may be lost on reload.', { error })
  }
}
