import { type Id, isJsonObject, restBase, sameId, type UserProfile } from '@aiagent/protocol'
import type { StorageLike } from '../../platform/environment.ts'
import type { CacheAdapter } from '../../storage/cache-adapter.ts'
import { joinKeyParts } from '../../storage/key-parts.ts'

export interface SelectedProfileStoreOptions {
  /** The tab's session storage, if there is one. */
  storage: StorageLike | undefined
  /** Used if there is no session storage, or if it rejects a write. */
  memory: CacheAdapter
  /** Address of the deployment, since the keys of two deployments may be equal. */
  endpoint: string
  now(): number
  /** Called once when the session storage refuses writes. */
  warn(message: string): void
}

/**
 * The profile selected last in each portal, under the keys and in the form that the host's pages share (FLOW-13).
 *
 * A second entry names the deployment and the user of a selection; one of another user is ignored. A selection without
 * such an entry was written by the host's pages and counts. This store never fails: remembering a selection is
 * optional.
 */
export class SelectedProfileStore {
  readonly #options: SelectedProfileStoreOptions
  #warned = false

  constructor(options: SelectedProfileStoreOptions) {
    this.#options = options
  }

  /** Id of the profile that the user selected in a portal. */
  async recall(prefix: string, portalId: Id, user: string): Promise<Id | undefined> {
    const key = keyOf(prefix, portalId)
    try {
      const owner = await this.#read(ownerKeyOf(key))
      if (owner !== undefined && owner !== this.#owner(user)) return undefined
      const stored = await this.#read(key)
      const entry: unknown = stored === undefined ? undefined : JSON.parse(stored)
      if (!isJsonObject(entry) || !isId(entry['id'])) return undefined
      return isId(entry['portalId']) && sameId(entry['portalId'], portalId) ? entry['id'] : undefined
    } catch {
      return undefined
    }
  }

  /** Stores a selection of the user. */
  async remember(prefix: string, portalId: Id, profile: UserProfile, user: string): Promise<void> {
    const key = keyOf(prefix, portalId)
    const { name, id, isLastUsedInPortal } = profile
    const value = JSON.stringify({ name: name ?? '', id, isLastUsedInPortal: isLastUsedInPortal ?? false, portalId })
    try {
      await this.#write(ownerKeyOf(key), this.#owner(user))
      await this.#write(key, value)
    } catch {
      // A custom memory that fails: the next run selects without it.
    }
  }

  /** Removes the selections of other users of this deployment. */
  async claim(prefix: string, user: string): Promise<void> {
    const own = this.#owner(user)
    await this.#remove(prefix, owner => owner?.startsWith(this.#owner('')) === true && owner !== own)
  }

  /** Removes the selections in every portal, except by users of another deployment. */
  async forget(prefix: string): Promise<void> {
    await this.#remove(prefix, owner => owner === undefined || owner.startsWith(this.#owner('')))
  }

  async #remove(prefix: string, isMatch: (owner: string | undefined) => boolean): Promise<void> {
    const { storage, memory } = this.#options
    const start = keyOf(prefix, '')
    try {
      const keys = new Set(await memory.keys(start))
      for (let index = 0; index < (storage?.length ?? 0); index++) {
        const key = storage?.key(index)
        if (key?.startsWith(start)) keys.add(key)
      }
      for (const key of keys) {
        if (!isMatch(await this.#read(ownerKeyOf(key)))) continue
        for (const each of [key, ownerKeyOf(key)]) {
          await memory.delete(each)
          storage?.removeItem(each)
        }
      }
    } catch {
      // Access is forbidden, so the store is empty.
    }
  }

  /** Identifies the deployment and the user. */
  #owner(user: string): string {
    return joinKeyParts(restBase(this.#options.endpoint), user)
  }

  async #read(key: string): Promise<string | undefined> {
    const { storage, memory } = this.#options
    const stored = (await memory.get(key))?.value ?? storage?.getItem(key)
    return typeof stored === 'string' ? stored : undefined
  }

  async #write(key: string, value: string): Promise<void> {
    const { storage, memory, now, warn } = this.#options
    if (storage && write(storage, key, value)) return memory.delete(key)
    if (storage && !this.#warned) {
      this.#warned = true
      warn('The browser rejects the selected profile. It is kept in memory until the page is left.')
    }
    await memory.set(key, { value, timestamp: now() })
  }
}

/** Prefix of the keys: the tenant's identifier, else the first segment of the endpoint's path, else empty. */
export function storagePrefix(
  deployment: { readonly tenant_identifier?: string | null | undefined },
  endpoint: string,
): string {
  return deployment.tenant_identifier?.trim() || (new URL(restBase(endpoint)).pathname.split('/')[1] ?? '')
}

function keyOf(prefix: string, portalId: Id): string {
  return `v2_${prefix}selectedProfile-${portalId}`
}

/** Key of the entry that identifies the owner of the entry with the given key. */
function ownerKeyOf(key: string): string {
  return `aiagent_owner_${key}`
}

function write(storage: StorageLike, key: string, value: string): boolean {
  try {
    storage.setItem(key, value)
    return true
  } catch {
    forgetKey(storage, key)
    return false
  }
}

/** Otherwise the earlier selection would count as the latest one after a reload. */
function forgetKey(storage: StorageLike, key: string): void {
  try {
    storage.removeItem(key)
  } catch {
    // Access is forbidden, so the store is empty.
  }
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number'
}
