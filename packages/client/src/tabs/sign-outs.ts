import type { Environment } from '../platform/environment.ts'

/** Start of the keys in localStorage; the key of the group follows. */
const PREFIX = 'aiagent_signed-out_'

/** How long a sign-out is remembered, in milliseconds. No browser keeps a page in its back/forward cache for longer. */
const KEPT_MS = 24 * 60 * 60_000

/**
 * The last sign-out of each group of tabs, in localStorage: a page in the back/forward cache receives no messages, and all
 * other tabs may be closed before the user comes back to it. Where the browser allows no storage, nothing is remembered.
 */
export class SignOuts {
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** What identifies the last sign-out of a group. */
  last(key: string): string | null {
    return this.#use(storage => storage.getItem(PREFIX + key)) ?? null
  }

  /** The user of a group has signed out. */
  add(key: string): void {
    const { clock, randomUUID } = this.#environment
    const now = clock.now()
    this.#use(storage => {
      const names = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '')
      for (const name of names.filter(each => each.startsWith(PREFIX))) {
        const at = Number.parseInt(storage.getItem(name) ?? '', 10)
        // The clock may have been ahead.
        if (!(Math.abs(now - at) < KEPT_MS)) storage.removeItem(name)
      }
      storage.setItem(PREFIX + key, `${now} ${randomUUID()}`)
    })
  }

  #use<T>(work: (storage: NonNullable<Environment['localStorage']>) => T): T | undefined {
    try {
      return this.#environment.localStorage && work(this.#environment.localStorage)
    } catch {
      return undefined
    }
  }
}
