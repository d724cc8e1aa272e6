import type { PageWindow } from '../platform/page.ts'

/*
 * The lock that shows that a page uses a stored session.
 *
 * A holder is alive while it has the lock with its name. The browser releases it with the page, also after a crash, when
 * nothing has released the entry. Browsers without locks trust the entry.
 */
export class HolderLock {
  readonly #window: PageWindow | undefined
  /** The name of this page as a holder. */
  readonly holder: string
  /** Releases the locks of this page: its own, and that of the previous page. */
  #locks: (() => void)[] | undefined

  /** @param window absent outside a page, where there are no locks */
  constructor(window: PageWindow | undefined, holder: string) {
    this.#window = window
    this.holder = holder
  }

  /** Takes the lock of this page. */
  async hold(): Promise<void> {
    if (!this.#window) return
    const release = this.#locks ? undefined : await acquire(this.#window, this.holder)
    this.#locks ??= release ? [release] : []
  }

  /** Whether the session of a holder is free for this page. If it is, the lock of that holder is taken too. */
  async mayTake(holder: string | undefined): Promise<boolean> {
    if (!this.#window || holder === undefined || holder === this.holder) return true
    const release = await acquire(this.#window, holder)
    if (!release) return false
    // Not released: the holder's tab may have been copied, too.
    await this.hold()
    this.#locks?.push(release)
    return true
  }

  /** Gives the locks back. */
  release(): void {
    for (const release of this.#locks ?? []) release()
    this.#locks = undefined
  }
}

/** Takes a lock if it is free; undefined if it is taken, or the browser has no locks. */
function acquire(window: PageWindow, holder: string): Promise<(() => void) | undefined> {
  const locks: LockManager | undefined = window.navigator.locks
  if (!locks) return Promise.resolve(undefined)
  return new Promise(resolve => {
    const hold = (lock: Lock | null) => {
      if (!lock) return resolve(undefined)
      return new Promise<void>(release => resolve(release))
    }
    locks.request(`aiagent-session-${holder}`, { ifAvailable: true }, hold).catch(() => resolve(undefined))
  })
}
