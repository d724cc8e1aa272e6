import type { AgentDetails, UserDetails } from '@aiagent/protocol'
import { features } from '#features'
import { defaultScopes, hostScopes, parseScopes, resolveScopes } from '../auth/scopes.ts'
import { needsPortal, usesPortalProfile } from '../contact-center/portal/gates.ts'
import { ApiError, AuthError, type AuthErrorReason, abortedError, InitializationPipelineError } from '../errors.ts'
import type { Deployment, LoadedAgent } from '../facts.ts'
import type { FoundRules, MaskingUnavailableReason } from '../masking/masking.ts'
import type { OutboxParts } from '../outbox/outbox.ts'
import { feature, type OptionalFeature } from '../platform/feature.ts'
import { getAgentDetails, getCustomerDetails, getUserDetails } from '../rest/core-calls.ts'
import { loadDeploymentInfo, RestClient } from '../rest/rest-client.ts'
import type { AgentScope } from '../scope.ts'
import type { TabGroup } from '../tabs/tab-group.ts'
import { Era } from '../util/era.ts'
import { JoinedTask } from '../util/joined-task.ts'
import { subjectFingerprint } from '../util/jwt.ts'
import type { PortalLifecycle } from './portal-lifecycle.ts'

const DEPLOYMENT_ABORTED = (signal: AbortSignal) => abortedError('getDeploymentInfo()', signal)
const DETAILS_ABORTED = (signal: AbortSignal) => abortedError('getAgentDetails()', signal)

/** The parts that it uses. */
interface StartParts extends Pick<OutboxParts, 'authentication' | 'context' | 'masking'> {
  readonly tabs?: OptionalFeature<Pick<TabGroup, 'forgetMissed'> | undefined> | undefined
}

/**
 * The start of an agent, from the deployment to its user: {@link prepare} names the steps in order. Deployment and details are
 * loaded once, also before `initialize()` (OPS-08).
 */
export class Start {
  readonly #scope: AgentScope
  readonly #parts: StartParts
  readonly #deployment = new JoinedTask<Deployment>(DEPLOYMENT_ABORTED)
  readonly #details = new JoinedTask<AgentDetails>(DETAILS_ABORTED)
  /** The last load of the user. A newer one, a sign-out and `destroy()` end it. */
  #userEra = new Era()
  #rulesMissing = false
  /** The era in which the rules are loaded again. */
  #reloading: Era | undefined
  /** Language that the host has chosen for the REST calls; without one the agent's own is used (FLOW-17). */
  language: string | undefined

  constructor(scope: AgentScope, parts: StartParts) {
    this.#scope = scope
    this.#parts = parts
  }

  /**
   * Loads everything that an agent needs before portals are selected or a session is created: deployment, details, the
   * connector, scopes, a token.
   *
   * @returns what was loaded, and a promise that is fulfilled when the user and the masking rules are known
   */
  async prepare(
    openPortals: () => Promise<PortalLifecycle>,
    signal: AbortSignal,
  ): Promise<{ loaded: LoadedAgent; user: Promise<void> }> {
    const { facts, params, config } = this.#scope
    const authentication = this.#parts.authentication
    const opening = params.platform === undefined ? undefined : openPortals()
    // The connector's address is known already, so its script is loaded in parallel.
    const introduced = opening?.then(portals => portals.loadConnector(signal))
    // Only the first failure is reported; mark this promise as handled.
    introduced?.catch(() => {})
    const deployment = await this.loadDeployment(signal)
    const requireToken = (cause: unknown) => {
      throw toTokenRequired(cause, this.#scope)
    }
    const agent = await this.loadAgentDetails(signal).catch(requireToken)
    await introduced
    const portals = await opening
    const { auth, initParams } = config
    const ofLogin = auth && 'type' in auth && auth.type === 'pkce' ? auth.config.scopes : undefined
    facts.scopes =
      hostScopes(ofLogin, initParams['scopes']) ??
      resolveScopes({ agent, platformScopes: await portals?.connector?.addScopes(defaultScopes(agent), signal) })
    const loaded = { ...deployment, agent }
    const token = await authentication.cancellable(signal, () => this.#signIn(loaded, signal)).catch(requireToken)
    // Aborted while the host's function ran: its token is not used.
    signal.throwIfAborted()
    this.#parts.context.belongTo(authentication.isAnonymousStrategy() ? undefined : subjectFingerprint(token))
    const user = this.loadUser(loaded, signal)
    if (portals) {
      await user
      await portals.connector?.initPlatform(signal)
    }
    return { loaded, user }
  }

  /** Rejects what is in flight with the given error. */
  abort(reason: unknown): void {
    this.#deployment.abort(reason)
    this.#details.abort(reason)
    this.#userEra.end()
  }

  // ── Deployment ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Where the deployment's services are: from memory, cache or network. */
  async loadDeployment(signal?: AbortSignal): Promise<Deployment> {
    const { facts } = this.#scope
    return facts.deployment ?? this.#deployment.join(inner => this.#openDeployment(inner), signal)
  }

  /** Finds the deployment, and creates the helper for its calls. */
  async #openDeployment(signal: AbortSignal): Promise<Deployment> {
    const { config, params, environment, logger, facts, reportRateLimit: onRateLimited } = this.#scope
    const { endpoint, cache } = config
    const authentication = this.#parts.authentication
    const deployment = await loadDeploymentInfo(endpoint, cache, { environment, signal, onRateLimited })
    const { shortUrlTemplate } = params
    const api = new RestClient(
      {
        apiDomain: deployment.apiDomain,
        cache,
        endpoint,
        language: this.language,
        shortUrlTemplate,
        logger,
        getToken: () => authentication.getToken(),
        refreshToken: () => authentication.refresh(),
        onRateLimited,
      },
      environment,
    )
    return facts.setDeployment({ deployment: Object.freeze(deployment), api })
  }

  /** The host chooses the language of the REST calls; blank, null and undefined restore the agent's own. */
  chooseLanguage(code: string | null | undefined): void {
    this.language = code?.trim() || undefined
    const { deployment, agent } = this.#scope.facts
    deployment?.api.setLanguage(this.language ?? agent?.languageCode)
  }

  // ── Agent ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The details of the configured agent: from memory, cache or network. */
  async loadAgentDetails(signal?: AbortSignal): Promise<AgentDetails> {
    const { facts } = this.#scope
    if (facts.agent) return facts.agent
    const agent = await this.#details.join(async inner => {
      const deployment = await this.loadDeployment(inner)
      // A sign-out meanwhile: a token that is requested now would be the next user's.
      inner.throwIfAborted()
      return Object.freeze(await this.#fetchAgent(deployment, inner))
    }, signal)
    return facts.agent ?? facts.setAgent(agent)
  }

  /**
   * Fetches the agent's details, whose language holds from then on. No sign-in is needed: while a configured login has no
   * session, an anonymous token is used.
   */
  async #fetchAgent({ deployment, api }: Deployment, signal: AbortSignal): Promise<AgentDetails> {
    const { config, reportRateLimit: onRateLimited } = this.#scope
    const { id, initParams, endpoint } = config
    const authentication = this.#parts.authentication
    const known = { deploymentInfo: deployment, endpoint, scopes: parseScopes(initParams['scopes']), onRateLimited }
    const forget = await this.#parts.tabs?.(group => group?.forgetMissed())
    await authentication.initialize(known)
    if (forget) {
      await forget()
      await authentication.initialize(known)
    }
    signal.throwIfAborted()
    if (authentication.isPKCEStrategy()) await authentication.useAnonymousToken(known)
    signal.throwIfAborted()
    // A stored login that has expired may have to ask the user for the token of this call.
    const fetchDetails = () =>
      authentication.cancellable(signal, () => api.call(getAgentDetails, { agentId: id, signal }))
    const agent = await fetchDetails().catch(async error => {
      await this.#renewRefusedToken(error)
      signal.throwIfAborted()
      return fetchDetails()
    })
    api.setLanguage(this.language ?? agent.languageCode)
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
    if (!isRefused || this.#parts.authentication.isPKCEStrategy()) throw error
    await this.#parts.authentication.refresh().catch(() => {
      throw error
    })
  }

  // ── Token ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Ensures a usable token. An authenticated agent needs a user's token: from the host's login, otherwise from the
   * deployment's own; skipped when a session was restored.
   *
   * @returns the token of the active strategy
   * @throws {AuthError} reason `interaction_required` when only the anonymous token is available and there is no page for a login,
   *   or the user must not be asked
   */
  async #signIn(loaded: LoadedAgent, signal: AbortSignal): Promise<string> {
    const { facts, status } = this.#scope
    const authentication = this.#parts.authentication
    await authentication.updateScopes(facts.scopes)
    if (loaded.agent.isAuthenticated) {
      if (authentication.isAnonymousStrategy()) await this.#useDeploymentLogin(loaded, signal)
      const isRestored = authentication.isPKCEStrategy() && authentication.hasSession()
      if (!isRestored && authentication.isPKCEStrategy() && status.isInteractive === false)
        throw new AuthError('The user has to sign in. Call initialize() within a click.', 'interaction_required')
      if (!isRestored) await authentication.authenticate()
    }
    return authentication.getToken()
  }

  /** Replaces the anonymous strategy with a login at the deployment's identity provider. */
  async #useDeploymentLogin({ agent, deployment }: LoadedAgent, signal: AbortSignal): Promise<void> {
    const { config, environment, facts, reportRateLimit: onRateLimited } = this.#scope
    const { page } = environment
    if (!page)
      throw new AuthError(
        "This agent needs a signed-in user. Pass `auth: { type: 'pre-auth', accessToken }`, or an object with getToken().",
        'interaction_required',
      )
    const { loadPkceConfig } = await feature(
      environment.clock,
      'login',
      () => import('../auth/login/deployment-login.ts'),
    )
    const nextRoute = page.window?.location.href ?? ''
    const { initParams, authScheme } = config
    const known = { deployment, agent, initParams, scopes: facts.scopes, authScheme, nextRoute }
    const login = await loadPkceConfig(environment, known, signal, onRateLimited)
    await this.#parts.authentication.switchStrategyTo(login)
    await this.#parts.authentication.initialize({ deploymentInfo: deployment, onRateLimited })
  }

  // ── User ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Loads the signed-in user and the masking rules. Neither fails: without them the agent works with less. */
  async loadUser(loaded: LoadedAgent, signal: AbortSignal | undefined): Promise<void> {
    const scope = this.#scope
    const era = this.#userEra.end()
    this.#userEra = era
    try {
      const { isAuthenticated, enableDataMasking } = loaded.agent
      const load = (inner: AbortSignal) =>
        Promise.all([
          isAuthenticated ? fetchUser(loaded, scope, inner) : null,
          enableDataMasking ? loadRules(loaded, scope, inner) : ('none' as const),
        ])
      const [user, rules] = await era.during(load, signal)
      scope.facts.user = user
      this.#rulesMissing = rules === 'unknown'
      this.#parts.masking.settle(rules)
    } catch (error) {
      if (!era.isOver) throw error
    }
  }

  /** Loads masking rules again that could not be loaded: the network may be back. Never fails. */
  reloadMissingRules(): void {
    const scope = this.#scope
    const { loaded } = scope.facts
    const era = this.#userEra
    if (!this.#rulesMissing || !loaded || this.#reloading === era) return
    this.#reloading = era
    const load = async (signal: AbortSignal) => {
      const rules = await loadRules(loaded, scope, signal)
      signal.throwIfAborted()
      this.#reloading = undefined
      this.#rulesMissing = rules === 'unknown'
      this.#parts.masking.settle(rules)
    }
    // Ended by a sign-out, or by a load of the user.
    era.during(load).catch(() => {})
  }

  /** Loads the user again when the masking rules could not be loaded. */
  async retryMissingRules(loaded: LoadedAgent, signal: AbortSignal | undefined): Promise<void> {
    if (this.#rulesMissing) await this.loadUser(loaded, signal)
  }

  /** Ends the load of the user, and drops the masking rules. */
  forgetUser(): void {
    this.#userEra.end()
    this.#rulesMissing = false
    this.#parts.masking.settle('none')
  }
}

/** The signed-in user or customer; null when the service does not return one (FLOW-06). */
function fetchUser(
  { api, agent }: LoadedAgent,
  { params }: AgentScope,
  signal: AbortSignal | undefined,
): Promise<UserDetails | null> {
  const isCustomer = usesPortalProfile(agent, params)
  const asked = isCustomer ? api.call(getCustomerDetails, { signal }) : api.call(getUserDetails, { signal })
  return asked.catch(() => null)
}

/** Loads the masking rules of the agent (FLOW-19). Never fails: a warning gives the reason. */
async function loadRules(
  loaded: LoadedAgent,
  scope: AgentScope<'maskingPatternsRefused' | 'maskingUnavailable'>,
  signal: AbortSignal,
): Promise<FoundRules> {
  const onUnavailable = (reason: MaskingUnavailableReason, error?: unknown) =>
    scope.emit('maskingUnavailable', () => (error === undefined ? { reason } : { reason, error }))
  try {
    const loadMasker = await feature(scope.environment.clock, 'masking', features.masking)
    return await loadMasker(loaded, scope, onUnavailable, signal)
  } catch (error) {
    if (!signal.aborted) {
      scope.logger.warn('Could not load the masking patterns.', { error })
      onUnavailable(error instanceof ApiError && error.reason === 'body' ? 'invalid_answer' : 'request_failed', error)
    }
    return 'unknown'
  }
}

/** With portals, an error that no token can be obtained is one of the portal selection, at its start (ERR-02). */
function toTokenRequired(cause: unknown, { facts, params }: AgentScope<never>): unknown {
  const isMissing = cause instanceof AuthError && TOKEN_REASONS.has(cause.reason)
  if (!isMissing || !needsPortal(facts.agent ?? {}, params)) return cause
  const message = `The portals need an access token, and none could be obtained. ${cause.message}`
  return new InitializationPipelineError(message, 'AUTH_TOKEN_REQUIRED', { stage: 'start', cause })
}

/** Reasons that say nothing but that there is no token. Others tell the host what to do, such as allowing a popup. */
const TOKEN_REASONS: ReadonlySet<AuthErrorReason> = new Set([
  'token_missing',
  'token_request_failed',
  'metadata_failed',
])
