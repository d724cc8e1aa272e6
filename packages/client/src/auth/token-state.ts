import { subjectOf } from '../util/subject-fingerprint.ts'

/**
 * The access token of an {@link AuthenticationService}:
 *
 *   none ── obtained ──► held ── renewed ──► held
 *    ▲                    │ ▲
 *    │  logout, cleanup   │ │ about to expire, refused, or renewed
 *    └────────────────────┤ │
 *                         ▼ │
 *                      supplied      updateToken(), for a strategy that obtains tokens itself
 */
export type TokenState =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'held' } & TokenInUse)
  /** Supplied by the host. It overrides the tokens of the strategy until `until`, in milliseconds since the epoch. */
  | ({ readonly kind: 'supplied'; readonly until: number } & TokenInUse)

/** A token that may be sent. */
export interface TokenInUse {
  readonly token: string
  /** Expiry in milliseconds since the epoch, by the clock of this device. Undefined where it is unknown. */
  readonly expiresAt: number | undefined
  /** Whether the host was notified that this token is about to expire. */
  readonly isAnnounced: boolean
}

/** The state without a token. */
export const NO_TOKEN: TokenState = { kind: 'none' }

/** The token of a state, or null. */
export function tokenOf(state: TokenState): string | null {
  return state.kind === 'none' ? null : state.token
}

/**
 * The user of the tokens so far. An anonymous token has no user; an unreadable token counts as one of the same user. ID
 * tokens are compared with ID tokens, and access tokens with access tokens, since providers may use different issuers
 * and subjects in them.
 */
export interface TokenUser {
  /** Absent before the first token. */
  readonly isAnonymous?: boolean
  /** Issuer and subject of the access token. */
  readonly access?: string | undefined
  /** Issuer and subject of the ID token. */
  readonly identity?: string | undefined
}

/** The user of a new token. `identity` is the subject of the ID token issued with it. */
export function userOf(token: string, isAnonymous: boolean, identity?: string): TokenUser {
  return isAnonymous ? { isAnonymous } : { isAnonymous, access: subjectOf(token), identity }
}

/**
 * Whether a token belongs to another user than the tokens before it. From anonymous to a user is not a change: the
 * conversation continues. From a user to anonymous is one.
 */
export function isOtherUser(previous: TokenUser, next: TokenUser): boolean {
  if (previous.isAnonymous !== false) return false
  if (next.isAnonymous) return true
  if (previous.identity !== undefined && next.identity !== undefined) return previous.identity !== next.identity
  return previous.access !== undefined && next.access !== undefined && previous.access !== next.access
}

/** The known user, extended by a further token of the same user. */
export function mergeUser(previous: TokenUser, next: TokenUser): TokenUser {
  if (next.isAnonymous || previous.isAnonymous !== false) return next
  return {
    isAnonymous: false,
    access: next.access ?? previous.access,
    identity: next.identity ?? previous.identity,
  }
}
