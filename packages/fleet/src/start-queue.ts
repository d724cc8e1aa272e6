interface Start {
  readonly run: () => Promise<void>
  readonly isWanted: () => boolean
}

/**
 * Starts conversations, a number at a time: first those that something waits for. The very first one starts alone, so that
 * the others find its token and the details of the agent in the store.
 */
export class StartQueue {
  readonly #concurrency: number
  #waiting: Start[] = []
  #running = 0
  #isWarm = false

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  readonly add = (run: () => Promise<void>, isWanted: () => boolean): void => {
    this.#waiting.push({ run, isWanted })
    // Those of one take-over are known together before the first one starts.
    queueMicrotask(() => this.#next())
  }

  #next(): void {
    while (this.#running < (this.#isWarm ? this.#concurrency : 1) && this.#waiting.length > 0) {
      const wanted = this.#waiting.findIndex(({ isWanted }) => isWanted())
      const [start] = this.#waiting.splice(Math.max(wanted, 0), 1)
      if (!start) return
      this.#running++
      void start.run().finally(() => {
        this.#running--
        this.#isWarm = true
        this.#next()
      })
    }
  }
}
