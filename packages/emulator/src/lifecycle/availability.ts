/** Owns whether the service is available: up, temporarily down, or shut down. */
export class Availability {
  readonly #origin: string
  #state: 'up' | 'down' | 'closed' = 'up'
  #controller = new AbortController()

  constructor(origin: string) {
    this.#origin = origin
  }

  get isUp(): boolean {
    return this.#state === 'up'
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** Aborts with the error of an unreachable host as soon as the service goes down. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  goDown(): void {
    if (this.#state === 'closed') return
    this.#state = 'down'
    this.#controller.abort(unreachable(this.#origin))
  }

  goUp(): void {
    if (this.#state !== 'down') return
    this.#state = 'up'
    this.#controller = new AbortController()
  }

  close(): void {
    this.#state = 'closed'
    this.#controller.abort(unreachable(this.#origin))
  }
}

/** The rejection of fetch for an unreachable host. */
export function unreachable(origin: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(`No service answers at ${origin}.`) })
}
