import { AuthError } from '../../errors.ts'
import type { Clock } from '../../platform/environment.ts'
import { hold, type LockPage, names, type Release } from '../../platform/locks.ts'
import { sleep, TimeLimitError, withTimeLimit } from '../../util/abort.ts'
import { fnv1a } from '../../util/text.ts'
import { USER_VERSION } from '../stored-login.ts'
import { RENEWAL_WAIT_MS } from './code-flow.ts'
import type { SignedInUser } from './signed-in-user.ts'

/** How long the store may take to show the tokens of another tab, in milliseconds. */
const STORE_LIMIT_MS = 2_000
/**
 * How long a renewal is announced, in milliseconds: far longer than a store needs, but limited, since a page that
 * holds a lock cannot enter the back/forward cache.
 */
const ANNOUNCE_MS = 10_000
/** Time between two looks at the store, in milliseconds. */
const STORE_LOOK_MS = 10

/**
 * One renewal of a login at a time across tabs, each with the tokens of the previous one: many providers end the whole
 * login when a refresh token is used twice.
 *
 * A browser may copy what a tab has written to localStorage to another tab only after the lock was released. Locks are
 * consistent across tabs, though. So a tab that has renewed the tokens holds a second lock whose name contains the
 * number of the renewal, and the next tab waits until its store shows that renewal.
 */
export class RenewalLock {
  readonly #page: LockPage
  readonly #clock: Clock
  readonly #name: string
  #release: Release | undefined

  constructor(page: LockPage, clock: Clock, login: string) {
    this.#page = page
    this.#clock = clock
    this.#name = `aiagent-renewal-${USER_VERSION}-${fnv1a(login)}`
  }

  /** Runs work while no other tab does. A frozen tab may hold the lock indefinitely, so the wait has a limit. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const wait = (signal: AbortSignal) => hold(this.#page, this.#name, { signal })
    const release = await withTimeLimit(this.#clock, RENEWAL_WAIT_MS, undefined, wait).catch(error => {
      if (error instanceof TimeLimitError) return undefined
      throw error
    })
    return work().finally(release)
  }

  /**
   * The stored user, with the tokens of the last renewal in any tab.
   *
   * @throws {AuthError} `token_request_failed` when the store does not show them
   */
  async readNewest(read: () => SignedInUser | undefined): Promise<SignedInUser | undefined> {
    const held = [...(await names(this.#page, this.#name)).keys()]
    const startedAt = this.#clock.monotonic()
    for (;;) {
      const user = read()
      if (!user || held.every(name => this.#renewalsIn(name, user) <= renewalsOf(user))) return user
      if (this.#clock.monotonic() - startedAt > STORE_LIMIT_MS)
        throw new AuthError(
          'Another tab has renewed the access token, and this one cannot read it yet. Try again.',
          'token_request_failed',
        )
      await sleep(this.#clock, STORE_LOOK_MS)
    }
  }

  /** Tells the other tabs which renewal is stored. Call it before {@link run} ends. */
  async announce(user: SignedInUser): Promise<void> {
    const release = await hold(this.#page, this.#prefix(user) + renewalsOf(user), { isShared: true })
    this.release()
    const timer = this.#clock.setTimeout(() => this.release(), ANNOUNCE_MS)
    this.#release = () => {
      this.#clock.clearTimeout(timer)
      release()
    }
  }

  /** Ends the announcement, when its user signs out. */
  release(): void {
    this.#release?.()
    this.#release = undefined
  }

  #renewalsIn(name: string, user: SignedInUser): number {
    const prefix = this.#prefix(user)
    return name.startsWith(prefix) ? Number(name.slice(prefix.length)) : 0
  }

  #prefix({ loginId }: SignedInUser): string {
    return `${this.#name}-${loginId}-`
  }
}

function renewalsOf({ renewals = 0 }: SignedInUser): number {
  return renewals
}
