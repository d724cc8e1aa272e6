import type { StorageLike } from '../platform/environment.ts'
import type { PKCEAuthConfig } from './auth-strategy.ts'
import { authorityOf } from './sign-in/provider-address.ts'

/**
 * The login that a tab uses for an endpoint, in sessionStorage. The deployment defines this login, not the host's
 * configuration; without the entry, a logout before `initialize()` would not know which tokens to remove.
 */
export class RememberedLogin {
  readonly #store: StorageLike | undefined
  readonly #key: string

  /** @param endpoint without it, nothing is stored */
  constructor(store: StorageLike | undefined, endpoint: string | undefined) {
    this.#store = endpoint === undefined ? undefined : store
    this.#key = `aiagent_auth_login:${endpoint}`
  }

  add(config: PKCEAuthConfig): void {
    try {
      this.#store?.setItem(this.#key, JSON.stringify(config))
    } catch {
      // The store is full. Only a logout before initialize() needs the entry.
    }
  }

  /** Removes and returns the entry; undefined for anything else that other code of the page may have written there. */
  take(): PKCEAuthConfig | undefined {
    const text = this.#store?.getItem(this.#key)
    if (!text) return undefined
    this.#store?.removeItem(this.#key)
    try {
      const config = JSON.parse(text) as PKCEAuthConfig
      authorityOf(config)
      return config
    } catch {
      return undefined
    }
  }
}
