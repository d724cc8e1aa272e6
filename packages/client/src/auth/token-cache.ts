import type { Clock } from '../platform/clock.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { expiryOfFresh, renewalTime } from './access-token.ts'
import { scopeFingerprint } from './scopes.ts'

/** An anonymous token as it is stored. */
export interface StoredToken {
  readonly accessToken: string
  /** By the clock of this device, in milliseconds since the epoch. */
  readonly expiresAt: number
}

/**
 * Anonymous tokens in a store, one per set of scopes: a token for fewer scopes is never used where more are needed.
 *
 * A store that fails, or an entry with another shape, counts as empty.
 */
export class TokenCache {
  readonly #adapter: CacheAdapter
  readonly #clock: Clock
  readonly #prefix: string

  /** @param owner distinguishes deployments in the keys */
  constructor(adapter: CacheAdapter, clock: Clock, owner: string) {
    this.#adapter = adapter
    this.#clock = clock
    this.#prefix = `${owner}:anonymous_token:`
  }

  keyOf(scopes: readonly string[]): string {
    return this.#prefix + scopeFingerprint(scopes)
  }

  /** The stored token for these scopes, unless it is about to expire. */
  async get(scopes: readonly string[]): Promise<StoredToken | undefined> {
    try {
      const entry = await this.#adapter.get(this.keyOf(scopes))
      if (!entry || !isStoredToken(entry.value)) return undefined
      const replaceAt = renewalTime(entry.value.expiresAt, entry.timestamp)
      return this.#clock.now() < replaceAt ? entry.value : undefined
    } catch {
      return undefined
    }
  }

  /**
   * Stores a newly issued token.
   *
   * @param lifeMs lifetime to assume if the token does not contain an expiry
   */
  async set(scopes: readonly string[], accessToken: string, lifeMs: number): Promise<StoredToken> {
    const timestamp = this.#clock.now()
    const value = { accessToken, expiresAt: expiryOfFresh(accessToken, timestamp) ?? timestamp + lifeMs }
    try {
      await this.#adapter.set(this.keyOf(scopes), { value, timestamp })
    } catch {
      // Not stored: the next call requests another.
    }
    return value
  }

  async delete(scopes: readonly string[]): Promise<void> {
    await this.#adapter.delete(this.keyOf(scopes))
  }

  /** Removes the tokens of every set of scopes. */
  async clear(): Promise<void> {
    await this.#adapter.clear(this.#prefix)
  }
}

function isStoredToken(value: unknown): value is StoredToken {
  if (typeof value !== 'object' || value === null) return false
  const { accessToken, expiresAt } = value as Partial<StoredToken>
  return typeof accessToken === 'string' && accessToken !== '' && typeof expiresAt === 'number'
}
