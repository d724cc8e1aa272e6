import { type Id, isJsonObject, restBase, sameId, type UserProfile } from '@aiagent/protocol'
import type { StorageLike } from '../../platform/environment.ts'
import type { CacheAdapter } from '../../storage/cache-adapter.ts'

export interface SelectedProfileStoreOptions {
  /** The tab's store, where there is one. */
  storage: StorageLike | undefined
  /** What stands in for it, and takes what it refuses. */
  memory: CacheAdapter
  now(): number
  /** Hears, once, that the tab's store refuses writes. */
  warn(message: string): void
}

/**
 * The profile chosen last in each portal, under the keys and in the form that the host's pages share (FLOW-13).
 *
 * It never fails: a remembered choice is a convenience.
 */
export class SelectedProfileStore {
  readonly #options: SelectedProfileStoreOptions
  #warned = false

  constructor(options: SelectedProfileStoreOptions) {
    this.#options = options
  }

  /** Id of the profile that was chosen in a portal. */
  async recall(prefix: string, portalId: Id): Promise<Id | undefined> {
    const key = keyOf(prefix, portalId)
    try {
      const kept = (await this.#options.memory.get(key))?.value ?? this.#options.storage?.getItem(key)
      const entry: unknown = typeof kept === 'string' ? JSON.parse(kept) : undefined
      if (!isJsonObject(entry) || !isId(entry['id'])) return undefined
      return isId(entry['portalId']) && sameId(entry['portalId'], portalId) ? entry['id'] : undefined
    } catch {
      return undefined
    }
  }

  /** Remembers a choice. */
  async remember(prefix: string, portalId: Id, profile: UserProfile): Promise<void> {
    const { storage, memory, now, warn } = this.#options
    const key = keyOf(prefix, portalId)
    const { name, id, isLastUsedInPortal } = profile
    const value = JSON.stringify({ name: name ?? '', id, isLastUsedInPortal: isLastUsedInPortal ?? false, portalId })
    try {
      if (storage && write(storage, key, value)) return await memory.delete(key)
      if (storage && !this.#warned) {
        this.#warned = true
        warn('The browser refuses to store the chosen profile. It is remembered until the page is left.')
      }
      await memory.set(key, { value, timestamp: now() })
    } catch {
      // A memory of the host's own that fails: the next run chooses without it.
    }
  }

  /** Forgets what was chosen in any portal. */
  async forget(prefix: string): Promise<void> {
    const { storage, memory } = this.#options
    const start = keyOf(prefix, '')
    try {
      await memory.clear(start)
      const keys = Array.from({ length: storage?.length ?? 0 }, (_, index) => storage?.key(index))
      for (const key of keys) if (key?.startsWith(start)) storage?.removeItem(key)
    } catch {
      // Forbidden altogether: then nothing is in there.
    }
  }
}

/**
 * What tells deployments apart in the keys: the tenant's identifier, else the first segment of the endpoint's path, else
 * nothing.
 */
export function storagePrefix(
  deployment: { readonly tenant_identifier?: string | null | undefined },
  endpoint: string,
): string {
  return deployment.tenant_identifier?.trim() || (new URL(restBase(endpoint)).pathname.split('/')[1] ?? '')
}

function keyOf(prefix: string, portalId: Id): string {
  return `v2_${prefix}selectedProfile-${portalId}`
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

/** The choice before this one would be taken for the last one after a reload. */
function forgetKey(storage: StorageLike, key: string): void {
  try {
    storage.removeItem(key)
  } catch {
    // Forbidden altogether: then nothing is in there.
  }
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number'
}
