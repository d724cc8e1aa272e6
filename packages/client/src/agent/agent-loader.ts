import type { AgentDetails, DeploymentInfo } from '@aiagent/protocol'
import { loadDeploymentInfo } from '../api/api-caller.ts'
import { ApiHelper } from '../api/api-helper.ts'
import type { ApiHelperConfig } from '../api/api-options.ts'
import type { LanguageChoice } from '../api/language.ts'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import { parseScopes } from '../auth/scopes.ts'
import { ApiError, abortedError } from '../errors.ts'
import type { Deployment } from '../facts.ts'
import type { AgentScope } from '../scope.ts'
import { JoinedTask } from '../util/joined-task.ts'

const DEPLOYMENT_ABORTED = (signal: AbortSignal) => abortedError('getDeploymentInfo()', signal)
const DETAILS_ABORTED = (signal: AbortSignal) => abortedError('getAgentDetails()', signal)

type LoaderScope = AgentScope<'rateLimited'>

/** Loads the facts about deployment and agent, each once, also before `initialize()` (OPS-08). */
export class AgentLoader {
  readonly #scope: LoaderScope
  readonly #authentication: AuthenticationService
  readonly #language: LanguageChoice
  readonly #deployment = new JoinedTask<Deployment>(DEPLOYMENT_ABORTED)
  readonly #details = new JoinedTask<AgentDetails>(DETAILS_ABORTED)
  /**
   * With `tabs`: removes a user who signed out in another tab while this page was away, before a token is used. Returns what the
   * initialized strategy has still to forget.
   */
  forgetMissed: (() => Promise<(() => Promise<void>) | undefined>) | undefined

  constructor(scope: LoaderScope, authentication: AuthenticationService, language: LanguageChoice) {
    this.#scope = scope
    this.#authentication = authentication
    this.#language = language
  }

  /** Where the deployment's services are: from memory, cache or network. */
  async loadDeployment(signal?: AbortSignal): Promise<Deployment> {
    const { facts, config, environment } = this.#scope
    facts.deployment ??= await this.#deployment.join(async inner => {
      const options = { environment, signal: inner, onRateLimited: rateLimitReporter(this.#scope) }
      return this.#open(await loadDeploymentInfo(config.endpoint, config.cache, options))
    }, signal)
    return facts.deployment
  }

  /** The details of the configured agent: from memory, cache or network. */
  async loadAgentDetails(signal?: AbortSignal): Promise<AgentDetails> {
    const { facts } = this.#scope
    facts.agent ??= await this.#details.join(async inner => {
      const deployment = await this.loadDeployment(inner)
      // A sign-out meanwhile: a token that is requested now would be the next user's.
      inner.throwIfAborted()
      return Object.freeze(await this.#fetchAgent(deployment, inner))
    }, signal)
    return facts.agent
  }

  /** Rejects what is in flight with the given error. */
  abort(reason: unknown): void {
    this.#deployment.abort(reason)
    this.#details.abort(reason)
  }

  /** Creates the helper for the calls of a deployment. */
  #open(deployment: DeploymentInfo): Deployment {
    const { config, params, environment, logger } = this.#scope
    const authentication = this.#authentication
    const options: ApiHelperConfig = {
      apiDomain: deployment.apiDomain,
      cache: config.cache,
      endpoint: config.endpoint,
      shortUrlTemplate: params.shortUrlTemplate,
      logger,
      getToken: () => authentication.getToken(),
      refreshToken: () => authentication.refresh(),
      onRateLimited: rateLimitReporter(this.#scope),
    }
    const api = new ApiHelper(options, environment)
    this.#language.attach(code => api.setLanguage(code))
    return { deployment: Object.freeze(deployment), api }
  }

  /**
   * Fetches the agent's details, whose language holds from then on. No sign-in is needed: while a configured login has no
   * session, an anonymous token is used.
   */
  async #fetchAgent({ deployment, api }: Deployment, signal: AbortSignal): Promise<AgentDetails> {
    const { id, initParams, endpoint } = this.#scope.config
    const authentication = this.#authentication
    const onRateLimited = rateLimitReporter(this.#scope)
    const known = { deploymentInfo: deployment, endpoint, scopes: parseScopes(initParams['scopes']), onRateLimited }
    const forget = await this.forgetMissed?.()
    await authentication.initialize(known)
    if (forget) {
      await forget()
      await authentication.initialize(known)
    }
    signal.throwIfAborted()
    await authentication.standInForLogin(known)
    signal.throwIfAborted()
    // A stored login that has expired may have to ask the user for the token of this call.
    const fetchDetails = () => authentication.cancellable(signal, () => api.getAgentDetails({ agentId: id, signal }))
    const agent = await fetchDetails().catch(async error => {
      await this.#renewRefusedToken(error)
      signal.throwIfAborted()
      return fetchDetails()
    })
    this.#language.learn(agent.languageCode)
    return agent
  }

  /**
   * Renews a token that the service refused, for example after the service changed its keys: a cached token can become
   * invalid before it expires. A login is not repeated for this.
   *
   * @throws the given error when there is no other token
   */
  async #renewRefusedToken(error: unknown): Promise<void> {
    const isRefused = error instanceof ApiError && error.status === 401
    if (!isRefused || this.#authentication.isPKCEStrategy()) throw error
    await this.#authentication.refresh().catch(() => {
      throw error
    })
  }
}

/** Reports that the service limits the rate of a REST call. */
export function rateLimitReporter({ emit, logger }: LoaderScope): NonNullable<ApiHelperConfig['onRateLimited']> {
  return limit => {
    logger.warn(`The service limits the rate of calls. ${limit.operation} is repeated in ${limit.retryInMs} ms.`)
    emit('rateLimited', () => ({ source: 'rest', ...limit }))
  }
}
