import { ANONYMOUS_CLIENT, type DeploymentInfo, type OAuthMetadata, restBase } from '@aiagent/protocol'
import type { Environment } from '../platform/environment.ts'
import type { ExpiringStore } from '../storage/expiring-store.ts'
import { fetchOAuthMetadata, planAnonymousToken } from './oauth-metadata.ts'
import { prefixScopes } from './scopes.ts'
import { type GrantedToken, requestToken } from './token-request.ts'

/*
 * From a deployment to an anonymous token. Loaded when the first token is needed, because the OAuth library comes with it:
 * an agent that finds its token in the store, or whose host brings one, never loads either.
 */

export interface AnonymousTokenCall {
  deployment: DeploymentInfo
  scopes: readonly string[]
  /** Where the metadata is kept, and under which key. */
  metadata: ExpiringStore
  metadataKey: string
}

/**
 * Asks the deployment's metadata for the token address, and that address for a token.
 *
 * @throws {AuthError} `metadata_failed` or `token_request_failed`
 */
export async function requestAnonymousToken(
  environment: Pick<Environment, 'fetch' | 'clock'>,
  { deployment, scopes, metadata, metadataKey }: AnonymousTokenCall,
  signal: AbortSignal,
): Promise<GrantedToken> {
  const { apiDomain, tenantId } = deployment
  const known = await metadata.load(
    metadataKey,
    async flight => {
      const fetched = await fetchOAuthMetadata(environment, apiDomain, flight)
      // Metadata that no token can be had with is not kept: a deployment that is mended works at once.
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
    allowHttp: restBase(apiDomain).startsWith('http:'),
  }
  return requestToken(environment, request, signal)
}

/** Whether a token can be had with stored metadata: anybody may have written it. */
function canPlan(stored: OAuthMetadata, tenantId: string | null | undefined): boolean {
  try {
    return planAnonymousToken(stored, tenantId).tokenUrl !== ''
  } catch {
    return false
  }
}
