import type { AgentDetails, DeploymentInfo } from '@aiagent/client'
import { type OAuthMetadata, paths } from '@aiagent/protocol'
import { scopesOf } from '../auth/agent-scopes.ts'
import { CommandFailure } from '../failure.ts'

/** Where a person signs in for an agent, and what for. */
export interface LoginPlan {
  clientId: string
  /** Address under which the provider's OpenID configuration stands. */
  authority: string
  /** What the provider calls itself where its configuration cannot be had. */
  issuer: string
  authorizationEndpoint: string
  tokenEndpoint: string
  scopes: readonly string[]
}

export interface LoginFacts {
  deployment: DeploymentInfo
  agent: Pick<AgentDetails, 'userType' | 'clientAppId' | 'extraScopes'>
  metadata: OAuthMetadata
  /** The user's choice of a client id. */
  clientId?: string | undefined
}

/** Scopes of the identity protocol: an id token, and a refresh token. */
const IDENTITY_SCOPES = ['openid', 'profile', 'offline_access']

type UserType = 'agent' | 'customer'

/**
 * Path of the metadata that hold for an agent's login: the tenant's where the deployment has a client of its own for such
 * people.
 *
 * @throws {CommandFailure} when the agent does not say who signs in
 */
export function loginMetadataPath(agent: LoginFacts['agent'], { tenantId, ...clients }: DeploymentInfo): string {
  const ownClient = userTypeOf(agent) === 'agent' ? clients.intClientId : clients.extClientId
  return ownClient && tenantId ? paths.metadataOfTenant(tenantId) : paths.metadataOfDeployment()
}

/**
 * Makes the login of an agent of what its deployment tells.
 *
 * @throws {CommandFailure} naming what is missing
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
  if (!client) throw new CommandFailure('The deployment names no client id for a login. Give one with --client-id.')
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
  throw new CommandFailure(
    'The agent wants a signed-in person but does not say which kind. Its settings are incomplete.',
  )
}

function webAddress(text: string | null | undefined, what: string): URL {
  if (!text || !URL.canParse(text)) throw incomplete(`the address of the ${what}`)
  const address = new URL(text)
  // On this machine nobody listens in. Anywhere else a login over plain http would give away who signs in.
  if (address.protocol === 'https:' || (address.protocol === 'http:' && isLoopback(address))) return address
  throw new CommandFailure(
    `The ${what} of the deployment, ${address.host}, is not reached by https. Nobody was asked to sign in.`,
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
  return new CommandFailure(
    `The deployment offers no login for this agent: ${what} is missing from its OAuth metadata.`,
  )
}
