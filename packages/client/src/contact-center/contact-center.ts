import type { AgentDetails, UserDetails } from '@aiagent/protocol'
import type { LanguageChoice } from '../api/language-choice.ts'
import type { StartupFacts } from '../api/startup-facts.ts'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import { defaultScopes } from '../auth/scopes.ts'
import { MessageError, SDKError } from '../errors.ts'
import type { KnownInitParams } from '../init-params.ts'
import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type { CacheConfig } from '../storage/cache-adapter.ts'
import { createCacheAdapter, isSharedStore, resolveCacheAdapter } from '../storage/create-cache-adapter.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import type { CallState } from './connector/call-state.ts'
import { loadConnector } from './connector/connector-loader.ts'
import { type AiAgentConnectorConfig, connectorEnvironment, resolveConnectorScript } from './connector/connector-url.ts'
import { buildHookContract } from './connector/hook-contract.ts'
import { PlatformConnector } from './connector/platform-connector.ts'
import { PortalPipeline, type PortalPipelineListener } from './portal/portal-pipeline.ts'
import { ProfileCache } from './portal/profile-cache.ts'
import { SelectedProfileStore, storagePrefix } from './portal/selected-profile-store.ts'

/** What is known of the agent so far. */
export interface KnownFacts extends Partial<StartupFacts> {
  readonly user: UserDetails | null
  readonly scopes: readonly string[]
}

export interface DeskOptions {
  readonly agentId: string
  readonly endpoint: string
  readonly cache: CacheConfig
  readonly connector: AiAgentConnectorConfig
  readonly initParams: Readonly<Record<string, string>>
  readonly params: KnownInitParams
  readonly environment: Environment
  readonly logger: Logger
  readonly authentication: AuthenticationService
  readonly calls: CallState
  readonly language: LanguageChoice
  known(): KnownFacts
  /** The agent's `message` events, by payload. */
  onMessage(listener: (payload: unknown) => void): () => void
  send(text: string): Promise<unknown>
  emitError(error: SDKError): void
  readonly gates: Pick<PortalPipelineListener, 'onPortals' | 'onAgents' | 'onProfiles' | 'onComplete' | 'onSwitch'>
}

/**
 * What a contact center adds to an agent: the platform's connector and the choice of portal, agent and profile. It owns
 * both, and joins what they say of each other. A chunk of its own, for hosts that need it.
 */
export class Desk {
  readonly pipeline: PortalPipeline
  readonly #options: DeskOptions
  readonly #profileCache: ProfileCache
  readonly #selectedProfiles: SelectedProfileStore
  #connector: PlatformConnector | undefined

  constructor(options: DeskOptions) {
    this.#options = options
    const { agentId, cache, environment, logger, calls, gates, language } = options
    const { clock } = environment
    const adapter = resolveCacheAdapter(cache, environment, (...warning) => logger.warn(...warning))
    this.#profileCache = new ProfileCache({
      adapter,
      isShared: isSharedStore(adapter, environment),
      agentId,
      endpoint: options.endpoint,
      language: () => language.chosen,
      ttlMs: cache.ttl ?? PROFILE_TTL_MS,
      now: clock.now,
      onRemovalFailed: error => logger.error('Could not remove cached profiles from the cache adapter.', error),
    })
    this.#selectedProfiles = new SelectedProfileStore({
      storage: environment.sessionStorage,
      // The process's memory serves many people; a page's serves one.
      memory: environment.page ? createCacheAdapter('memory', environment) : new MemoryCacheAdapter(),
      endpoint: options.endpoint,
      now: clock.now,
      warn: message => logger.warn(message),
    })
    this.pipeline = new PortalPipeline({
      profileCache: this.#profileCache,
      selectedProfiles: this.#selectedProfiles,
      listener: {
        ...gates,
        onFilterTags: tags => {
          try {
            calls.setUserFilterTags(tags)
          } catch (error) {
            logger.warn('The filter tags of the connector cannot be used.', { error })
          }
        },
        onWarning: (message, details) => logger.warn(message, details),
      },
    })
  }

  /** Whether a platform's connector takes part. */
  get hasConnector(): boolean {
    return this.#options.params.platform !== undefined
  }

  /** Whether it is the demonstration desk, whose call starts over with everything else. */
  get isTest(): boolean {
    return this.#options.params.platform?.toLowerCase() === 'test'
  }

  /** Loads the connector's script, where a platform is named; once, however often the agent starts over. */
  async load(signal: AbortSignal): Promise<void> {
    const { params, connector: config, environment, logger } = this.#options
    if (params.platform === undefined || this.#connector) return
    const label = connectorEnvironment(params.environment, config.environment)
    const pageUrl = environment.page?.window?.location.href
    const script = resolveConnectorScript({ platform: params.platform, environment: label, config, pageUrl })
    const component = await loadConnector(environment, script, signal)
    const hook = this.#hook(label)
    const onWarning = (message: string) => logger.warn(message)
    const connector = new PlatformConnector({ component, url: script.url, hook, onWarning })
    await connector.introduce(signal)
    this.#connector = connector
  }

  /** What the platform makes of the default scopes; undefined where it has no say. */
  async addScopes(agent: AgentDetails, signal: AbortSignal): Promise<readonly string[] | undefined> {
    return this.#connector?.addScopes(defaultScopes(agent), signal)
  }

  /** Connects to the desk's platform, once. */
  async initPlatform(signal: AbortSignal): Promise<void> {
    await this.#connector?.initPlatform(signal)
  }

  /** Begins the way through portals; resolves at the first gate or at completion. */
  choose(
    { deployment, api, agent }: StartupFacts,
    context: Readonly<Record<string, unknown>>,
    ready: Promise<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { params, endpoint, authentication } = this.#options
    const prefix = storagePrefix(deployment, endpoint)
    const hooks = this.#connector?.portalHooks
    const getToken = () => authentication.getToken()
    const input = { api, agent, params, context, getToken, hooks, storagePrefix: prefix, ready }
    return this.pipeline.start(input, { signal })
  }

  /** What is remembered of the person's choices goes. */
  async forget(deployment: StartupFacts['deployment'] | undefined): Promise<void> {
    await this.pipeline.reset()
    await this.#profileCache.forget()
    if (deployment) await this.#selectedProfiles.forget(storagePrefix(deployment, this.#options.endpoint))
  }

  #hook(environment: ReturnType<typeof connectorEnvironment>) {
    const { calls, initParams, authentication, logger, known, onMessage, send, emitError } = this.#options
    return buildHookContract({
      calls,
      environment,
      getInitParams: () => initParams,
      getAgentDetails: () => known().agent,
      getDeploymentInfo: () => known().deployment,
      getToken: () => authentication.getToken(),
      getCachedToken: () => authentication.getCachedToken(),
      getUserDetails: () => known().user,
      getAuthScopes: () => known().scopes,
      getSelectedPortal: () => this.pipeline.selectedPortal,
      onMessage,
      send,
      sendFailed: cause =>
        emitError(
          cause instanceof SDKError
            ? cause
            : new MessageError('A message of the connector was not sent.', 'invalid', { cause }),
        ),
      listenerFailed: error => logger.error('A listener of the connector failed.', error),
    })
  }
}

/** How long a list of profiles counts as fresh where the host says nothing. */
const PROFILE_TTL_MS = 300_000
