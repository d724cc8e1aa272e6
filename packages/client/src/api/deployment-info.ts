import { DEPLOYMENT_INFO_PATH, type DeploymentInfo, restBase } from '@aiagent/protocol'
import { defaultEnvironment, resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import type { NetworkPlatform } from '../platform/network-failure.ts'
import type { CacheAdapter, CacheConfig } from '../storage/cache-adapter.ts'
import { resolveCacheAdapter } from '../storage/create-cache-adapter.ts'
import { ExpiringStore } from '../storage/expiring-store.ts'
import type { GetDeploymentInfoOptions } from './api-options.ts'

/*
 * The first call of each run. It starts in the core; the chunk with everything that reads its response loads while it is
 * in flight.
 */

const KEY_PREFIX = 'aiagent_static_deployment-info-'
const TTL_MS = 300_000

let sharedAdapter: CacheAdapter | undefined
/** Stores that hold deployment info, so that one call can empty them. */
const stores = /* @__PURE__ */ new Set<CacheAdapter>()

/** What makes the call and reads its response: deployment-call.ts, which may not be loaded yet. */
export interface DeploymentCall {
  request(
    platform: NetworkPlatform,
    endpoint: string,
    signal: AbortSignal | undefined,
    onRateLimited: GetDeploymentInfoOptions['onRateLimited'],
  ): Promise<DeploymentInfo>
  /** @throws {ProtocolError} when the value is not a deployment info */
  read(endpoint: string, value: unknown): DeploymentInfo
}

/** The deployment info of an endpoint, cached for five minutes for all agents of the page or process. */
export async function findDeploymentInfo(
  endpoint: string,
  cache: CacheConfig | undefined,
  options: GetDeploymentInfoOptions,
  code: DeploymentCall | (() => Promise<DeploymentCall>),
): Promise<DeploymentInfo> {
  const environment = resolveEnvironment(options.environment)
  const { signal, onRateLimited } = options
  const request = (flight: AbortSignal | undefined) =>
    typeof code === 'function'
      ? requestEarly(environment, endpoint, flight, onRateLimited, code)
      : code.request(environment, endpoint, flight, onRateLimited)
  if (cache?.enabled === false) return request(signal)
  const adapter = resolveCacheAdapter({ adapter: sharedAdapter }, environment)
  stores.add(adapter)
  const read = async (value: unknown) => (typeof code === 'function' ? await code() : code).read(endpoint, value)
  const store = new ExpiringStore(adapter, environment.clock, TTL_MS, KEY_PREFIX)
  return store.load(KEY_PREFIX + restBase(endpoint), request, signal, read)
}

/** Sends the request at once, and loads what reads its response meanwhile. */
async function requestEarly(
  { fetch, clock, page }: Environment,
  endpoint: string,
  signal: AbortSignal | undefined,
  onRateLimited: GetDeploymentInfoOptions['onRateLimited'],
  code: () => Promise<DeploymentCall>,
): Promise<DeploymentInfo> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const follow = (other: AbortSignal | null | undefined) =>
    other?.addEventListener('abort', () => controller.abort(other.reason))
  follow(signal)
  const send = async () =>
    fetch(restBase(endpoint) + DEPLOYMENT_INFO_PATH, { method: 'GET', headers: {}, signal: controller.signal })
  const started = send()
  let isTaken = false
  // The call that takes it over handles its failure.
  started.catch(() => {})
  const takeOver: typeof fetch = (address, init) => {
    if (isTaken) return fetch(address, init)
    isTaken = true
    follow(init?.signal)
    return started
  }
  try {
    const { request } = await code()
    return await request({ fetch: takeOver, clock, page }, endpoint, signal, onRateLimited)
  } finally {
    // Without the code nobody reads the response.
    if (!isTaken) controller.abort()
  }
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
