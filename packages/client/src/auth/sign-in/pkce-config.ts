import { type AgentAuthDetails, type DeploymentInfo, type OAuthMetadata, paths } from '@aiagent/protocol'
import { AuthError } from '../../errors.ts'
import type { AuthScheme, PKCEAuthConfig } from '../auth-strategy.ts'
import { metadataError } from '../oauth-metadata.ts'
import { PROTOCOL_SCOPES, prefixScopes } from '../scopes.ts'

/** Everything that the login of an agent without a configured `auth` is made of. */
export interface PkceConfigFacts {
  deployment: DeploymentInfo
  agent: AgentAuthDetails
  metadata: OAuthMetadata
  initParams: Readonly<Record<string, string>>
  /** As resolved, without prefix. */
  scopes: readonly string[]
  authScheme: AuthScheme
  /** Address of the page; outside a browser the endpoint. */
  nextRoute: string
}

/** Where the deployment serves the page that a login returns to. */
const REDIRECT_PATH = '/system/templates/selfservice/auth-redirect.html'

type LoginUser = 'agent' | 'customer'

/**
 * Who signs in for an agent.
 *
 * @throws {AuthError} `not_supported` when its details name neither kind
 */
export function loginUser({ userType }: Pick<AgentAuthDetails, 'userType'>): LoginUser {
  if (userType === 'agent' || userType === 'customer') return userType
  throw new AuthError(
    "The agent wants a signed-in user but does not say which kind: its userType is neither 'agent' nor 'customer'.",
    'not_supported',
  )
}

/** Which metadata hold for a login: the tenant's where the deployment has a client of its own for such users. */
export function metadataPath(user: LoginUser, deployment: DeploymentInfo): string {
  const ownClient = user === 'agent' ? deployment.intClientId : deployment.extClientId
  return ownClient && deployment.tenantId ? paths.metadataOfTenant(deployment.tenantId) : paths.metadataOfDeployment()
}

/** The client id of a login: the host's, the agent's, the deployment's for such users, the deployment's for all. */
export function resolveClientId({
  initParams,
  agent,
  deployment,
}: Pick<PkceConfigFacts, 'initParams' | 'agent' | 'deployment'>): string | undefined {
  const { vendorclientid, vendorclientId, vendorClientId } = initParams
  const candidates = [
    vendorclientid,
    vendorclientId,
    vendorClientId,
    agent.clientAppId,
    agent.userType === 'agent' ? deployment.intClientId : deployment.extClientId,
    deployment.clientId,
  ]
  return candidates.map(id => id?.trim()).find(Boolean)
}

/**
 * The login of an agent, made of what the deployment tells.
 *
 * @throws {AuthError} `metadata_failed`, naming what is missing; `not_supported` for an unknown kind of user
 */
export function buildPkceConfig(facts: PkceConfigFacts): PKCEAuthConfig & { scopes: readonly string[] } {
  const { deployment, agent, metadata, initParams, scopes, authScheme, nextRoute } = facts
  const user = loginUser(agent)
  const name = user === 'agent' ? 'oAuthUser' : 'oAuthCustomer'
  const { authURL, accessTokenURL } = metadata.authenticationDetails?.[name]?.[0] ?? {}
  const authUrl = address(authURL, `authenticationDetails.${name}[0].authURL`)
  const tokenUrl = address(accessTokenURL, `authenticationDetails.${name}[0].accessTokenURL`)
  const policyName = user === 'agent' ? 'userSigninPolicy' : 'customerSigninPolicy'
  const policy = metadata.idpPolicies?.[policyName]
  if (!policy) throw metadataError(`has no idpPolicies.${policyName}`)
  const gateway = authUrl.pathname.split('/')[1]
  if (!gateway) throw metadataError(`names an authURL without a path, in authenticationDetails.${name}[0]`)
  const clientId = resolveClientId(facts)
  if (!clientId) {
    throw new AuthError(
      'No client id is known for the login: the deployment names none. Set initParams.vendorclientid.',
      'metadata_failed',
    )
  }
  if (!deployment.domainHint) {
    throw new AuthError(
      'The deployment info has no domainHint, so the login has no page to return to. Pass auth with a redirectUri.',
      'metadata_failed',
    )
  }
  // Plain http is for a service on this machine; anywhere else a login goes over https, whatever the metadata say.
  const origin = isLoopback(authUrl) ? authUrl.origin : `https://${authUrl.host}`
  const authority = `${origin}/${gateway}/${policy}`
  return {
    clientId,
    redirectUri: redirectBase(deployment.domainHint) + REDIRECT_PATH,
    knownAuthorities: [authUrl.host],
    authorizationUrl: authority,
    authorityMetadata: JSON.stringify({
      authorization_endpoint: authUrl.origin + authUrl.pathname,
      token_endpoint: tokenUrl.href,
      issuer: `${origin}/tfp/${gateway}/${policy}/v2.0/`,
      jwks_uri: `${authority}/discovery/v2.0/keys`,
    }),
    scopes: [...PROTOCOL_SCOPES, ...prefixScopes(scopes, permissionPrefix(user, metadata))],
    authScheme,
    cacheLocation: 'sessionStorage',
    nextRoute,
    localLogin: initParams['localLogin'] === 'true',
  }
}

function permissionPrefix(user: LoginUser, metadata: OAuthMetadata): string {
  const core = metadata.apiMetadata?.CORE
  const own = user === 'agent' ? core?.iApiPermissionPrefix : core?.eApiPermissionPrefix
  return own || core?.apiPermissionPrefix || ''
}

function address(text: string | null | undefined, where: string): URL {
  if (text && URL.canParse(text)) return new URL(text)
  throw metadataError(`has no usable ${where}`)
}

function redirectBase(domainHint: string): string {
  return (/^https?:\/\//.test(domainHint) ? domainHint : `https://${domainHint}`).replace(/\/+$/, '')
}

function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
