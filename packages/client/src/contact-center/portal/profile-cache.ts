import { type Id, isJsonObject, type UserProfile } from '@aiagent/protocol'
import type { CacheAdapter } from '../../storage/cache-adapter.ts'
import { fnv1a } from '../../util/fnv1a.ts'

export interface ProfileCacheOptions {
  /** The store; one that holds nothing where caching is off. */
  adapter: CacheAdapter
  /** The configured agent's id, which stands for the whole choice even where another agent is picked. */
  agentId: string
  /** Address of the deployment, since several may share a store. */
  endpoint: string
  /** The language that the host chose, in which names come; without one they come in the agent's own. */
  language?(): string | undefined
  /** How long a list counts as fresh, in milliseconds. */
  ttlMs: number
  now(): number
}

/**
 * The profiles of each portal and person as of the last completed run, so that the next one can choose without asking.
 *
 * A store that fails counts as empty.
 */
export class ProfileCache {
  readonly #options: ProfileCacheOptions

  constructor(options: ProfileCacheOptions) {
    this.#options = options
  }

  /** @param person tells apart whose profiles they are */
  async get(portalId: Id, person: string): Promise<readonly UserProfile[] | undefined> {
    const { adapter, ttlMs, now } = this.#options
    try {
      const entry = await adapter.get(this.#key(portalId, person))
      const isFresh = entry && now() - entry.timestamp < ttlMs
      return isFresh && isProfileList(entry.value) ? structuredClone(entry.value) : undefined
    } catch {
      return undefined
    }
  }

  /** Keeps a list, unless there is one that is still fresh: each list lives once, however often it is used. */
  async keep(portalId: Id, person: string, profiles: readonly UserProfile[]): Promise<void> {
    const { adapter, now } = this.#options
    if (await this.get(portalId, person)) return
    try {
      const entry = { value: structuredClone(profiles), timestamp: now() }
      await adapter.set(this.#key(portalId, person), entry)
    } catch {
      // Not kept: the next run asks again.
    }
  }

  /** Forgets the lists of one portal; without one, every list of this agent. */
  async forget(portalId?: Id): Promise<void> {
    const { adapter } = this.#options
    try {
      for (const key of await adapter.keys(this.#prefix(portalId))) await adapter.delete(key)
    } catch {
      // Nothing can be read from it either.
    }
  }

  #key(portalId: Id, person: string): string {
    const language = this.#options.language?.()
    const whose = `${this.#prefix(portalId)}${fnv1a(this.#options.endpoint)}_${person}`
    return language ? `${whose}_${fnv1a(language.toLowerCase())}` : whose
  }

  #prefix(portalId?: Id): string {
    const agent = `vendor_profiles_${this.#options.agentId}_`
    return portalId === undefined ? agent : `${agent}${portalId}_`
  }
}

function isProfileList(value: unknown): value is UserProfile[] {
  return Array.isArray(value) && value.every(each => isJsonObject(each) && /^(string|number)$/.test(typeof each['id']))
}
