import { isJsonObject } from '@aiagent/protocol'
import { AuthError } from '../../errors.ts'
import type { Environment } from '../../platform/environment.ts'
import { KeyedStore, KINDS } from '../../storage/keyed-store.ts'
import { MemoryCacheAdapter } from '../../storage/memory-cache-adapter.ts'
import { storageAdapter } from '../../storage/storage-cache-adapter.ts'
import { TextAdapter } from '../../storage/text-adapter.ts'
import { REDIRECT_ANSWER_KEY, RETURN_KEY } from './callback-page.ts'

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
}

/**
 * Logins by redirect that this tab began and that have no answer yet, in sessionStorage.
 *
 * Popups and frames keep theirs in memory. So an answer with an unknown state was not requested by this tab.
 */
export class LoginStates {
  readonly #environment: Environment
  readonly #states: KeyedStore<LoginState>
  /** What the callback page reads and writes. */
  readonly #texts: TextAdapter

  constructor(environment: Environment) {
    const { sessionStorage, console } = environment
    // Also one that is full now: only what is in sessionStorage reaches the page that receives the answer.
    const adapter = sessionStorage && storageAdapter(sessionStorage, message => console.warn(message))
    this.#environment = environment
    this.#states = new KeyedStore(KINDS.loginState, { environment, adapter })
    this.#texts = new TextAdapter(sessionStorage, new MemoryCacheAdapter())
  }

  /**
   * Stores a login whose `state` parameter is given, for the page that receives the answer. Removes an earlier one that was never
   * answered: a tab can redirect only once at a time.
   *
   * @throws {AuthError} `browser_unsupported` when the browser rejects it: the next page could not complete the login
   */
  add(state: LoginState, parameter: string): void {
    this.clear()
    const key = this.#states.key({ id: state.id })
    void this.#states.set(key, state)
    this.expectReturn(parameter)
    const { sessionStorage } = this.#environment
    if (sessionStorage?.getItem(key) && sessionStorage.getItem(RETURN_KEY) === parameter) return
    this.clear()
    this.#texts.delete(RETURN_KEY)
    throw new AuthError(
      'The browser rejects further data in sessionStorage, which a login by redirect needs. Remove data of the page there, or ' +
        'sign in with a popup.',
      'browser_unsupported',
    )
  }

  /** The login of a `state` parameter; undefined if this tab did not begin it. */
  find(parameter: string | null): LoginState | undefined {
    const id = parameter?.split(';', 1)[0] ?? ''
    // Read only keys of this form: the parameter comes from the address, which anyone can write.
    if (!ID.test(id)) return undefined
    const value = this.#states.peek(this.#states.key({ id }))
    return isState(value) ? value : undefined
  }

  /** Returns and removes the login of a `state` parameter. */
  take(parameter: string | null): LoginState | undefined {
    const state = this.find(parameter)
    if (state) void this.#states.delete(this.#states.key({ id: state.id }))
    return state
  }

  /** Removes the logins without an answer. */
  clear(): void {
    void this.#states.remove({})
  }

  /** The answer of a redirect that the callback page has stored. */
  get answer(): string | undefined {
    return this.#texts.get(REDIRECT_ANSWER_KEY)?.value as string | undefined
  }

  /** Removes the stored answer. */
  removeAnswer(): void {
    this.#texts.delete(REDIRECT_ANSWER_KEY)
  }

  /**
   * Records that this tab redirects to the provider and expects to return with this `state`. The callback page reads
   * it.
   */
  expectReturn(state: string): void {
    this.#texts.set(RETURN_KEY, { value: state, timestamp: 0 })
  }

  /** Whether the tab expected to return with this `state`; clears the expectation. */
  takeReturn(state: string): boolean {
    const isExpected = this.#texts.get(RETURN_KEY)?.value === state
    if (isExpected) this.#texts.delete(RETURN_KEY)
    return isExpected
  }
}

function isState(value: unknown): value is LoginState {
  if (!isJsonObject(value)) return false
  const { id, verifier, nonce, nextRoute, login } = value
  return [id, verifier, nonce, nextRoute, login].every(each => typeof each === 'string')
}
