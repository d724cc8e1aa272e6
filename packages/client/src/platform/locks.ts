/*
 * The locks that the pages of an origin share (Web Locks). No other file calls them.
 *
 * The browser releases a lock with its page, also after a crash. A frozen page keeps its locks until another one steals them.
 * The name of a lock contains the version of what it guards: pages with another version of it neither wait for each other nor
 * exclude each other, and share nothing that the lock guards.
 */

/**
 * A page whose browser may have locks. It has none where the page is not served over HTTPS, and denies them to pages without
 * storage, such as a sandboxed frame.
 */
export interface LockPage {
  readonly navigator: { readonly locks?: LockManager }
}

/** Gives a lock back. */
export type Release = () => void

/** Options of {@link hold}. */
export interface HoldOptions {
  /** Ends the wait. It has no effect on a lock that is held. */
  readonly signal?: AbortSignal
  /** Whether several pages may hold the lock at once. */
  readonly isShared?: boolean
  /** Called when another page has stolen the lock. */
  readonly onStolen?: () => void
}

/** Whether the browser has locks, and gives them to the page. */
export async function hasLocks(page: LockPage): Promise<boolean> {
  let isDenied = page.navigator.locks === undefined
  const release = await request(page, 'aiagent-probe', { ifAvailable: true, mode: 'shared' }).catch(error => {
    isDenied = isDenial(error)
  })
  release?.()
  return !isDenied
}

/** The browser forbids it to the page, now and later. Any other rejection concerns one request. */
function isDenial(error: unknown): boolean {
  return (error as { readonly name?: unknown } | undefined)?.name === 'SecurityError'
}

/**
 * Waits for a lock. Resolves at once where there are no locks.
 *
 * @throws the reason of the signal when it is aborted; `DOMException` when the page is about to end
 */
export async function hold(
  page: LockPage,
  name: string,
  { signal, isShared, onStolen }: HoldOptions = {},
): Promise<Release> {
  const mode = isShared ? 'shared' : 'exclusive'
  return (await request(page, name, { mode, ...(signal && { signal }) }, onStolen).catch(withoutDenial)) ?? (() => {})
}

/** Takes a lock if it is free. Resolves with undefined if it is not, and where there are no locks. */
export function tryHold(page: LockPage, name: string, onStolen?: () => void): Promise<Release | undefined> {
  return request(page, name, { ifAvailable: true }, onStolen).catch(() => undefined)
}

/** Takes a lock away from the page that holds it, before all pages that wait for it. */
export async function steal(page: LockPage, name: string, onStolen?: () => void): Promise<Release> {
  return (await request(page, name, { steal: true }, onStolen).catch(withoutDenial)) ?? (() => {})
}

/** The held locks whose name has a prefix: name and holder, as the browser identifies it. */
export async function names(page: LockPage, prefix: string): Promise<ReadonlyMap<string, string | undefined>> {
  const query = async () => page.navigator.locks?.query()
  const { held = [] } = (await query().catch(withoutDenial)) ?? {}
  return new Map(held.flatMap(({ name, clientId }) => (name?.startsWith(prefix) ? [[name, clientId]] : [])))
}

/** Locks that are denied count as absent. */
function withoutDenial(error: unknown): undefined {
  if (!isDenial(error)) throw error
}

/** @returns undefined if the lock is not available, or there are no locks */
async function request(
  { navigator: { locks } }: LockPage,
  name: string,
  options: LockOptions,
  onStolen?: () => void,
): Promise<Release | undefined> {
  if (!locks) return undefined
  return new Promise((resolve, reject) => {
    let isHeld = false
    const granted = (lock: Lock | null) => {
      if (!lock) return resolve(undefined)
      isHeld = true
      return new Promise<void>(release => {
        resolve(() => {
          isHeld = false
          release()
        })
      })
    }
    locks.request(name, options, granted).catch(error => (isHeld ? onStolen?.() : reject(error)))
  })
}
