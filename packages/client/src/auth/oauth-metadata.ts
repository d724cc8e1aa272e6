import {
  type OAuthMetadata,
  type ProtocolError,
  parseOAuthMetadata,
  paths,
  restBase,
  TENANT_PLACEHOLDER,
} from '@aiagent/protocol'
import { AuthError } from '../errors.ts'
import type { Environment } from '../platform/environment.ts'
import { fetchPatiently, type RateLimitCallback, TOKEN_WAIT_MS } from '../platform/patient-fetch.ts'

/**
 * Fetches the deployment's token and login addresses. Waits where the service limits the rate of calls.
 *
 * @throws {AuthError} `metadata_failed`
 */
export async function fetchOAuthMetadata(
  environment: Pick<Environment, 'fetch' | 'clock'>,
  apiDomain: string,
  signal?: AbortSignal,
  path = paths.metadataOfDeployment(),
  onRateLimited?: RateLimitCallback,
): Promise<OAuthMetadata> {
  const address = restBase(apiDomain) + path
  const patience = { name: 'getOAuthMetadata', signal, limitMs: TOKEN_WAIT_MS, onRateLimited }
  const answer = await fetchPatiently(environment, address, { method: 'GET' }, patience).catch(cause => {
    throw metadataError(
      `could not be loaded: ${cause instanceof Error ? cause.message : 'the request failed'}`,
      undefined,
      cause,
    )
  })
  if (!answer.ok) throw metadataError(`could not be loaded: status ${answer.status}`, answer.status)
  let body: unknown
  try {
    body = JSON.parse(answer.text)
  } catch (cause) {
    throw metadataError('is not valid JSON', answer.status, cause)
  }
  try {
    return parseOAuthMetadata(body)
  } catch (cause) {
    throw metadataError(`is not valid: ${(cause as ProtocolError).message}`, answer.status)
  }
}

/** The part of the metadata that the anonymous token request uses. */
export interface AnonymousTokenPlan {
  tokenUrl: string
  /** Prefix of each scope. */
  scopePrefix: string
}

/**
 * The token endpoint for anonymous tokens.
 *
 * @throws {AuthError} `metadata_failed`, naming the missing member
 */
export function planAnonymousToken(metadata: OAuthMetadata, tenantId: string | null | undefined): AnonymousTokenPlan {
  const details = metadata.authenticationDetails
  if (!details) throw metadataError('has no authenticationDetails')
  const url = details.oAuthAnonymousCustomer?.find(each => each.accessTokenURL)?.accessTokenURL
  if (!url) {
    throw metadataError(
      'has no authenticationDetails.oAuthAnonymousCustomer[0].accessTokenURL: anonymous access is disabled',
    )
  }
  if (url.includes(TENANT_PLACEHOLDER) && !tenantId) {
    throw metadataError('has a token address per tenant, but the deployment info has no tenantId')
  }
  return {
    tokenUrl: url.replaceAll(TENANT_PLACEHOLDER, () => tenantId ?? ''),
    scopePrefix: details.apiPermissionPrefix ?? '',
  }
}

export function metadataError(problem: string, status?: number, cause?: unknown): AuthError {
  return new AuthError(`The OAuth metadata of the deployment ${problem}.`, 'metadata_failed', { status, cause })
}
