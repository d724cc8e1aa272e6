import type { CacheAdapter, CacheConfig, CacheStorageType } from './cache-adapter.ts'
import { defaultEnvironment } from './default-environment.ts'
import type { Environment, StorageLike } from './environment.ts'
import { StorageCacheAdapter } from './storage-cache-adapter.ts'

type Stores = Pick<Environment, 'sessionStorage' | 'localStorage' | 'memory' | 'console'>

/** One adapter per store of the browser: what the store refused must be found again by every agent of the page. */
const adapters = new WeakMap<StorageLike, StorageCacheAdapter>()

const PROBE_KEY = 'aiagent_write_test'

/**
 * The store of a kind: the browser's where there is one that can be written, else the environment's memory.
 *
 * @param warn hears, once per store, that it refuses writes; by default the environment's console
 */
export function createCacheAdapter(
  type: CacheStorageType = 'session',
  environment: Stores = defaultEnvironment(),
  warn: (message: string) => void = message => environment.console.warn(message),
): CacheAdapter {
  const storage =
    type === 'session' ? environment.sessionStorage : type === 'local' ? environment.localStorage : undefined
  if (!storage) return environment.memory
  const known = adapters.get(storage)
  if (known) return known
  if (!isWritable(storage)) return environment.memory
  const adapter = new StorageCacheAdapter(storage, warn)
  adapters.set(storage, adapter)
  return adapter
}

/** The store that a configuration asks for: none that holds anything, the host's own, or one of the platform. */
export function resolveCacheAdapter(
  config: CacheConfig | undefined,
  environment: Stores,
  warn?: (message: string) => void,
): CacheAdapter {
  if (config?.enabled === false) return new EmptyCacheAdapter()
  return config?.adapter ?? createCacheAdapter(config?.storageType, environment, warn)
}

/** A store that holds nothing. */
export class EmptyCacheAdapter implements CacheAdapter {
  get(): null {
    return null
  }
  set(): void {}
  delete(): void {}
  clear(): void {}
  keys(): string[] {
    return []
  }
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
