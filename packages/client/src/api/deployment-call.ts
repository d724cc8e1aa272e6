import { DEPLOYMENT_INFO_PATH, type DeploymentInfo, parseDeploymentInfo } from '@aiagent/protocol'
import { requireAddress } from '../check-config.ts'
import type { CacheConfig } from '../storage/cache-adapter.ts'
import type { GetDeploymentInfoOptions } from './api-options.ts'
import { type DeploymentCall, findDeploymentInfo } from './deployment-info.ts'
import { requireEncryption } from './downgrade.ts'
import { request, withCallName } from './http-client.ts'

const CALL = {
  name: 'getDeploymentInfo',
  method: 'GET',
  path: DEPLOYMENT_INFO_PATH,
  hint: 'Check that `endpoint` is the address of the deployment.',
} as const

/** The call for the deployment info, and what reads its response. */
export const deploymentCall: DeploymentCall = {
  request(platform, endpoint, signal, onRateLimited) {
    const parse = (value: unknown) => deploymentCall.read(endpoint, value)
    return request(platform, { ...CALL, base: endpoint, parse, signal, onRateLimited })
  },

  read(endpoint, value) {
    const info = parseDeploymentInfo(value)
    requireEncryption(endpoint, 'apiDomain', info.apiDomain)
    requireEncryption(endpoint, 'aiAgentDomain', info.aiAgentDomain)
    return info
  },
}

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
  return withCallName(CALL, options.signal, findDeploymentInfo(base, cache, options, deploymentCall))
}
