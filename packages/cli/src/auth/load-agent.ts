import { type AgentDetails, ApiHelper, AuthenticationService, type DeploymentInfo, type Logger } from '@aiagent/client'
import { resolveScopes } from '@aiagent/client/pkce'

export interface LoadAgentOptions {
  endpoint: string
  /** Without it, only the deployment info is loaded. */
  agentId?: string
  /** Scopes to request. Default: the scopes that the agent needs. */
  scopes?: readonly string[]
  logger: Logger
  signal: AbortSignal
}

/** The public facts of a deployment. */
export interface LoadedAgent {
  deployment: DeploymentInfo
  agent?: AgentDetails
  /** An anonymous token with the requested scopes. */
  token: string
}

/**
 * Loads the public facts of a deployment: obtains an anonymous token, then loads the agent details.
 *
 * @throws {SDKError} when one of the calls fails
 */
export async function loadAgent({ endpoint, agentId, scopes, logger, signal }: LoadAgentOptions): Promise<LoadedAgent> {
  const deployment = await ApiHelper.getDeploymentInfo(endpoint, undefined, { signal })
  const authentication = new AuthenticationService({ type: 'anonymous' }, { logger })
  try {
    await authentication.initialize({ deploymentInfo: deployment, endpoint, scopes })
    if (agentId === undefined) return { deployment, token: await authentication.getToken() }
    const getToken = () => authentication.getToken()
    const api = new ApiHelper({ apiDomain: deployment.apiDomain, endpoint, getToken, logger })
    const agent = await api.getAgentDetails({ agentId, signal })
    await authentication.updateScopes(scopes ?? resolveScopes({ agent }))
    return { deployment, agent, token: await authentication.getToken() }
  } finally {
    await authentication.cleanup()
  }
}
