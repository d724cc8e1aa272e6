import type { StorageLike } from '../platform/environment.ts'
import type { PKCEAuthConfig } from './auth-strategy.ts'

/**
 * The deployment's login that a tab uses for an endpoint, in sessionStorage. The host does not configure it, so a logout
 * before `initialize()` would not know whose tokens to remove.
 */
export class RememberedLogin {
  readonly #store: StorageLike | undefined
  readonly #key: string

  /** @param endpoint nothing is remembered without one */
  constructor(store: StorageLike | undefined, endpoint: string | undefined) {
    this.#store = endpoint === undefined ? undefined : store
    this.#key = `aiagent_auth_login:${endpoint}`
  }

  add(config: PKCEAuthConfig): void {
    try {
      this.#store?.setItem(this.#key, JSON.stringify(config))
    } catch {
      // A full store. Only a logout before initialize() needs the entry.
    }
  }

  /** Removes and returns it. Other code of the page may have written the entry: its shape is checked by its use. */
  take(): PKCEAuthConfig | undefined {
    const text = this.#store?.getItem(this.#key)
    if (!text) return undefined
    this.#store?.removeItem(this.#key)
    try {
      return JSON.parse(text) as PKCEAuthConfig
    } catch {
      return undefined
    }
  }
}
