import type { StorageLike } from '../../platform/environment.ts'
import { objectIn } from '../../util/json.ts'
import { expiryOf } from '../access-token.ts'

/** What a token endpoint issued for a user. */
export interface IssuedTokens {
  /** Access token for the calls of the service. */
  readonly accessToken: string
  /** ID token, which names the user. */
  readonly idToken?: string | undefined
  /** Token that renews the access token. */
  readonly refreshToken?: string | undefined
  /** Expiry of the access token in milliseconds since the epoch, by the clock of this device. */
  readonly expiresAt?: number | undefined
  /** Issuer and subject of the ID token. */
  readonly subject?: string | undefined
  /** Issuer of the ID token. */
  readonly issuer?: string | undefined
}

/** The signed-in user of a login, in its stored form. */
export interface SignedInUser extends IssuedTokens {
  /** Random, new with every login: the result of a renewal for an earlier login must not be stored. */
  readonly loginId: string
  /** How often the tokens of the login were renewed. @default 0 */
  readonly renewals?: number | undefined
}

/** Version of the stored record. Records of other versions are ignored. */
export const USER_VERSION = 1

/**
 * The store of the signed-in user: one record for each authority and client, in sessionStorage or localStorage.
 *
 * Every access is synchronous, so that a check and the write after it cannot be separated within a tab.
 */
export class SignedInUserStore {
  readonly key: string
  readonly #store: StorageLike | undefined

  /** @param store absent where the browser forbids it */
  constructor(store: StorageLike | undefined, key: string) {
    this.#store = store
    this.key = key
  }

  /** The stored user; undefined when there is none, or the record has another shape or version. */
  read(): SignedInUser | undefined {
    const user = parseUser(this.#store?.getItem(this.key) ?? null)
    // The stored expiry has the error that the clock had when it was stored.
    return user && { ...user, expiresAt: expiryOf(user.accessToken) ?? user.expiresAt }
  }

  /** Stores a user who has just signed in. */
  add(user: SignedInUser): void {
    this.#store?.setItem(this.key, JSON.stringify({ version: USER_VERSION, ...user }))
  }

  /**
   * Stores renewed tokens, unless their user has signed out, or another one signed in, meanwhile.
   *
   * @returns whether they were stored
   */
  replace(user: SignedInUser): boolean {
    if (this.read()?.loginId !== user.loginId) return false
    this.add(user)
    return true
  }

  /** Removes the stored user. With a login id: only if it matches. */
  remove(loginId?: string): void {
    if (loginId === undefined || this.read()?.loginId === loginId) this.#store?.removeItem(this.key)
  }
}

/** The user in a stored text. */
export function parseUser(text: string | null): SignedInUser | undefined {
  const value = objectIn(text)
  return value && isUser(value) ? value : undefined
}

const OPTIONAL_TEXTS = ['idToken', 'refreshToken', 'subject', 'issuer'] as const

function isUser(value: Readonly<Record<string, unknown>>): value is SignedInUser & Record<string, unknown> {
  const { version, loginId, accessToken, expiresAt, renewals } = value
  const isText = (each: unknown) => typeof each === 'string' && each !== ''
  return (
    version === USER_VERSION &&
    isText(loginId) &&
    isText(accessToken) &&
    [expiresAt, renewals].every(each => each === undefined || typeof each === 'number') &&
    OPTIONAL_TEXTS.every(name => value[name] === undefined || isText(value[name]))
  )
}
