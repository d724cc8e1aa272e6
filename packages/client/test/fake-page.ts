import type { Page, ScriptAttributes } from '../src/platform/page.ts'

/** A script on a {@link FakePage}, which the test runs or fails. */
export class FakeScript {
  removed = false
  /** Set while the test acts as the script. */
  current = false
  readonly attributes: ScriptAttributes
  readonly ran: Promise<{ thrown?: unknown }>
  #settle: { run(outcome: { thrown?: unknown }): void; refuse(error: unknown): void } | undefined

  constructor(attributes: ScriptAttributes) {
    this.attributes = attributes
    this.ran = new Promise((run, refuse) => {
      this.#settle = { run, refuse }
    })
  }

  run = (outcome: { thrown?: unknown } = {}) => this.#settle?.run(outcome)
  refuse = (error: unknown) => this.#settle?.refuse(error)
  isCurrent = () => this.current
  remove = () => void (this.removed = true)
}

/** A page that the test hides and shows. Tasks run on the event loop. */
export class FakePage implements Page {
  hidden = false
  tasks = 0
  /** Added scripts, in order. */
  readonly scripts: FakeScript[] = []
  readonly #listeners = new Set<(awayMs: number) => void>()

  addScript = (attributes: ScriptAttributes) => {
    const script = new FakeScript(attributes)
    this.scripts.push(script)
    return script
  }

  isHidden = () => this.hidden

  nextTask = (callback: () => void) => {
    this.tasks++
    setImmediate(callback)
  }

  onReturn = (listener: (awayMs: number) => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Number of listeners for the return of the page. */
  get listeners(): number {
    return this.#listeners.size
  }

  /** Simulates the return of the network, or of the page after a time in the background. */
  comeBack(awayMs = Number.POSITIVE_INFINITY): void {
    this.hidden = false
    for (const listener of [...this.#listeners]) listener(awayMs)
  }
}
