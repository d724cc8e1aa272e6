import type { CacheAdapter } from './cache-adapter.ts'
import { StoreGuard } from './store-guard.ts'

/**
 * Removes the matching entries with a key that starts with a prefix.
 *
 * @throws when the store failed or did not answer in time: entries may remain
 */
export async function removeEntries(
  adapter: CacheAdapter,
  prefix: string,
  isMatch: (key: string) => boolean = () => true,
): Promise<void> {
  if (adapter instanceof StoreGuard) return adapter.removeAll(`${prefix}${isMatch}`, prefix, isMatch)
  for (const key of await adapter.keys(prefix)) if (isMatch(key)) await adapter.delete(key)
}
