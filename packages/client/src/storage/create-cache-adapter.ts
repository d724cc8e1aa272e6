import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment, StorageLike } from '../platform/environment.ts'
import type { CacheAdapter, CacheConfig, CacheStorageType } from './cache-adapter.ts'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'
import { StorageCacheAdapter } from './storage-cache-adapter.ts'
import { guardCacheAdapter, StoreGuard, type StoreWarning } from './store-guard.ts'

/** One adapter per browser store: every agent of the page must find what the store rejected. */
const adapters = new WeakMap<StorageLike, StorageCacheAdapter>()

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

type StoreChoice = { [Field in 'enabled' | 'storageType' | 'adapter']?: CacheConfig[Field] | undefined }

/** The configured store: an empty one if caching is off, the host's adapter, or one of the platform. */
export function resolveCacheAdapter(
  config: StoreChoice | undefined,
  environment: Pick<Environment, 'sessionStorage' | 'localStorage' | 'memory' | 'console' | 'clock'>,
  warn: StoreWarning = (message, details) => environment.console.warn(message, ...(details ? [details.error] : [])),
): CacheAdapter {
  if (config?.enabled === false) return new EmptyCacheAdapter()
  if (config?.adapter) return guardCacheAdapter(config.adapter, environment.clock, warn)
  return createCacheAdapter(config?.storageType, environment, warn)
}

/**
 * The store for data of one agent, such as its context. Without a browser store, each agent has its own memory: agents
 * of one process may share responses and tokens, but their conversations belong to different users.
 */
export function resolveOwnAdapter(
  config: StoreChoice,
  environment: Pick<Environment, 'sessionStorage' | 'localStorage' | 'memory' | 'console' | 'clock'>,
  warn: StoreWarning,
): CacheAdapter {
  if (config.enabled === false) return new MemoryCacheAdapter()
  const adapter = resolveCacheAdapter(config, environment, warn)
  return adapter === environment.memory ? new MemoryCacheAdapter() : adapter
}

/** Whether several users may use the store: a custom one, or the memory of a process without a page. */
export function isSharedStore(adapter: CacheAdapter, { memory, page }: Pick<Environment, 'memory' | 'page'>): boolean {
  return (adapter instanceof StoreGuard && adapter.isCustom) || (adapter === memory && !page)
}

/** A store that stores nothing. */
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
