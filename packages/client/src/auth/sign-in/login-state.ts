import { isJsonObject } from '@aiagent/protocol'
import type { StorageLike } from '../../platform/environment.ts'
import { RETURN_KEY } from './callback-page.ts'

/** Start of the keys under which logins by redirect are stored. Users are stored under another one. */
const STATE_PREFIX = 'aiagent_oidc_state.'
const ID = /^[0-9a-f]{32}$/

/** A login by redirect that this tab began. */
export interface LoginState {
  /** Random, 32 hex digits: the start of the `state` parameter. */
  readonly id: string
  /** PKCE code verifier. */
  readonly verifier: string
  /** Where the application goes on after the login. */
  readonly nextRoute: string
}

/**
 * Logins by redirect that this tab began and that have not been answered, in sessionStorage.
 *
 * Popups and frames keep theirs in memory. So an answer whose state is not stored here was not requested by this tab.
 */
export class LoginStates {
  readonly #store: StorageLike

  constructor(store: StorageLike) {
    this.#store = store
  }

  /** Stores a login. An earlier one that was never answered is removed: a tab leaves for one at a time. */
  add(state: LoginState): void {
    this.clear()
    this.#store.setItem(STATE_PREFIX + state.id, JSON.stringify(state))
  }

  /** The login that a `state` parameter belongs to, once; undefined for one that this tab did not begin. */
  take(parameter: string | null): LoginState | undefined {
    const id = parameter?.split(';', 1)[0] ?? ''
    // Only ever a key of our own: the parameter comes from the address, which anyone can write.
    if (!ID.test(id)) return undefined
    const text = this.#store.getItem(STATE_PREFIX + id)
    this.#store.removeItem(STATE_PREFIX + id)
    return text === null ? undefined : parse(text)
  }

  /** Whether a `state` parameter belongs to a login that this tab began. */
  has(parameter: string): boolean {
    const id = parameter.split(';', 1)[0] ?? ''
    return ID.test(id) && this.#store.getItem(STATE_PREFIX + id) !== null
  }

  /** Removes the logins that were not answered. */
  clear(): void {
    for (let i = this.#store.length - 1; i >= 0; i--) {
      const key = this.#store.key(i)
      if (key?.startsWith(STATE_PREFIX)) this.#store.removeItem(key)
    }
  }

  /** Notes that this tab leaves for the provider and expects to return with this `state`. The callback page reads it. */
  expectReturn(state: string): void {
    this.#store.setItem(RETURN_KEY, state)
  }

  /** Whether the tab expected to return with this `state`; asked once. */
  takeReturn(state: string): boolean {
    const isExpected = this.#store.getItem(RETURN_KEY) === state
    if (isExpected) this.#store.removeItem(RETURN_KEY)
    return isExpected
  }
}

function parse(text: string): LoginState | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isJsonObject(value)) return undefined
    const { id, verifier, nextRoute } = value
    if (typeof id !== 'string' || typeof verifier !== 'string' || typeof nextRoute !== 'string') return undefined
    return { id, verifier, nextRoute }
  } catch {
    return undefined
  }
}
