import { type AgentAuthDetails, type DeploymentInfo, type OAuthMetadata, paths, restBase } from '@aiagent/protocol'
import { AuthError } from '../../errors.ts'
import { readInitParams } from '../../init-params.ts'
import type { Environment } from '../../platform/environment.ts'
import type { RateLimitCallback } from '../../platform/http.ts'
import { KeyedStore, KINDS } from '../../storage/keyed-store.ts'
import { isLoopbackHost, isOnThisMachine, isWebAddress } from '../../util/address.ts'
import type { AuthScheme, PKCEAuthConfig } from '../auth-strategy.ts'
import { PROTOCOL_SCOPES, prefixScopes, resolveScopes } from '../scopes.ts'
import { fetchOAuthMetadata, metadataError } from '../token-request.ts'
import { constructedEndpoint, constructedIssuer } from './logout-plan.ts'

/** Where the deployment serves the page that a login returns to. */
const REDIRECT_PATH = '/system/templates/selfservice/auth-redirect.html'

/** Deployment and agent details that define a login. */
export interface DeploymentLoginFacts {
  /** The deployment info: tenant and client ids. */
  readonly deployment: DeploymentInfo
  /** The agent's kind of user, client id and scopes. */
  readonly agent: AgentAuthDetails
  /** The OAuth metadata of {@link deploymentLoginPath}. */
  readonly metadata: OAuthMetadata
  /** Client id that overrides those of the agent and the deployment. */
  readonly clientId?: string | undefined
  /** Resolved scopes, without prefix. @default the agent's own, see `resolveScopes` */
  readonly scopes?: readonly string[] | undefined
}

/** The login of a deployment: provider, client and scopes. */
export interface DeploymentLogin {
  /** Client id of the first source that has one: configuration, agent, deployment. */
  readonly clientId: string
  /** Address below which the provider publishes its OpenID configuration. */
  readonly authority: string
  /** Host of the provider. */
  readonly host: string
  /** Constructed; the provider may use another issuer. */
  readonly issuer: string
  /** Address of the login page, without its query. */
  readonly authorizationEndpoint: string
  /** Address that exchanges codes and refresh tokens for tokens. */
  readonly tokenEndpoint: string
  /** The usual address; the provider's own configuration overrides it. */
  readonly endSessionEndpoint: string
  /** Address of the provider's public keys. Constructed; the provider's own configuration overrides it. */
  readonly jwksUri: string
  /** As sent: with the scopes of OpenID, and with the deployment's prefix. */
  readonly scopes: readonly string[]
}

/**
 * Path of the OAuth metadata for an agent's login. It is the tenant's path if the deployment has a separate client for
 * such users.
 *
 * @throws {AuthError} `not_supported` when the agent has no known kind of user
 */
export function deploymentLoginPath(agent: Pick<AgentAuthDetails, 'userType'>, deployment: DeploymentInfo): string {
  const ownClient = loginUser(agent) === 'agent' ? deployment.intClientId : deployment.extClientId
  return ownClient && deployment.tenantId ? paths.metadataOfTenant(deployment.tenantId) : paths.metadataOfDeployment()
}

/**
 * The login of an agent, from its deployment. Used by the library's own login and by the command.
 *
 * Every address uses https, regardless of the metadata, except on this machine for a deployment that is there too.
 *
 * @throws {AuthError} `metadata_failed`, naming what is missing or not allowed; `not_supported` for an unknown kind of user
 */
export function deploymentLogin(facts: DeploymentLoginFacts): DeploymentLogin {
  const { deployment, agent, metadata } = facts
  const user = loginUser(agent)
  const isStaff = user === 'agent'
  const name = isStaff ? 'oAuthUser' : 'oAuthCustomer'
  const { authURL, accessTokenURL } = metadata.authenticationDetails?.[name]?.[0] ?? {}
  const isLocal = isOnThisMachine(restBase(deployment.apiDomain))
  const authorization = secureAddress(authURL, `authenticationDetails.${name}[0].authURL`, isLocal)
  const token = secureAddress(accessTokenURL, `authenticationDetails.${name}[0].accessTokenURL`, isLocal)
  const policyName = isStaff ? 'userSigninPolicy' : 'customerSigninPolicy'
  const policy = metadata.idpPolicies?.[policyName]
  if (!policy) throw metadataError(`has no idpPolicies.${policyName}`)
  const gateway = authorization.pathname.split('/')[1]
  if (!gateway) throw metadataError(`names an authURL without a path, in authenticationDetails.${name}[0]`)
  const clientId = [
    facts.clientId,
    agent.clientAppId,
    isStaff ? deployment.intClientId : deployment.extClientId,
    deployment.clientId,
  ]
    .map(id => id?.trim())
    .find(Boolean)
  if (!clientId) {
    throw new AuthError(
      'The deployment defines no client id for the login. Set initParams.vendorclientid.',
      'metadata_failed',
    )
  }
  const { origin } = authorization
  const authority = `${origin}/${gateway}/${policy}`
  const scopes = facts.scopes ?? resolveScopes({ agent })
  return {
    clientId,
    authority,
    host: authorization.host,
    issuer: constructedIssuer(authority),
    authorizationEndpoint: origin + authorization.pathname,
    tokenEndpoint: token.href,
    endSessionEndpoint: constructedEndpoint(authority),
    jwksUri: `${authority}/discovery/v2.0/keys`,
    scopes: [...PROTOCOL_SCOPES, ...prefixScopes(scopes, permissionPrefix(isStaff, metadata))],
  }
}

/** The kind of user that an agent requires. */
export function loginUser({ userType }: Pick<AgentAuthDetails, 'userType'>): 'agent' | 'customer' {
  if (userType === 'agent' || userType === 'customer') return userType
  throw new AuthError(
    "The agent requires a signed-in user, but its userType is neither 'agent' nor 'customer'.",
    'not_supported',
  )
}

function permissionPrefix(isStaff: boolean, metadata: OAuthMetadata): string {
  const core = metadata.apiMetadata?.CORE
  const own = isStaff ? core?.iApiPermissionPrefix : core?.eApiPermissionPrefix
  return own || core?.apiPermissionPrefix || ''
}

/** @param isLocal whether the deployment is on this machine: another one must not name plain http there */
function secureAddress(text: string | null | undefined, where: string, isLocal: boolean): URL {
  if (!text || !URL.canParse(text) || !/^https?:/.test(text)) throw metadataError(`has no usable ${where}`)
  const address = new URL(text)
  if (!isLoopbackHost(address.hostname)) return new URL(address.href.replace(/^http:/, 'https:'))
  if (address.protocol === 'http:' && !isLocal)
    throw metadataError(`names plain http on this machine, which a deployment elsewhere must not, in ${where}`)
  return address
}

/** Inputs for the login of an agent without a configured `auth`. */
export interface PkceConfigFacts extends Omit<DeploymentLoginFacts, 'clientId'> {
  readonly initParams: Readonly<Record<string, string>>
  readonly authScheme: AuthScheme
  /** Address of the page; outside a browser the endpoint. */
  readonly nextRoute: string
}

/**
 * The login of an agent, from its deployment.
 *
 * @throws {AuthError} `metadata_failed`, naming what is missing; `not_supported` for an unknown kind of user
 */
export function buildPkceConfig(facts: PkceConfigFacts): PKCEAuthConfig & { scopes: readonly string[] } {
  const { initParams, authScheme, nextRoute } = facts
  const { domainHint } = facts.deployment
  const login = deploymentLogin({ ...facts, clientId: readInitParams(initParams).clientId })
  const base = domainHint ? restBase(domainHint) : ''
  if (!isWebAddress(base))
    throw new AuthError(
      'The deployment info has no usable domainHint, so the redirect page of the login is unknown. Pass auth with a redirectUri.',
      'metadata_failed',
    )
  return {
    clientId: login.clientId,
    redirectUri: base + REDIRECT_PATH,
    knownAuthorities: [login.host],
    authorizationUrl: login.authority,
    authorityMetadata: JSON.stringify({
      authorization_endpoint: login.authorizationEndpoint,
      token_endpoint: login.tokenEndpoint,
      issuer: login.issuer,
      jwks_uri: login.jwksUri,
      end_session_endpoint: login.endSessionEndpoint,
    }),
    scopes: login.scopes,
    authScheme,
    cacheLocation: 'sessionStorage',
    nextRoute,
    localLogin: initParams['localLogin'] === 'true',
  }
}

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
  const store = new KeyedStore<OAuthMetadata>(KINDS.loginMetadata, { environment })
  const read = (metadata: OAuthMetadata) => buildPkceConfig({ ...facts, metadata })
  const fetchFresh = async (flight: AbortSignal): Promise<OAuthMetadata> => {
    const metadata = await fetchOAuthMetadata(environment, deployment.apiDomain, flight, path, onRateLimited)
    // Metadata that does not suffice for a login is not cached, so that a corrected deployment works at once.
    read(metadata)
    return metadata
  }
  const { apiDomain, tenantId } = deployment
  const key = store.key({ userType: user, api: restBase(apiDomain), tenant: tenantId || 'deployment' })
  return read(await store.load(key, fetchFresh, signal))
}

/** Removes the metadata of a deployment that its logins were built from. */
export function removeLoginMetadata(environment: Environment, apiBase: string): void {
  void new KeyedStore(KINDS.loginMetadata, { environment }).remove({ api: apiBase })
}
