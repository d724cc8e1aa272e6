/** Counts events within a span of time that moves along. */
export class SlidingWindow {
  readonly #spanMs: number
  #times: number[] = []

  constructor(spanMs: number) {
    this.#spanMs = spanMs
  }

  /** Notes an event. Returns false, and forgets it, when the span holds as many as the limit already. */
  take(now: number, limit: number): boolean {
    const first = this.#times.findIndex(time => time > now - this.#spanMs)
    this.#times = first < 0 ? [] : this.#times.slice(first)
    if (this.#times.length >= limit) return false
    this.#times.push(now)
    return true
  }
}
