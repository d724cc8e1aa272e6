/** A set of ids that forgets its oldest ones. */
export class RecentIds {
  readonly #limit: () => number
  readonly #ids = new Set<string>()

  constructor(limit: () => number) {
    this.#limit = limit
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  add(id: string): void {
    this.#ids.add(id)
    for (const oldest of this.#ids) {
      if (this.#ids.size <= this.#limit()) return
      this.#ids.delete(oldest)
    }
  }
}
