import type { PageWindow } from '../../platform/page.ts'

/** A login of a page, as the other logins of the page see it. */
export interface PageLogin {
  /** Authority, client and store: logins with the same key share the stored user. */
  readonly storeKey: string
  /** Whether a user is signed in. */
  readonly hasSession: boolean
  /** Issuer and subject of the signed-in user, where they are known. */
  readonly identity: string | undefined
  /** The user signed out, or another one signed in, by another login of the page. */
  handleSignedOut(): void
}

/** Weak: an agent that is dropped without `destroy()` can still be collected. */
const logins = /* @__PURE__ */ new WeakMap<PageWindow, Set<WeakRef<PageLogin>>>()

/**
 * Adds a login to those of its page. Other tabs notice a sign-out by the store, which the tab itself does not (SEC-13).
 *
 * @returns the undo
 */
export function joinPage(window: PageWindow, login: PageLogin): () => void {
  const onPage = logins.get(window) ?? new Set()
  logins.set(window, onPage)
  const reference = new WeakRef(login)
  onPage.add(reference)
  return () => void onPage.delete(reference)
}

/** Reports a sign-out to the other logins of the page that share the stored user, or whose user is the same. */
export function reportSignOut(window: PageWindow, login: PageLogin, identity: string | undefined): void {
  for (const other of otherLogins(window, login)) {
    const isSameUser = identity !== undefined && other.identity === identity
    if (other.storeKey === login.storeKey || isSameUser) other.handleSignedOut()
  }
}

/** Reports a sign-in to the other logins of the page that share the stored user, if theirs is another one. */
export function reportSignIn(window: PageWindow, login: PageLogin): void {
  const { identity, storeKey } = login
  for (const other of otherLogins(window, login)) {
    const isOtherUser = identity !== undefined && other.identity !== undefined && other.identity !== identity
    if (other.storeKey === storeKey && isOtherUser) other.handleSignedOut()
  }
}

function otherLogins(window: PageWindow, login: PageLogin): PageLogin[] {
  const found: PageLogin[] = []
  for (const reference of logins.get(window) ?? []) {
    const other = reference.deref()
    if (other && other !== login && other.hasSession) found.push(other)
  }
  return found
}
