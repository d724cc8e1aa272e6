import type { AgentDetails, DeploymentInfo } from '@aiagent/client'
import { type OAuthMetadata, paths } from '@aiagent/protocol'
import { scopesOf } from '../auth/agent-scopes.ts'
import { CommandFailure } from '../failure.ts'

/** The login of an agent: addresses, client and scopes. */
export interface LoginPlan {
  clientId: string
  /** Address of the provider; its OpenID configuration is below it. */
  authority: string
  /** The issuer, if the provider has no configuration. */
  issuer: string
  authorizationEndpoint: string
  tokenEndpoint: string
  scopes: readonly string[]
}

export interface LoginFacts {
  deployment: DeploymentInfo
  agent: Pick<AgentDetails, 'userType' | 'clientAppId' | 'extraScopes'>
  metadata: OAuthMetadata
  /** The client id from the command line. */
  clientId?: string | undefined
}

/** Scopes for an id token and a refresh token. */
const IDENTITY_SCOPES = ['openid', 'profile', 'offline_access']

type UserType = 'agent' | 'customer'

/**
 * Path of the OAuth metadata for an agent's login: those of the tenant, if the deployment has a client for such users.
 *
 * @throws {CommandFailure} when the agent has no user type
 */
export function loginMetadataPath(agent: LoginFacts['agent'], { tenantId, ...clients }: DeploymentInfo): string {
  const ownClient = userTypeOf(agent) === 'agent' ? clients.intClientId : clients.extClientId
  return ownClient && tenantId ? paths.metadataOfTenant(tenantId) : paths.metadataOfDeployment()
}

/**
 * Builds the login of an agent from the facts of its deployment.
 *
 * @throws {CommandFailure} when a fact is missing; the message names it
 */
export function planLogin({ deployment, agent, metadata, clientId }: LoginFacts): LoginPlan {
  const isStaff = userTypeOf(agent) === 'agent'
  const { oAuthUser, oAuthCustomer } = metadata.authenticationDetails ?? {}
  const endpoints = (isStaff ? oAuthUser : oAuthCustomer)?.[0]
  const authorization = webAddress(endpoints?.authURL, 'login page')
  const token = webAddress(endpoints?.accessTokenURL, 'token endpoint')
  const policy = isStaff ? metadata.idpPolicies?.userSigninPolicy : metadata.idpPolicies?.customerSigninPolicy
  const gateway = authorization.pathname.split('/')[1]
  if (!policy || !gateway) throw incomplete('the policy of the login')
  const client = [
    clientId,
    agent.clientAppId,
    isStaff ? deployment.intClientId : deployment.extClientId,
    deployment.clientId,
  ].find(id => id?.trim())
  if (!client) throw new CommandFailure('The deployment has no client id for a login. Pass one with --client-id.')
  const core = metadata.apiMetadata?.CORE
  const prefix = (isStaff ? core?.iApiPermissionPrefix : core?.eApiPermissionPrefix) || core?.apiPermissionPrefix || ''
  return {
    clientId: client.trim(),
    authority: `${authorization.origin}/${gateway}/${policy}`,
    issuer: `${authorization.origin}/tfp/${gateway}/${policy}/v2.0/`,
    authorizationEndpoint: authorization.origin + authorization.pathname,
    tokenEndpoint: token.href,
    scopes: [...IDENTITY_SCOPES, ...scopesOf(agent).map(scope => withPrefix(scope, prefix))],
  }
}

function userTypeOf({ userType }: LoginFacts['agent']): UserType {
  if (userType === 'agent' || userType === 'customer') return userType
  throw new CommandFailure('The agent requires a signed-in user, but has no user type. Its settings are incomplete.')
}

function webAddress(text: string | null | undefined, what: string): URL {
  if (!text || !URL.canParse(text)) throw incomplete(`the address of the ${what}`)
  const address = new URL(text)
  // Plain http is safe on this machine only.
  if (address.protocol === 'https:' || (address.protocol === 'http:' && isLoopback(address))) return address
  throw new CommandFailure(
    `The ${what} of the deployment, ${address.host}, does not use https. The login was not started.`,
  )
}

export function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

function withPrefix(scope: string, prefix: string): string {
  const isComplete = IDENTITY_SCOPES.includes(scope) || scope.includes('://') || scope.startsWith(prefix)
  return isComplete ? scope : prefix + scope
}

function incomplete(what: string): CommandFailure {
  return new CommandFailure(`The deployment has no login for this agent: ${what} is missing in its OAuth metadata.`)
}
