import { ANONYMOUS_CLIENT, type DeploymentInfo, type OAuthMetadata, restBase } from '@aiagent/protocol'
import type { Environment } from '../platform/environment.ts'
import type { RateLimitCallback } from '../platform/patient-fetch.ts'
import type { ExpiringStore } from '../storage/expiring-store.ts'
import { isOnThisMachine } from '../util/loopback.ts'
import { fetchOAuthMetadata, planAnonymousToken } from './oauth-metadata.ts'
import { prefixScopes } from './scopes.ts'
import { type GrantedToken, mayUseHttp, requestToken } from './token-request.ts'

export interface AnonymousTokenCall {
  deployment: DeploymentInfo
  /** Address of the deployment, as the host configured it. */
  endpoint: string | undefined
  scopes: readonly string[]
  /** Where the metadata is stored, and under which key. */
  metadata: ExpiringStore
  metadataKey: string
  onRateLimited: RateLimitCallback | undefined
}

/**
 * Requests an anonymous token from the address in the deployment's metadata.
 *
 * @throws {AuthError} `metadata_failed` or `token_request_failed`
 */
export async function requestAnonymousToken(
  environment: Pick<Environment, 'fetch' | 'clock'>,
  { deployment, endpoint, scopes, metadata, metadataKey, onRateLimited }: AnonymousTokenCall,
  signal: AbortSignal,
): Promise<GrantedToken> {
  const { apiDomain, tenantId } = deployment
  const known = await metadata.load(
    metadataKey,
    async flight => {
      const fetched = await fetchOAuthMetadata(environment, apiDomain, flight, undefined, onRateLimited)
      // Metadata without a token address is not stored, so that a corrected deployment works at once.
      planAnonymousToken(fetched, tenantId)
      return fetched
    },
    signal,
    stored => (canPlan(stored as OAuthMetadata, tenantId) ? stored : undefined),
  )
  const { tokenUrl, scopePrefix } = planAnonymousToken(known, tenantId)
  const request = {
    tokenUrl,
    clientId: ANONYMOUS_CLIENT.id,
    clientSecret: ANONYMOUS_CLIENT.secret,
    scopes: prefixScopes(scopes, scopePrefix),
    allowHttp: mayUseHttp(apiDomain, endpoint),
    allowLoopback: endpoint === undefined || isOnThisMachine(restBase(endpoint)),
    onRateLimited,
  }
  return requestToken(environment, request, signal)
}

/** Whether stored metadata contains a token address. Other code of the page may have written it. */
function canPlan(stored: OAuthMetadata, tenantId: string | null | undefined): boolean {
  try {
    return planAnonymousToken(stored, tenantId).tokenUrl !== ''
  } catch {
    return false
  }
}
