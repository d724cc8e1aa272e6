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
import { fetchText } from '../platform/fetch-text.ts'

/**
 * Asks a deployment for its token and login addresses.
 *
 * @throws {AuthError} `metadata_failed`
 */
export async function fetchOAuthMetadata(
  environment: Pick<Environment, 'fetch' | 'clock'>,
  apiDomain: string,
  signal?: AbortSignal,
  path = paths.metadataOfDeployment(),
): Promise<OAuthMetadata> {
  const address = restBase(apiDomain) + path
  const answer = await fetchText(environment, address, { method: 'GET' }, signal).catch(cause => {
    throw metadataError(`cannot be had: ${cause instanceof Error ? cause.message : 'it failed'}`, undefined, cause)
  })
  if (!answer.ok) throw metadataError(`cannot be had: status ${answer.status}`, answer.status)
  let body: unknown
  try {
    body = JSON.parse(answer.text)
  } catch (cause) {
    throw metadataError('cannot be read: it is no JSON', answer.status, cause)
  }
  try {
    return parseOAuthMetadata(body)
  } catch (cause) {
    throw metadataError(`cannot be read: ${(cause as ProtocolError).message}`, answer.status)
  }
}

/** What the anonymous token request needs of the metadata. */
export interface AnonymousTokenPlan {
  tokenUrl: string
  /** Goes before each scope. */
  scopePrefix: string
}

/**
 * Where the anonymous token is had.
 *
 * @throws {AuthError} `metadata_failed`, naming the member that is missing
 */
export function planAnonymousToken(metadata: OAuthMetadata, tenantId: string | null | undefined): AnonymousTokenPlan {
  const details = metadata.authenticationDetails
  if (!details) throw metadataError('has no authenticationDetails')
  const url = details.oAuthAnonymousCustomer?.[0]?.accessTokenURL
  if (!url) {
    throw metadataError(
      'has no authenticationDetails.oAuthAnonymousCustomer[0].accessTokenURL: anonymous access is off',
    )
  }
  if (url.includes(TENANT_PLACEHOLDER) && !tenantId) {
    throw metadataError('names a token address per tenant, but the deployment info has no tenantId')
  }
  return {
    tokenUrl: url.replaceAll(TENANT_PLACEHOLDER, () => tenantId ?? ''),
    scopePrefix: details.apiPermissionPrefix ?? '',
  }
}

export function metadataError(problem: string, status?: number, cause?: unknown): AuthError {
  return new AuthError(`The OAuth metadata of the deployment ${problem}.`, 'metadata_failed', { status, cause })
}
