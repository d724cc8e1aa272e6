/** A set of ids that forgets its oldest ones. */
export class RecentIds {
  readonly #limit: () => number
  readonly #ids = new Set<string>()

  constructor(limit: () => number) {
    this.#limit = limit
  }

  /** Whether the id was added and is still remembered. */
  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Adds an id, and forgets the oldest ones beyond the limit. */
  add(id: string): void {
    this.#ids.add(id)
    for (const oldest of this.#ids) {
      if (this.#ids.size <= this.#limit()) return
      this.#ids.delete(oldest)
    }
  }
}
