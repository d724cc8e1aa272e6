/** A request as it arrived, and what it was answered with. */
export interface RecordedRequest {
  /** Milliseconds since the epoch. */
  at: number
  /** HTTP method, in upper case. */
  method: string
  /** Path without the query. */
  path: string
  /** Query parameters by name, decoded. */
  query: Readonly<Record<string, string>>
  /** Names in lower case. Empty for the upgrade of a chat connection in process. */
  headers: Readonly<Record<string, string>>
  /** The body as text; absent where the method has none. */
  body?: string
  /** 101 for an accepted chat connection, 0 as long as there is no answer, 499 when one side was gone before. */
  status: number
  /** Id of the fault that answered it in place of the service, or broke its answer off. */
  fault?: string
}

/** A list that forgets its oldest entries. It grows to twice its limit before it is cut, so that adding stays cheap. */
export class Recording<T> {
  readonly #limit: () => number
  #entries: T[] = []
  #total = 0

  constructor(limit: () => number) {
    this.#limit = limit
  }

  /** How many were ever added. */
  get total(): number {
    return this.#total
  }

  add(entry: T): void {
    this.#total++
    this.#entries.push(entry)
    const limit = this.#limit()
    if (this.#entries.length > 2 * limit) this.#entries = this.#entries.slice(-limit)
  }

  /** The remembered entries, oldest first. */
  entries(): T[] {
    const limit = this.#limit()
    return this.#entries.length > limit ? this.#entries.slice(-limit) : [...this.#entries]
  }
}
