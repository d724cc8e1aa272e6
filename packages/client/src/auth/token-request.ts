import {
  ANONYMOUS_CLIENT,
  type OAuthMetadata,
  parseOAuthMetadata,
  paths,
  restBase,
  TENANT_PLACEHOLDER,
} from '@aiagent/protocol'
import { AuthError } from '../errors.ts'
import type { Environment } from '../platform/environment.ts'
import {
  describeUnreadable,
  FetchFailure,
  fetchPatiently,
  type RateLimitCallback,
  TOKEN_WAIT_MS,
} from '../platform/http.ts'
import { isLoopbackHost, isOnThisMachine } from '../util/address.ts'
import { tokenIn } from '../util/jwt.ts'
import { objectIn } from '../util/values.ts'
import type { AuthStrategyInitializeOptions, ClientCredentialsAuthConfig } from './auth-strategy.ts'

/*
 * Tokens by client id and secret: the deployment's metadata, which names the endpoint of anonymous tokens, and the grant.
 */

type Network = Pick<Environment, 'fetch' | 'clock'>

/** The deployment that a token is for. */
type TokenDeployment = Pick<AuthStrategyInitializeOptions, 'deploymentInfo' | 'endpoint' | 'onRateLimited'>

/**
 * Fetches the deployment's token and login addresses. Waits where the service limits the rate of calls.
 *
 * @throws {AuthError} `metadata_failed`
 */
export async function fetchOAuthMetadata(
  environment: Network,
  apiDomain: string,
  signal?: AbortSignal,
  path = paths.metadataOfDeployment(),
  onRateLimited?: RateLimitCallback,
): Promise<OAuthMetadata> {
  const address = restBase(apiDomain) + path
  const patience = { name: 'getOAuthMetadata', signal, limitMs: TOKEN_WAIT_MS, onRateLimited }
  const answer = await fetchPatiently(environment, address, { method: 'GET' }, patience).catch(cause => {
    const problem = cause instanceof Error ? cause.message : 'the request failed'
    throw metadataError(`could not be loaded: ${problem}`, undefined, cause)
  })
  const { ok, status, text, retryAfterMs } = answer
  if (!ok) throw metadataError(`could not be loaded: status ${status}`, status, undefined, retryAfterMs)
  try {
    return parseOAuthMetadata(JSON.parse(text))
  } catch (cause) {
    const problem = cause instanceof SyntaxError ? describeUnreadable(text) : (cause as Error).message
    throw metadataError(`is not valid: ${problem.replace(/\.$/, '')}`, status)
  }
}

/** The part of the metadata that the anonymous token request uses. */
export interface AnonymousTokenPlan {
  readonly tokenUrl: string
  /** Prefix of each scope. */
  readonly scopePrefix: string
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
  if (!url)
    throw metadataError(
      'has no authenticationDetails.oAuthAnonymousCustomer[0].accessTokenURL: anonymous access is disabled',
    )
  if (url.includes(TENANT_PLACEHOLDER) && !tenantId)
    throw metadataError('has a token address per tenant, but the deployment info has no tenantId')
  return {
    tokenUrl: url.replaceAll(TENANT_PLACEHOLDER, () => tenantId ?? ''),
    scopePrefix: details.apiPermissionPrefix ?? '',
  }
}

export function metadataError(problem: string, status?: number, cause?: unknown, retryAfterMs?: number): AuthError {
  const message = `The OAuth metadata of the deployment ${problem}.`
  return new AuthError(message, 'metadata_failed', { status, cause, retryAfterMs })
}

/**
 * Checks the credentials of a program.
 *
 * @throws {AuthError} `invalid_input` when address, id or secret is missing; `not_supported` in a browser, unless
 *   `allowInBrowser` permits that everyone can read the secret
 */
export function requireCredentials(config: ClientCredentialsAuthConfig, { page }: Pick<Environment, 'page'>): void {
  for (const field of ['tokenUrl', 'clientId', 'clientSecret'] as const) {
    if (typeof config?.[field] !== 'string' || !config[field].trim())
      throw new AuthError(`auth.config.${field} is missing. Client credentials need it.`, 'invalid_input')
  }
  if (page && !config.allowInBrowser)
    throw new AuthError(
      'Client credentials are not for browsers: everyone could read the secret. Use another auth, or set allowInBrowser.',
      'not_supported',
    )
}

/** What a token endpoint has issued. */
export interface GrantedToken {
  readonly accessToken: string
  /** Lifetime in seconds, from the endpoint. */
  readonly expiresIn: number | undefined
}

/** One client-credentials grant. */
export interface TokenRequest {
  readonly tokenUrl: string
  /** In the form of the endpoint. An empty list sends none. */
  readonly scopes: readonly string[]
  /** The client of the host. @default the placeholder of anonymous tokens, whose endpoint the deployment names */
  readonly client?: { readonly id: string; readonly secret: string }
}

/**
 * Requests a token by client id and secret: one form, one answer, no library.
 *
 * @param limitMs time limit of all requests and waits
 * @throws {AuthError} `token_request_failed`, with the status if there was an answer. The only other detail is the
 *   OAuth error code, since the rest of an answer may contain a token.
 */
export async function requestToken(
  environment: Network,
  { tokenUrl, scopes, client }: TokenRequest,
  given: TokenDeployment | undefined,
  signal?: AbortSignal,
  limitMs = TOKEN_WAIT_MS,
): Promise<GrantedToken> {
  const address = URL.canParse(tokenUrl) ? new URL(tokenUrl) : undefined
  if (!address || !/^https?:$/.test(address.protocol)) throw failed('the address of the token endpoint is invalid')
  if (address.protocol === 'http:' && !mayUseHttp(address.hostname, given, client === undefined))
    throw failed('the token endpoint does not use https')
  // The gateway in front of the anonymous token endpoint inserts the real credentials; it relies on this order.
  const { id, secret } = client ?? ANONYMOUS_CLIENT
  const form = new URLSearchParams({
    client_id: id,
    client_secret: secret,
    grant_type: 'client_credentials',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  })
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' }
  const init = { method: 'POST', headers, body: form.toString() }
  const patience = { name: 'getToken', signal, limitMs, isIdempotent: true, onRateLimited: given?.onRateLimited }
  const answer = await fetchPatiently(environment, tokenUrl, init, patience).catch((cause: unknown) => {
    const failure = cause instanceof FetchFailure ? cause : undefined
    throw failed(failure?.message ?? 'the address of the token endpoint is invalid', failure?.status, failure)
  })
  const body = objectIn(answer.text)
  if (!answer.ok) {
    const { error } = body ?? {}
    const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : ''
    throw failed(`the token endpoint answered ${answer.status}${code}`, answer.status, undefined, answer.retryAfterMs)
  }
  const { access_token, expires_in, token_type } = body ?? {}
  const accessToken = tokenIn(access_token)
  const isBearer = token_type === undefined || token_type === null || /^bearer$/i.test(String(token_type))
  if (!accessToken || !isBearer) {
    const problem = body ? 'the answer contains no token' : `the answer is ${describeUnreadable(answer.text)}`
    throw failed(problem, answer.status)
  }
  const expiresIn = Number(expires_in ?? Number.NaN)
  return { accessToken, expiresIn: Number.isFinite(expiresIn) ? expiresIn : undefined }
}

/**
 * Whether a token endpoint may use plain http. On another machine only for a deployment that the host itself addresses by http:
 * an API on this machine says nothing about that, since a deployment with https may have one, too. On this machine, unless
 * a deployment elsewhere named it.
 */
function mayUseHttp(hostname: string, given: TokenDeployment | undefined, isNamed: boolean): boolean {
  const { endpoint, deploymentInfo } = given ?? {}
  const base = restBase(endpoint ?? deploymentInfo?.apiDomain ?? '')
  const isLocal = isOnThisMachine(base)
  if (base.startsWith('http:') && (endpoint !== undefined || !isLocal)) return true
  return isLoopbackHost(hostname) && (!isNamed || endpoint === undefined || isLocal)
}

function failed(problem: string, status?: number, cause?: unknown, retryAfterMs?: number): AuthError {
  const message = `Could not obtain the access token: ${problem}.`
  return new AuthError(message, 'token_request_failed', { status, cause, retryAfterMs })
}
