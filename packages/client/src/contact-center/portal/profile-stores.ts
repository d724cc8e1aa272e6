import { type Id, isId, isJsonObject, restBase, sameId, type UserProfile } from '@aiagent/protocol'
import { toLangParameter } from '../../rest/language.ts'
import { KeyedStore, KINDS, type StorePlace } from '../../storage/keyed-store.ts'
import { MemoryCacheAdapter } from '../../storage/memory-cache-adapter.ts'
import { createCacheAdapter } from '../../storage/storage-cache-adapter.ts'
import { TextAdapter } from '../../storage/text-adapter.ts'

/** Caches the profiles of each portal and user as of the last completed run, so that the next run needs no request. */
export class ProfileCache {
  readonly #place: StorePlace
  readonly #language: (() => string | undefined) | undefined
  readonly #store: KeyedStore<readonly UserProfile[]>
  /** What all keys of the agent have in common. */
  readonly #agent: { readonly agent: string; readonly deployment: string }

  /**
   * @param place its agent is the configured one, which stays in the key even where the user picks another agent
   * @param language the language that the host set; without one, names are in the agent's language
   */
  constructor(
    place: StorePlace & { readonly deployment: string; readonly agent: string },
    language?: () => string | undefined,
  ) {
    this.#place = place
    this.#language = language
    this.#store = new KeyedStore(KINDS.profiles, place)
    this.#agent = { agent: place.agent, deployment: restBase(place.deployment) }
  }

  /** In a store that is not shared, the lists of other users are removed. */
  async claim(user: string): Promise<void> {
    if (!this.#store.isShared) await this.#remove(() => this.#store.remove(this.#agent, { except: { user } }))
  }

  /** The fresh list of a portal for a user, or undefined. */
  async get(portalId: Id, user: string): Promise<readonly UserProfile[] | undefined> {
    const { value } = (await this.#store.get(this.#key(portalId, user))) ?? {}
    return isProfileList(value) ? value : undefined
  }

  /** Stores a list unless a fresh one is stored already: using a list does not prolong its life. */
  async keep(portalId: Id, user: string, profiles: readonly UserProfile[]): Promise<void> {
    const known = (stored: unknown) => (isProfileList(stored) ? stored : undefined)
    await this.#store.load(this.#key(portalId, user), async () => profiles, undefined, known)
  }

  /** Removes the lists of one portal; without an id, every list of this agent. In a shared store only those of the user. */
  async forget(user: string, portalId?: Id): Promise<void> {
    const portal = portalId === undefined ? undefined : String(portalId)
    const ofUser = this.#store.isShared ? user : undefined
    await this.#remove(() => this.#store.remove({ ...this.#agent, portal, user: ofUser }))
  }

  async #remove(work: () => unknown): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#place.logger?.warn('Could not remove cached profiles. They stay until they expire.', { error })
    }
  }

  #key(portalId: Id, user: string): string {
    const chosen = this.#language?.()
    const language = chosen ? toLangParameter(chosen) : undefined
    return this.#store.key({ ...this.#agent, portal: String(portalId), user, language })
  }
}

/**
 * The profile selected last in each portal, under the keys and in the form that the host's pages share (FLOW-13), in the
 * session storage of the tab.
 *
 * A selection of another user is ignored. One that the host's pages wrote names no user, and counts.
 */
export class SelectedProfileStore {
  readonly #store: KeyedStore<string>
  /** In place of the memory of a process, which is shared by many users; that of a page belongs to one. */
  readonly #memory = new MemoryCacheAdapter()

  constructor(place: Omit<StorePlace, 'cache'>) {
    const { sessionStorage, page, memory } = place.environment
    const replacement = page ? memory : this.#memory
    const warn = place.logger && ((message: string) => place.logger?.warn(message))
    const beside = sessionStorage ? createCacheAdapter('session', place.environment, warn) : replacement
    this.#store = new KeyedStore(KINDS.selectedProfile, { ...place, adapter: new TextAdapter(sessionStorage, beside) })
  }

  /** Id of the profile that the user selected in a portal. */
  async load(prefix: string, portalId: Id, user: string): Promise<Id | undefined> {
    const stored = await this.#store.get(this.#key(prefix, portalId))
    if (!stored || (stored.deployment !== undefined && stored.user !== user)) return undefined
    try {
      const entry: unknown = JSON.parse(stored.value)
      if (!isJsonObject(entry) || !isId(entry['id'])) return undefined
      return isId(entry['portalId']) && sameId(entry['portalId'], portalId) ? entry['id'] : undefined
    } catch {
      return undefined
    }
  }

  /** Stores a selection of the user. */
  async remember(prefix: string, portalId: Id, profile: UserProfile, user: string): Promise<void> {
    const { name, id, isLastUsedInPortal } = profile
    const value = JSON.stringify({ name: name ?? '', id, isLastUsedInPortal: isLastUsedInPortal ?? false, portalId })
    await this.#store.set(this.#key(prefix, portalId), value, { user })
  }

  /** Removes the selections of other users of this deployment. */
  async claim(prefix: string, user: string): Promise<void> {
    for (const key of await this.#store.keys({ prefix })) {
      const entry = await this.#store.get(key)
      // The host's pages name no user.
      if (entry?.deployment !== undefined && entry.user !== user) await this.#store.delete(key)
    }
  }

  /** Removes every selection where there is no store of a page. */
  forgetMemory(): void {
    this.#memory.clear()
  }

  #key(prefix: string, portalId: Id): string {
    return this.#store.key({ prefix, portal: String(portalId) })
  }
}

/** Prefix of the keys: the tenant's identifier, else the first segment of the endpoint's path, else empty. */
export function storagePrefix(
  deployment: { readonly tenant_identifier?: string | null | undefined },
  endpoint: string,
): string {
  return deployment.tenant_identifier?.trim() || (new URL(restBase(endpoint)).pathname.split('/')[1] ?? '')
}

function isProfileList(value: unknown): value is UserProfile[] {
  return Array.isArray(value) && value.every(each => isJsonObject(each) && isId(each['id']))
}
