import type { AgentAuthDetails, DeploymentInfo, OAuthMetadata } from '@aiagent/protocol'
import { AuthError } from '../../errors.ts'
import { readInitParams } from '../../init-params.ts'
import type { AuthScheme, PKCEAuthConfig } from '../auth-strategy.ts'
import { deploymentLogin } from './deployment-login.ts'

/** Inputs for the login of an agent without a configured `auth`. */
export interface PkceConfigFacts {
  deployment: DeploymentInfo
  agent: AgentAuthDetails
  metadata: OAuthMetadata
  initParams: Readonly<Record<string, string>>
  /** Resolved scopes, without prefix. */
  scopes: readonly string[]
  authScheme: AuthScheme
  /** Address of the page; outside a browser the endpoint. */
  nextRoute: string
}

/** Where the deployment serves the page that a login returns to. */
const REDIRECT_PATH = '/system/templates/selfservice/auth-redirect.html'

/**
 * The login of an agent, from its deployment.
 *
 * @throws {AuthError} `metadata_failed`, naming what is missing; `not_supported` for an unknown kind of user
 */
export function buildPkceConfig(facts: PkceConfigFacts): PKCEAuthConfig & { scopes: readonly string[] } {
  const { deployment, agent, metadata, initParams, scopes, authScheme, nextRoute } = facts
  const { clientId } = readInitParams(initParams)
  const login = deploymentLogin({ deployment, agent, metadata, scopes, clientId })
  if (!deployment.domainHint) {
    throw new AuthError(
      'The deployment info has no domainHint, so the redirect page of the login is unknown. Pass auth with a redirectUri.',
      'metadata_failed',
    )
  }
  return {
    clientId: login.clientId,
    redirectUri: redirectBase(deployment.domainHint) + REDIRECT_PATH,
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

function redirectBase(domainHint: string): string {
  return (/^https?:\/\//.test(domainHint) ? domainHint : `https://${domainHint}`).replace(/\/+$/, '')
}
