/** Pause before a stream is read again in which something was found, in milliseconds. */
export const POLL_MS = 25

/** Longest pause before a stream is read again, in milliseconds: what comes after a silence waits so long at most. */
export const LONGEST_POLL_MS = 200

/**
 * When each stream is read again, where a command reads one stream only: soon while entries come, then half as often with each
 * read that finds none.
 */
export class PollPlan {
  readonly #plans = new Map<string, { pauseMs: number; at: number }>()

  /** Whether it is time to read a stream. A stream that is unknown is read at once. */
  isDue(key: string, now: number): boolean {
    return now >= (this.#plans.get(key)?.at ?? now)
  }

  /** A stream was read. */
  note(key: string, hasEntries: boolean, now: number): void {
    const before = this.#plans.get(key)?.pauseMs ?? POLL_MS / 2
    const pauseMs = hasEntries ? POLL_MS : Math.min(LONGEST_POLL_MS, before * 2)
    this.#plans.set(key, { pauseMs, at: hasEntries ? now : now + pauseMs })
  }
}
