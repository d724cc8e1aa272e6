import { type OAuthMetadata, restBase } from '@aiagent/protocol'
import type { Environment } from '../../platform/environment.ts'
import type { RateLimitCallback } from '../../platform/patient-fetch.ts'
import { createCacheAdapter } from '../../storage/create-cache-adapter.ts'
import { ExpiringStore } from '../../storage/expiring-store.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import { fetchOAuthMetadata } from '../oauth-metadata.ts'
import { deploymentLoginPath, loginUser } from './deployment-login.ts'
import { buildPkceConfig, type PkceConfigFacts } from './pkce-config.ts'

const METADATA_TTL_MS = 300_000
const METADATA_PREFIX = 'aiagent_auth_metadata:'

/**
 * Builds the login of an agent for which the host configured none. Fetches the deployment's metadata, which is cached
 * in sessionStorage for five minutes.
 *
 * @throws {AuthError} `metadata_failed` or `not_supported`
 */
export async function loadPkceConfig(
  environment: Environment,
  facts: Omit<PkceConfigFacts, 'metadata'>,
  signal?: AbortSignal,
  onRateLimited?: RateLimitCallback,
): Promise<PKCEAuthConfig> {
  const { deployment, agent } = facts
  const user = loginUser(agent)
  const path = deploymentLoginPath(agent, deployment)
  const adapter = createCacheAdapter('session', environment)
  const store = new ExpiringStore(adapter, environment.clock, METADATA_TTL_MS, METADATA_PREFIX)
  const read = (metadata: OAuthMetadata) => buildPkceConfig({ ...facts, metadata })
  const fetchFresh = async (flight: AbortSignal): Promise<OAuthMetadata> => {
    const metadata = await fetchOAuthMetadata(environment, deployment.apiDomain, flight, path, onRateLimited)
    // Metadata that does not suffice for a login is not cached, so that a corrected deployment works at once.
    read(metadata)
    return metadata
  }
  const key = `${METADATA_PREFIX}${user}:${restBase(deployment.apiDomain)}:${deployment.tenantId || 'deployment'}:true`
  return read(await store.load(key, fetchFresh, signal))
}
