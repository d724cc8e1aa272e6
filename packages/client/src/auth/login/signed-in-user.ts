import { isJsonObject } from '@aiagent/protocol'
import type { Environment } from '../../platform/environment.ts'
import type { KeyedStore } from '../../storage/keyed-store.ts'
import { expiryOf } from '../access-token.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import { userKey, userStore } from '../stored-login.ts'

/** The tokens that were issued for a user. */
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

/** How long a user is stored after the expiry of the access token, in milliseconds: longer than providers renew it. */
const KEPT_MS = 90 * 86_400_000

/**
 * The signed-in user of a login: one for each authority and client, in sessionStorage or localStorage.
 *
 * Every access is synchronous, so that a check and the write after it cannot be separated within a tab.
 */
export class SignedInUserStore {
  readonly key: string
  readonly #store: KeyedStore<SignedInUser>

  constructor(environment: Environment, config: PKCEAuthConfig, authority: string) {
    this.key = userKey(authority, config.clientId)
    this.#store = userStore(environment, config)
  }

  /** The stored user; undefined when there is none, or the stored value has another shape. */
  read(): SignedInUser | undefined {
    const value = this.#store.peek(this.key)
    // The stored expiry has the error that the clock had when it was stored.
    return isUser(value) ? { ...value, expiresAt: expiryOf(value.accessToken) ?? value.expiresAt } : undefined
  }

  /** Stores a user who has just signed in. */
  add(user: SignedInUser): void {
    void this.#store.set(this.key, user, { expiresAt: (user.expiresAt ?? Infinity) + KEPT_MS })
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
    if (loginId === undefined || this.read()?.loginId === loginId) void this.#store.delete(this.key)
  }
}

const OPTIONAL_TEXTS = ['idToken', 'refreshToken', 'subject', 'issuer'] as const

function isUser(value: unknown): value is SignedInUser {
  if (!isJsonObject(value)) return false
  const { loginId, accessToken, expiresAt, renewals } = value
  const isText = (each: unknown) => typeof each === 'string' && each !== ''
  return (
    isText(loginId) &&
    isText(accessToken) &&
    [expiresAt, renewals].every(each => each === undefined || typeof each === 'number') &&
    OPTIONAL_TEXTS.every(name => value[name] === undefined || isText(value[name]))
  )
}
