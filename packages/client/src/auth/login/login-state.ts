import type { StorageLike } from '../../platform/environment.ts'
import { objectIn } from '../../util/json.ts'
import { RETURN_KEY } from './callback-page.ts'

/** Start of the keys for logins by redirect. Users are stored under a different prefix. */
const STATE_PREFIX = 'aiagent_oidc_state.'
const ID = /^[0-9a-f]{32}$/

/** A login by redirect that this tab began. */
export interface LoginState {
  /** Random, 32 hex digits: the start of the `state` parameter. */
  readonly id: string
  /** PKCE code verifier. */
  readonly verifier: string
  /** The nonce that the ID token of the answer must repeat. */
  readonly nonce: string
  /** Where the application continues after the login. */
  readonly nextRoute: string
  /** Provider and client. A page may have several logins, and a code must reach its own provider only. */
  readonly login: string
  /** When the page left, in milliseconds since the epoch. */
  readonly beganAt: number
}

/**
 * Logins by redirect that this tab began and that have no answer yet, in sessionStorage.
 *
 * Popups and frames keep theirs in memory. So an answer with an unknown state was not requested by this tab.
 */
export class LoginStates {
  readonly #store: StorageLike | undefined

  /** @param store absent where the browser forbids it */
  constructor(store: StorageLike | undefined) {
    this.#store = store
  }

  /** Stores a login. Removes an earlier one that was never answered: a tab can redirect only once at a time. */
  add(state: LoginState): void {
    this.clear()
    this.#store?.setItem(STATE_PREFIX + state.id, JSON.stringify(state))
  }

  /** The login of a `state` parameter; undefined if this tab did not begin it. */
  find(parameter: string | null): LoginState | undefined {
    const id = parameter?.split(';', 1)[0] ?? ''
    // Read only keys with our prefix: the parameter comes from the address, which anyone can write.
    return ID.test(id) ? parse(this.#store?.getItem(STATE_PREFIX + id) ?? null) : undefined
  }

  /** Returns and removes the login of a `state` parameter. */
  take(parameter: string | null): LoginState | undefined {
    const state = this.find(parameter)
    if (state) this.#store?.removeItem(STATE_PREFIX + state.id)
    return state
  }

  /** Removes the logins without an answer. */
  clear(): void {
    const store = this.#store
    for (let i = (store?.length ?? 0) - 1; i >= 0; i--) {
      const key = store?.key(i)
      if (key?.startsWith(STATE_PREFIX)) store?.removeItem(key)
    }
  }

  /**
   * Records that this tab redirects to the provider and expects to return with this `state`. The callback page reads
   * it.
   */
  expectReturn(state: string): void {
    this.#store?.setItem(RETURN_KEY, state)
  }

  /** Whether the tab expected to return with this `state`; clears the expectation. */
  takeReturn(state: string): boolean {
    const isExpected = this.#store?.getItem(RETURN_KEY) === state
    if (isExpected) this.#store?.removeItem(RETURN_KEY)
    return isExpected
  }
}

function parse(text: string | null): LoginState | undefined {
  const value = objectIn(text)
  const { id, verifier, nonce, nextRoute, login, beganAt } = value ?? {}
  const isComplete =
    [id, verifier, nonce, nextRoute, login].every(each => typeof each === 'string') && typeof beganAt === 'number'
  return isComplete ? (value as unknown as LoginState) : undefined
}
