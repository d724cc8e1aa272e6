/** Counts events within a sliding time window. */
export class SlidingWindow {
  readonly #spanMs: number
  #times: number[] = []

  constructor(spanMs: number) {
    this.#spanMs = spanMs
  }

  /** Records an event. Returns false, and does not record it, if the window is full. */
  take(now: number, limit: number): boolean {
    const first = this.#times.findIndex(time => time > now - this.#spanMs)
    this.#times = first < 0 ? [] : this.#times.slice(first)
    if (this.#times.length >= limit) return false
    this.#times.push(now)
    return true
  }
}
