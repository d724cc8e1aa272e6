import { type Id, isJsonObject, restBase, type UserProfile } from '@aiagent/protocol'
import { toLangParameter } from '../../api/language.ts'
import type { CacheAdapter } from '../../storage/cache-adapter.ts'
import { joinKeyParts } from '../../storage/key-parts.ts'
import { removeEntries } from '../../storage/remove-entries.ts'
import { copyJson } from '../../util/copy-json.ts'

/** Start of every key of this cache. */
const PREFIX = 'vendor_profiles_'

export interface ProfileCacheOptions {
  /** The store; one that stores nothing if caching is off. */
  adapter: CacheAdapter
  /** True: several users share the store, so only entries of this agent's own users are removed. @default false */
  isShared?: boolean
  /** Id of the configured agent, which stays in the key even where the user picks another agent. */
  agentId: string
  /** Address of the deployment, since several deployments may share a store. */
  endpoint: string
  /** The language that the host set; without one, names are in the agent's language. */
  language?(): string | undefined
  /** How long a list counts as fresh, in milliseconds. */
  ttlMs: number
  now(): number
  /** Called when entries could not be removed from the store. */
  onRemovalFailed?(error: unknown): void
}

/**
 * Caches the profiles of each portal and user as of the last completed run, so that the next run needs no request.
 *
 * A store that fails counts as empty.
 */
export class ProfileCache {
  readonly #options: ProfileCacheOptions
  /** Users whose choices this cache has served. */
  readonly #users = new Set<string>()

  constructor(options: ProfileCacheOptions) {
    this.#options = options
  }

  /** Registers a user. In a store that is not shared, the lists of other users are removed. */
  async claim(user: string): Promise<void> {
    this.#users.add(encoded(user))
    if (this.#options.isShared) return
    await this.#remove(([, , , owner]) => owner !== encoded(user))
  }

  /** The fresh list of a portal for a user, or undefined. */
  async get(portalId: Id, user: string): Promise<readonly UserProfile[] | undefined> {
    const { adapter, ttlMs, now } = this.#options
    try {
      const entry = await adapter.get(this.#key(portalId, user))
      const isFresh = entry && now() - entry.timestamp < ttlMs
      return isFresh && isProfileList(entry.value) ? copyJson(entry.value) : undefined
    } catch {
      return undefined
    }
  }

  /** Stores a list unless a fresh one is stored already: using a list does not prolong its life. */
  async keep(portalId: Id, user: string, profiles: readonly UserProfile[]): Promise<void> {
    const { adapter, now } = this.#options
    this.#users.add(encoded(user))
    if (await this.get(portalId, user)) return
    try {
      await adapter.set(this.#key(portalId, user), { value: copyJson(profiles), timestamp: now() })
    } catch {
      // Not stored: the next run fetches the list again.
    }
  }

  /** Removes the lists of one portal; without an id, every list of this agent. In a shared store only those of its users. */
  async forget(portalId?: Id): Promise<void> {
    const { isShared } = this.#options
    await this.#remove(
      ([, portal, , owner]) =>
        (portalId === undefined || portal === encoded(String(portalId))) &&
        (!isShared || (owner !== undefined && this.#users.has(owner))),
    )
  }

  /** Removes this agent's entries that match; the parts of a key are agent, portal, deployment, user, and language if any. */
  async #remove(isMatch: (parts: readonly string[]) => boolean): Promise<void> {
    const { adapter, agentId, endpoint, onRemovalFailed } = this.#options
    const deployment = encoded(restBase(endpoint))
    try {
      await removeEntries(adapter, `${PREFIX}${encoded(agentId)}_`, key => {
        const parts = key.slice(PREFIX.length).split('_')
        return parts[2] === deployment && isMatch(parts)
      })
    } catch (error) {
      onRemovalFailed?.(error)
    }
  }

  #key(portalId: Id, user: string): string {
    const { agentId, endpoint, language } = this.#options
    const chosen = language?.()
    const parts = [agentId, String(portalId), restBase(endpoint), user]
    return PREFIX + joinKeyParts(...parts, ...(chosen ? [toLangParameter(chosen)] : []))
  }
}

/** One part as it appears in a key. */
const encoded = (part: string) => joinKeyParts(part)

function isProfileList(value: unknown): value is UserProfile[] {
  return Array.isArray(value) && value.every(each => isJsonObject(each) && /^(string|number)$/.test(typeof each['id']))
}
