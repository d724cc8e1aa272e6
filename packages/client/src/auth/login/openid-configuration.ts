import { AuthError } from '../../errors.ts'
import type { Environment } from '../../platform/environment.ts'
import { FetchFailure, fetchPatiently, type Patience, TOKEN_WAIT_MS } from '../../platform/http.ts'
import { withTimeLimit } from '../../util/abort.ts'
import { isLoopbackHost, isWebAddress } from '../../util/address.ts'
import { objectIn } from '../../util/values.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'

/** The part of a provider's OpenID configuration that the library uses. */
export interface OpenIdConfiguration {
  readonly authorization_endpoint?: string
  readonly token_endpoint?: string
  readonly end_session_endpoint?: string
  readonly issuer?: string
  readonly jwks_uri?: string
  readonly authorization_response_iss_parameter_supported?: boolean
}

/** A configuration with its origin. */
export interface KnownConfiguration extends OpenIdConfiguration {
  /** Whether the provider itself published it. The issuer of a supplied configuration may be only constructed. */
  readonly isPublished: boolean
}

const WELL_KNOWN = '/.well-known/openid-configuration'
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'end_session_endpoint'] as const

/** How long a logout waits for the provider's configuration before it uses the usual address, in milliseconds. */
const LOGOUT_LIMIT_MS = 10_000

/** Where a provider publishes its configuration, and how it is fetched. */
export interface ProviderAddress {
  readonly environment: Environment
  /** Base address of the provider. */
  readonly authority: string
  readonly config: Pick<PKCEAuthConfig, 'knownAuthorities'>
  readonly onRateLimited?: Patience['onRateLimited']
}

/**
 * Fetches the provider's configuration: from the `v2.0` path of the authority, where deployments publish theirs,
 * otherwise from the authority itself, where most others do. Waits where the provider limits the rate of requests.
 *
 * @param limitMs time limit of all requests and waits
 * @throws {AuthError} `metadata_failed` when there is none, or when it names an endpoint that `knownAuthorities` does
 *   not allow, or one over plain http
 */
export async function fetchOpenIdConfiguration(
  { environment, authority, config, onRateLimited }: ProviderAddress,
  signal?: AbortSignal,
  limitMs = TOKEN_WAIT_MS,
): Promise<KnownConfiguration> {
  const endsAt = environment.clock.monotonic() + limitMs
  let status: number | undefined
  let cause: unknown
  const bases = authority.endsWith('/v2.0') ? [authority] : [`${authority}/v2.0`, authority]
  for (const base of bases) {
    const leftMs = endsAt - environment.clock.monotonic()
    if (leftMs <= 0) break
    const patience = { name: 'getOpenIdConfiguration', signal, limitMs: leftMs, onRateLimited }
    const answer = await fetchPatiently(environment, base + WELL_KNOWN, { method: 'GET' }, patience).catch(
      (error: unknown) => void (cause = error),
    )
    if (answer) status = Math.max(status ?? 0, answer.status)
    const configuration = answer?.ok ? parseOpenIdConfiguration(answer.text) : undefined
    if (!configuration) continue
    requireEndpoints(configuration, config, 'the OpenID configuration', 'metadata_failed')
    if (configuration.issuer !== undefined) requireOwnIssuer(configuration.issuer, authority, config)
    return { ...configuration, isPublished: true }
  }
  const why = cause instanceof FetchFailure && status === undefined ? `: ${cause.message}` : ''
  throw new AuthError(
    `Could not load the OpenID configuration of the identity provider ${new URL(authority).origin}${why}.`,
    'metadata_failed',
    { status, cause },
  )
}

/** The published end-session endpoint, if it can be loaded in time. */
export async function fetchEndSessionEndpoint(provider: ProviderAddress): Promise<string | undefined> {
  const { clock } = provider.environment
  const load = (signal: AbortSignal) => fetchOpenIdConfiguration(provider, signal)
  const found = await withTimeLimit(clock, LOGOUT_LIMIT_MS, undefined, load).catch(() => undefined)
  return found?.end_session_endpoint
}

/**
 * Rejects the issuer of another provider: the users of a login are identified by it.
 *
 * @throws {AuthError} `metadata_failed`
 */
function requireOwnIssuer(issuer: string, authority: string, config: Pick<PKCEAuthConfig, 'knownAuthorities'>): void {
  const what = 'The issuer of the OpenID configuration'
  if (!isWebAddress(issuer)) throw new AuthError(`${what} is not an http(s) address.`, 'metadata_failed')
  const { host, origin } = new URL(issuer)
  if (origin === new URL(authority).origin) return
  requireProviderAddress(issuer, config, what, 'metadata_failed')
  if (config.knownAuthorities?.length) return
  throw new AuthError(
    `${what} is on ${host}, unlike auth.config.authorizationUrl. If both are one provider, name all of its hosts in auth.config.knownAuthorities.`,
    'metadata_failed',
  )
}

/**
 * The configuration that the host or the deployment supplies, if it suffices for a login.
 *
 * @throws {AuthError} `invalid_input` for an endpoint over plain http to another machine
 */
export function givenConfiguration({ authorityMetadata }: PKCEAuthConfig): KnownConfiguration | undefined {
  const given = authorityMetadata === undefined ? undefined : parseOpenIdConfiguration(authorityMetadata)
  if (!given) return undefined
  // `knownAuthorities` does not apply: the host or the deployment chose these endpoints.
  requireEndpoints(given, { knownAuthorities: [] }, 'auth.config.authorityMetadata', 'invalid_input')
  return { ...given, isPublished: false }
}

function requireEndpoints(
  configuration: OpenIdConfiguration,
  config: Pick<PKCEAuthConfig, 'knownAuthorities'>,
  source: string,
  reason: 'invalid_input' | 'metadata_failed',
): void {
  for (const name of ENDPOINTS) {
    const endpoint = configuration[name]
    if (endpoint !== undefined) requireProviderAddress(endpoint, config, `The ${name} of ${source}`, reason)
  }
}

/**
 * The configuration in a text; undefined for anything else. Endpoints that are not http(s) addresses count as absent.
 */
function parseOpenIdConfiguration(text: string): OpenIdConfiguration | undefined {
  const value = objectIn(text)
  if (!value) return undefined
  return Object.fromEntries(
    Object.entries(value).filter(([name, each]) => {
      return (
        typeof each === 'boolean' || (typeof each === 'string' && (!name.endsWith('_endpoint') || isWebAddress(each)))
      )
    }),
  )
}

/**
 * Rejects an address that a login must not use: one outside the hosts of `knownAuthorities` (if there are any), or one
 * with plain http to another machine.
 *
 * @throws {AuthError} with the given reason
 */
export function requireProviderAddress(
  address: string,
  config: Pick<PKCEAuthConfig, 'knownAuthorities'>,
  what: string,
  reason: 'invalid_input' | 'metadata_failed',
): void {
  const url = new URL(address)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname)))
    throw new AuthError(`${what} does not use https: ${url.origin}.`, reason)
  const known = (config.knownAuthorities ?? []).map(each => (isWebAddress(each) ? new URL(each).host : each))
  if (known.length > 0 && !known.includes(url.host) && !known.includes(url.hostname))
    throw new AuthError(`${what} is on ${url.host}, which is not in auth.config.knownAuthorities.`, reason)
}
