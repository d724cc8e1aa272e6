/** Owns whether the service is available: up, temporarily down, or shut down; and the requests that wait for answers. */
export class Availability {
  readonly #origin: string
  #state: 'up' | 'down' | 'closed' = 'up'
  /** A set rather than an AbortSignal: Node warns about more than ten listeners of a signal. */
  readonly #waiting = new Set<(reason: TypeError) => void>()

  constructor(origin: string) {
    this.#origin = origin
  }

  get isUp(): boolean {
    return this.#state === 'up'
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** The result of the work, or the error of an unreachable host as soon as the service goes down. */
  async whileUp<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isUp) throw unreachable(this.#origin)
    let fail: (reason: TypeError) => void = () => {}
    const lost = new Promise<never>((_resolve, reject) => {
      fail = reject
    })
    this.#waiting.add(fail)
    try {
      return await Promise.race([work(), lost])
    } finally {
      this.#waiting.delete(fail)
    }
  }

  goDown(): void {
    if (this.#state === 'closed') return
    this.#state = 'down'
    this.#abandon()
  }

  goUp(): void {
    if (this.#state === 'down') this.#state = 'up'
  }

  close(): void {
    this.#state = 'closed'
    this.#abandon()
  }

  #abandon(): void {
    for (const fail of this.#waiting) fail(unreachable(this.#origin))
    this.#waiting.clear()
  }
}

/** The rejection of fetch for an unreachable host. */
export function unreachable(origin: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(`No service answers at ${origin}.`) })
}
