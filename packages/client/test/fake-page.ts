import type { Page } from '../src/platform/page.ts'

/** A page that the test hides and brings back. Tasks run with the event loop. */
export class FakePage implements Page {
  hidden = false
  tasks = 0
  readonly #listeners = new Set<() => void>()

  isHidden = () => this.hidden

  nextTask = (callback: () => void) => {
    this.tasks++
    setImmediate(callback)
  }

  onReturn = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** How many want to know of a return. */
  get listeners(): number {
    return this.#listeners.size
  }

  /** The network is there again, or the page is seen again. */
  comeBack(): void {
    this.hidden = false
    for (const listener of [...this.#listeners]) listener()
  }
}
