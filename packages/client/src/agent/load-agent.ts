import type { AgentDetails, DeploymentInfo } from '@aiagent/protocol'
import type { LanguageChoice } from '../api/language-choice.ts'
import { RestApi } from '../api/rest-api.ts'
import type { StartupFacts } from '../api/startup-facts.ts'
import type { AuthScheme } from '../auth/auth-strategy.ts'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import { parseScopes, resolveScopes } from '../auth/scopes.ts'
import { ApiError, AuthError, SDKError } from '../errors.ts'
import { readInitParams } from '../init-params.ts'
import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type { CacheConfig } from '../storage/cache-adapter.ts'

export { loadMasker } from './load-masking.ts'

export interface PreparationOptions {
  endpoint: string
  agentId: string
  cache: CacheConfig
  authentication: AuthenticationService
  language: LanguageChoice
  /** Scopes of a login that the host configured. */
  loginScopes: readonly string[] | undefined
  /** How a person signs in where the host configured no login. */
  authScheme: AuthScheme
  initParams: Readonly<Record<string, string>>
  environment: Environment
  logger: Logger
}

/** A deployment that answered, and the helper for its calls. */
export type Deployment = Pick<StartupFacts, 'deployment' | 'api'>

/** Asks the endpoint where everything is. Needs no token. */
export async function findDeployment(options: PreparationOptions, signal: AbortSignal): Promise<Deployment> {
  const { endpoint, cache, authentication, initParams, environment, logger } = options
  const deployment: DeploymentInfo = await RestApi.getDeploymentInfo(endpoint, cache, { environment, signal })
  const api = new RestApi(
    {
      apiDomain: deployment.apiDomain,
      cache,
      getToken: () => authenticated(authentication.getToken()),
      refreshToken: () => authenticated(authentication.refresh()),
      shortUrlTemplate: readInitParams(initParams).shortUrlTemplate,
      logger,
    },
    environment,
  )
  options.language.attach(api)
  return { deployment: Object.freeze(deployment), api }
}

/**
 * Learns what the agent is: a token first, then its details, whose language holds from then on. Nobody has to sign in for
 * that: where the host configured a login, an anonymous token does until somebody has.
 */
export async function meetAgent(
  { deployment, api }: Deployment,
  { agentId, authentication, initParams, language }: PreparationOptions,
  signal: AbortSignal,
): Promise<AgentDetails> {
  const known = { deploymentInfo: deployment, scopes: parseScopes(initParams['scopes']) }
  await authenticated(authentication.initialize(known))
  await authenticated(authentication.standInForLogin(known))
  const ask = () => api.getAgentDetails({ agentId, signal })
  const agent = await ask().catch(async error => {
    await renewRefusedToken(error, authentication)
    signal.throwIfAborted()
    return ask()
  })
  language.learn(agent.languageCode)
  return agent
}

/**
 * Replaces a token that the service refused. A stored one may have lost its worth long before its time is over, say when
 * the service changed its keys; nobody could start until then. A person who signed in is not asked to do so for this.
 *
 * @throws what the service said, where there is no other token
 */
async function renewRefusedToken(error: unknown, authentication: AuthenticationService): Promise<void> {
  const isRefused = error instanceof ApiError && error.status === 401
  if (!isRefused || authentication.isPKCEStrategy()) throw error
  await authentication.refresh().catch(() => {
    throw error
  })
}

/** What the tokens for an agent are asked for; `platformScopes` is what a connector made of the defaults. */
export function scopesFor(
  agent: AgentDetails,
  { loginScopes, initParams }: Pick<PreparationOptions, 'loginScopes' | 'initParams'>,
  platformScopes?: readonly string[],
): readonly string[] {
  return resolveScopes({ hostScopes: loginScopes, initParamsScopes: initParams['scopes'], platformScopes, agent })
}

/**
 * Makes sure of a token that is good for the agent. One that wants to know who talks to it gets a person's: by the login
 * of the host's, else by the deployment's own, unless an earlier page has left a session.
 *
 * @returns the token, as the active strategy has it then
 * @throws {AuthError} reason `interaction_required` where only the anonymous token is at hand, and no page to sign in on
 */
export async function signIn(
  agent: AgentDetails,
  deployment: DeploymentInfo,
  scopes: readonly string[],
  options: PreparationOptions,
  signal: AbortSignal,
): Promise<string> {
  const { authentication } = options
  await authenticated(Promise.resolve(authentication.updateScopes(scopes)))
  if (agent.isAuthenticated) {
    if (authentication.isAnonymousStrategy()) await useDeploymentLogin(agent, deployment, scopes, options, signal)
    const isRestored = authentication.isPKCEStrategy() && authentication.hasSession()
    if (!isRestored) await authenticated(authentication.authenticate())
  }
  return authenticated(authentication.getToken())
}

/** Exchanges the anonymous strategy for a login at the deployment's identity provider. */
async function useDeploymentLogin(
  agent: AgentDetails,
  deployment: DeploymentInfo,
  scopes: readonly string[],
  { authentication, environment, initParams, authScheme }: PreparationOptions,
  signal: AbortSignal,
): Promise<void> {
  const { page } = environment
  if (!page)
    throw new AuthError(
      "This agent wants a signed-in user. Pass `auth: { type: 'pre-auth', accessToken }`, or an object with getToken().",
      'interaction_required',
    )
  const { loadPkceConfig } = await import('../auth/sign-in/load-pkce-config.ts')
  const nextRoute = page.window?.location.href ?? ''
  const facts = { deployment, agent, initParams, scopes, authScheme, nextRoute }
  const config = await loadPkceConfig(environment, facts, signal)
  await authentication.switchStrategyTo(config)
  await authentication.initialize({ deploymentInfo: deployment })
}

/** The host's own token function or strategy may throw anything: it becomes an error of this library. */
function authenticated<T>(work: Promise<T>): Promise<T> {
  return work.catch(cause => {
    if (cause instanceof SDKError) throw cause
    throw new AuthError('No access token could be had: `auth` failed.', 'token_request_failed', { cause })
  })
}
