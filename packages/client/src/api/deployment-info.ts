import { DEPLOYMENT_INFO_PATH, type DeploymentInfo, parseDeploymentInfo, restBase } from '@aiagent/protocol'
import { requireAddress } from '../check-config.ts'
import { defaultEnvironment, resolveEnvironment } from '../platform/default-environment.ts'
import type { CacheAdapter, CacheConfig } from '../storage/cache-adapter.ts'
import { resolveCacheAdapter } from '../storage/create-cache-adapter.ts'
import { ExpiringStore } from '../storage/expiring-store.ts'
import type { GetDeploymentInfoOptions } from './api-options.ts'
import { requireEncryption } from './downgrade.ts'
import { request, withCallName } from './http-client.ts'

const CALL = {
  name: 'getDeploymentInfo',
  method: 'GET',
  path: DEPLOYMENT_INFO_PATH,
  hint: 'Check that `endpoint` is the address of the deployment.',
} as const

const KEY_PREFIX = 'aiagent_static_deployment-info-'
const TTL_MS = 300_000

let sharedAdapter: CacheAdapter | undefined
/** Stores that hold deployment info, so that one call can empty them. */
const stores = /* @__PURE__ */ new Set<CacheAdapter>()

/**
 * The deployment info of an endpoint, cached for five minutes for all agents of the page or process.
 *
 * @throws {ConfigError} for an endpoint that is missing or cannot be used
 */
export async function loadDeploymentInfo(
  endpoint: string,
  cache?: CacheConfig,
  options: GetDeploymentInfoOptions = {},
): Promise<DeploymentInfo> {
  const base = requireAddress({ endpoint })
  return withCallName(CALL, options.signal, load(base, cache, options))
}

async function load(
  endpoint: string,
  cache: CacheConfig | undefined,
  options: GetDeploymentInfoOptions,
): Promise<DeploymentInfo> {
  const environment = resolveEnvironment(options.environment)
  const { signal, onRateLimited } = options
  const parse = (value: unknown) => read(endpoint, value)
  const fetchInfo = (flight: AbortSignal | undefined) =>
    request(environment, { ...CALL, base: endpoint, parse, signal: flight, onRateLimited })
  if (cache?.enabled === false) return fetchInfo(signal)
  const adapter = resolveCacheAdapter({ adapter: sharedAdapter }, environment)
  stores.add(adapter)
  const store = new ExpiringStore(adapter, environment.clock, TTL_MS, KEY_PREFIX)
  return store.load(KEY_PREFIX + restBase(endpoint), fetchInfo, signal, parse)
}

/** @throws {ProtocolError} when the value is not a deployment info */
function read(endpoint: string, value: unknown): DeploymentInfo {
  const info = parseDeploymentInfo(value)
  requireEncryption(endpoint, 'apiDomain', info.apiDomain)
  requireEncryption(endpoint, 'aiAgentDomain', info.aiAgentDomain)
  return info
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
