import type { Environment, StorageLike } from '../platform/environment.ts'
import { fnv1a } from '../util/fnv1a.ts'

/** Start of the keys; the key of the group follows, and for a session its fingerprint. */
const PREFIX = 'aiagent_signed-out_'

/** How long an end is remembered, in milliseconds: a browser may bring back a tab, with its sessionStorage, days later. */
const KEPT_MS = 30 * 24 * 60 * 60_000

/**
 * What has ended for each group of tabs, in localStorage: the user's sign-in, and the sessions that a tab has taken out of an
 * anonymous group. A stopped page receives no messages, and all other tabs may be closed before it runs again, or is loaded
 * again. Where the browser allows no storage, nothing is remembered.
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

  /** This tab joins a group: its next page compares the last sign-out with that of now. */
  join(key: string): void {
    this.#use((_, tab) => tab.setItem(PREFIX + key, this.last(key) ?? ''))
  }

  /** This tab has left the user of a group. */
  leave(key: string): void {
    this.#use((_, tab) => tab.removeItem(PREFIX + key))
  }

  /** Leaves the groups of an agent whose user has signed out since an earlier page of this tab joined. Returns whether there was one. */
  leaveMissed(agent: string): boolean {
    const joined = this.#use((_, tab) => namesIn(tab).filter(name => name.includes(agent))) ?? []
    const missed = joined
      .map(name => name.slice(PREFIX.length))
      .filter(key => this.last(key) !== null && this.last(key) !== this.#use((_, tab) => tab.getItem(PREFIX + key)))
    for (const key of missed) this.leave(key)
    return missed.length > 0
  }

  /** A tab takes a session out of an anonymous group. */
  addTaken(key: string, sessionId: string): void {
    this.add(takenKey(key, sessionId))
  }

  /** Whether a tab has taken a session out of an anonymous group. */
  isTaken(key: string, sessionId: string): boolean {
    return this.last(takenKey(key, sessionId)) !== null
  }

  /** The user of a group has signed out. */
  add(key: string): void {
    const { clock, randomUUID } = this.#environment
    const now = clock.now()
    this.#use(storage => {
      for (const name of namesIn(storage)) {
        const at = Number.parseInt(storage.getItem(name) ?? '', 10)
        // The clock may have been ahead.
        if (!(Math.abs(now - at) < KEPT_MS)) storage.removeItem(name)
      }
      storage.setItem(PREFIX + key, `${now} ${randomUUID()}`)
    })
  }

  #use<T>(work: (storage: StorageLike, tab: StorageLike) => T): T | undefined {
    const { localStorage, sessionStorage } = this.#environment
    try {
      return localStorage && sessionStorage && work(localStorage, sessionStorage)
    } catch {
      return undefined
    }
  }
}

/** The id of a session opens it, and stays out of the store. */
function takenKey(key: string, sessionId: string): string {
  return `${key}:${fnv1a(sessionId)}`
}

function namesIn(storage: StorageLike): string[] {
  const names = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '')
  return names.filter(name => name.startsWith(PREFIX))
}
