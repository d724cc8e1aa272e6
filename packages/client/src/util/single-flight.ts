/**
 * Joins callers that want the same thing at the same time: while a call for a key is under way, later ones get its
 * promise. Once it has settled, the next one starts anew.
 */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Promise<T>>()

  run(key: string, start: () => Promise<T>): Promise<T> {
    const joined = this.#flights.get(key)
    if (joined) return joined
    const flight = start().finally(() => {
      // The map may have been emptied meanwhile, and a newer flight may be under way.
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    })
    this.#flights.set(key, flight)
    return flight
  }

  /** Lets the next call start anew, whatever is under way; what is under way still answers its own callers. */
  forget(): void {
    this.#flights.clear()
  }
}
