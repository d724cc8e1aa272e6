import type { Clock } from '../platform/clock.ts'

/** Shortest silence of the agent before the next question, in milliseconds. */
export const MIN_PAUSE_MS = 50

/** Longest silence required before the next question, in milliseconds. */
export const MAX_PAUSE_MS = 2_000

/** The pause is the longest recent gap times this, because gaps vary. */
const PAUSE_PER_GAP = 1.5

/** How many gaps between messages the pause is derived from. */
const REMEMBERED_GAPS = 8

/** The pace of the agent's messages: it tells when an answer of several messages is over. */
export class AgentPace {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** Time of the agent's last message, on the monotonic clock. */
  #spokeAt = Number.NEGATIVE_INFINITY
  /** Whether a user message was written since then. */
  #hasWritten = false
  #gaps: number[] | undefined

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** How long the agent must still be silent before the next question, in milliseconds; not above 0 when it was. */
  get missingMs(): number {
    const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, PAUSE_PER_GAP * Math.max(...(this.#gaps ?? []))))
    return this.#spokeAt + pauseMs - this.#clock.monotonic()
  }

  /** A user message was written. */
  handleWritten(): void {
    this.#hasWritten = true
  }

  /** Measures the gap to the agent's previous message, unless the user wrote in between: then it is the agent's latency. */
  handleSpoken(): void {
    const now = this.#clock.monotonic()
    const gap = now - this.#spokeAt
    if (!this.#hasWritten && gap < MAX_PAUSE_MS) {
      this.#gaps ??= []
      this.#gaps.push(gap)
      if (this.#gaps.length > REMEMBERED_GAPS) this.#gaps.shift()
    }
    this.#spokeAt = now
    this.#hasWritten = false
  }

  /** The chat ended: nothing has to be waited for. The gaps are remembered. */
  reset(): void {
    this.#spokeAt = Number.NEGATIVE_INFINITY
  }
}
