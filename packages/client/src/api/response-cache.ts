import { restBase } from '@aiagent/protocol'
import type { Clock } from '../platform/clock.ts'
import type { CacheAdapter, CacheConfig } from '../storage/cache-adapter.ts'
import { ExpiringStore } from '../storage/expiring-store.ts'
import { encodeKey } from '../util/well-formed.ts'

/** Default time for which a response counts as fresh, in milliseconds. */
const RESPONSE_TTL_MS = 300_000

const DEFAULT_PREFIX = 'aiagent_cache_'
/** Appended to a custom `keyPrefix`, so that clearing responses keeps other entries. */
const RESPONSES = 'cache_'

/** Responses of the REST calls of one API host, under keys of the call and its parameters. */
export class ResponseCache {
  readonly #store: ExpiringStore
  readonly #prefix: string
  readonly #api: string

  constructor(adapter: CacheAdapter, clock: Clock, apiDomain: string, config: CacheConfig = {}) {
    this.#prefix = config.keyPrefix ? config.keyPrefix + RESPONSES : DEFAULT_PREFIX
    this.#store = new ExpiringStore(adapter, clock, config.ttl ?? RESPONSE_TTL_MS, this.#prefix)
    this.#api = restBase(apiDomain)
  }

  /** The response of a call with these parameters: the cached one while fresh, otherwise the result of `fetch`. */
  load<T>(
    name: string,
    parameters: Readonly<Record<string, string>>,
    fetch: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
    read?: (stored: unknown) => unknown,
  ): Promise<T> {
    const named = Object.entries({ ...parameters, api: this.#api }).sort(([a], [b]) => (a < b ? -1 : 1))
    const key = named.map(([parameter, value]) => `${parameter}=${encodeKey(value)}`).join('&')
    return this.#store.load(`${this.#prefix}${name}:${key}`, fetch, signal, read)
  }

  /**
   * Removes the responses with a key that contains the text, such as the name of a call; without one, all of them.
   *
   * @throws when the store failed: entries may remain
   */
  invalidate(text = ''): Promise<void> {
    const { length } = this.#prefix
    return this.#store.remove(this.#prefix, key => key.includes(text, length))
  }

  /**
   * Removes the responses of this API host: all of them, or those of some users.
   *
   * @throws when the store failed: entries may remain
   */
  removeOwn(users?: ReadonlySet<string>): Promise<void> {
    const ofHost = `api=${encodeKey(this.#api)}`
    return this.#store.remove(this.#prefix, key => {
      const parts = key.slice(this.#prefix.length).split(/[:&]/)
      const isOfUser = () => [...(users ?? [])].some(user => parts.includes(`user=${encodeKey(user)}`))
      return parts.includes(ofHost) && (!users || isOfUser())
    })
  }
}
