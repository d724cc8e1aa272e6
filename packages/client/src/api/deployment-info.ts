import { DEPLOYMENT_INFO_PATH, type DeploymentInfo, parseDeploymentInfo, restBase } from '@aiagent/protocol'
import { defaultEnvironment, resolveEnvironment } from '../platform/default-environment.ts'
import type { CacheAdapter, CacheConfig } from '../storage/cache-adapter.ts'
import { resolveCacheAdapter } from '../storage/create-cache-adapter.ts'
import { ExpiringStore } from '../storage/expiring-store.ts'
import type { GetDeploymentInfoOptions } from './api-options.ts'
import { requireEncryption } from './downgrade.ts'
import { request, withCallName } from './http-client.ts'

/*
 * The first call of each run. Separate from the other calls, so that it is part of the core: the chunk with the others
 * loads while it is in flight.
 */

const KEY_PREFIX = 'aiagent_static_deployment-info-'
const TTL_MS = 300_000

let sharedAdapter: CacheAdapter | undefined
/** Stores that hold deployment info, so that one call can empty them. */
const stores = /* @__PURE__ */ new Set<CacheAdapter>()

/** The deployment info of an endpoint, cached for five minutes for all agents of the page or process. */
export async function loadDeploymentInfo(
  endpoint: string,
  cache?: CacheConfig,
  options: GetDeploymentInfoOptions = {},
): Promise<DeploymentInfo> {
  const environment = resolveEnvironment(options.environment)
  const call = {
    name: 'getDeploymentInfo',
    method: 'GET',
    base: endpoint,
    path: DEPLOYMENT_INFO_PATH,
    hint: 'Check that `endpoint` is the address of the deployment.',
    parse: (value: unknown) => {
      const info = parseDeploymentInfo(value)
      requireEncryption(endpoint, 'apiDomain', info.apiDomain)
      return info
    },
  } as const
  const { signal } = options
  const onRateLimited = (retryInMs: number) => options.onRateLimited?.({ operation: call.name, retryInMs })
  if (cache?.enabled === false) return request(environment, { ...call, signal, onRateLimited })
  const adapter = resolveCacheAdapter({ adapter: sharedAdapter }, environment)
  stores.add(adapter)
  const store = new ExpiringStore(adapter, environment.clock, TTL_MS)
  const fetch = (flight: AbortSignal) => request(environment, { ...call, signal: flight, onRateLimited })
  return withCallName(call, signal, store.load(KEY_PREFIX + restBase(endpoint), fetch, signal, call.parse))
}

/** Replaces the store of the deployment info; `undefined` restores the default one. */
export function setDeploymentInfoAdapter(adapter: CacheAdapter | undefined): void {
  sharedAdapter = adapter
}

/** Removes the cached info of every deployment. */
export async function clearDeploymentInfo(): Promise<void> {
  stores.add(resolveCacheAdapter({ adapter: sharedAdapter }, defaultEnvironment()))
  for (const adapter of stores) await adapter.clear(KEY_PREFIX)
  stores.clear()
}
