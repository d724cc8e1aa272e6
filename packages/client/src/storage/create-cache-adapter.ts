import type { Clock } from '../platform/clock.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment, StorageLike } from '../platform/environment.ts'
import type { CacheAdapter, CacheConfig, CacheStorageType } from './cache-adapter.ts'
import { GuardedCacheAdapter, type StoreWarning } from './guarded-cache-adapter.ts'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'
import { StorageCacheAdapter } from './storage-cache-adapter.ts'

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
  const known = adapters.get(storage)
  if (known) return known
  if (!isWritable(storage)) return environment.memory
  const adapter = new StorageCacheAdapter(storage, warn)
  adapters.set(storage, adapter)
  return adapter
}

/** One guard per adapter and clock, so that all users of an adapter share its back-off. */
const guarded = new WeakMap<CacheAdapter, WeakMap<Clock, GuardedCacheAdapter>>()

/** Guards a host's store. The same store gets the same guard. */
export function guardCacheAdapter(adapter: CacheAdapter, clock: Clock, warn: StoreWarning): GuardedCacheAdapter {
  if (adapter instanceof GuardedCacheAdapter) return adapter
  const known = guarded.get(adapter) ?? new WeakMap<Clock, GuardedCacheAdapter>()
  guarded.set(adapter, known)
  const guard = known.get(clock) ?? new GuardedCacheAdapter(adapter, clock, warn)
  known.set(clock, guard)
  return guard
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
  return adapter instanceof GuardedCacheAdapter || (adapter === memory && !page)
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
