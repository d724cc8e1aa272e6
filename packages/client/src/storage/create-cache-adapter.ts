import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment, StorageLike } from '../platform/environment.ts'
import type { CacheAdapter, CacheStorageType } from './cache-adapter.ts'
import { StorageCacheAdapter } from './storage-cache-adapter.ts'

/** One adapter per browser store: every agent of the page must find what the store rejected. */
const adapters = /* @__PURE__ */ new WeakMap<StorageLike, StorageCacheAdapter>()

const PROBE_KEY = 'aiagent_write_test'

/**
 * The store of a kind: the browser's if it can be written, otherwise the environment's memory.
 *
 * @param warn called once per store that rejects writes; by default logs to the environment's console
 */
export function createCacheAdapter(
  type: CacheStorageType = 'session',
  environment: Pick<Environment, 'sessionStorage' | 'localStorage' | 'memory' | 'console'> = defaultEnvironment(),
  warn: (message: string) => void = message => environment.console.warn(message),
): CacheAdapter {
  const storage =
    type === 'session' ? environment.sessionStorage : type === 'local' ? environment.localStorage : undefined
  if (!storage) return environment.memory
  return adapters.has(storage) || isWritable(storage) ? storageAdapter(storage, warn) : environment.memory
}

/** The adapter over a browser store, whether or not that can be written. */
export function storageAdapter(storage: StorageLike, warn: (message: string) => void): StorageCacheAdapter {
  const adapter = adapters.get(storage) ?? new StorageCacheAdapter(storage, warn)
  adapters.set(storage, adapter)
  return adapter
}

function isWritable(storage: StorageLike): boolean {
  try {
    storage.setItem(PROBE_KEY, '1')
    storage.removeItem(PROBE_KEY)
    return true
  } catch {
    return false
  }
}
