import type { AgentDetails, DeploymentInfo } from '@aiagent/protocol'
import { ApiHelper } from '../api/api-helper.ts'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import { AuthError, SDKError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { CacheConfig } from '../platform/cache-adapter.ts'
import type { Environment } from '../platform/environment.ts'
import type { StartupFacts } from './startup-facts.ts'

export interface PreparationOptions {
  endpoint: string
  agentId: string
  cache: CacheConfig
  authentication: AuthenticationService
  environment: Environment
  logger: Logger
}

/** A deployment that answered, and the helper for its calls. */
export type Deployment = Pick<StartupFacts, 'deployment' | 'api'>

/** Asks the endpoint where everything is. Needs no token. */
export async function findDeployment(options: PreparationOptions, signal: AbortSignal): Promise<Deployment> {
  const { endpoint, cache, authentication, environment, logger } = options
  const deployment: DeploymentInfo = await ApiHelper.getDeploymentInfo(endpoint, cache, { environment, signal })
  const api = new ApiHelper(
    {
      apiDomain: deployment.apiDomain,
      cache,
      getToken: () => authenticated(authentication.getToken()),
      refreshToken: () => authenticated(authentication.refresh()),
      logger,
    },
    environment,
  )
  return { deployment: Object.freeze(deployment), api }
}

/** Learns what the agent is: a token first, then its details, whose language holds from then on. */
export async function meetAgent(
  { deployment, api }: Deployment,
  { agentId, authentication }: PreparationOptions,
  signal: AbortSignal,
): Promise<AgentDetails> {
  await authenticated(authentication.initialize({ deploymentInfo: deployment }))
  const agent = await api.getAgentDetails({ agentId, signal })
  api.setLanguage(agent.languageCode)
  return agent
}

/**
 * Signs in for an agent that wants to know who talks to it.
 *
 * @throws {AuthError} reason `interaction_required` where only the anonymous token is at hand
 */
export async function signIn(agent: AgentDetails, authentication: AuthenticationService): Promise<void> {
  if (!agent.isAuthenticated) return
  if (authentication.isAnonymousStrategy())
    throw new AuthError(
      "This agent wants a signed-in user. Pass `auth: { type: 'pre-auth', accessToken }`, or an object with getToken().",
      'interaction_required',
    )
  await authenticated(authentication.authenticate())
}

/** The host's own token function or strategy may throw anything: it becomes an error of this library. */
function authenticated<T>(work: Promise<T>): Promise<T> {
  return work.catch(cause => {
    if (cause instanceof SDKError) throw cause
    throw new AuthError('No access token could be had: `auth` failed.', 'token_request_failed', { cause })
  })
}
