import type { AgentDetails } from '@aiagent/protocol'
import type { LanguageChoice } from '../api/language.ts'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import { defaultScopes } from '../auth/scopes.ts'
import { MessageError, SDKError } from '../errors.ts'
import type { LoadedAgent } from '../facts.ts'
import type { AgentScope } from '../scope.ts'
import type { StoreWarning } from '../storage/store-guard.ts'
import type { CallState } from './connector/call-state.ts'
import { loadConnector } from './connector/connector-loader.ts'
import { connectorEnvironment, resolveConnectorScript } from './connector/connector-url.ts'
import { buildHookContract } from './connector/hook-contract.ts'
import { PlatformConnector } from './connector/platform-connector.ts'
import type { InitializationResult } from './portal/pipeline-stage.ts'
import { PortalPipeline, type PortalPipelineOptions } from './portal/portal-pipeline.ts'
import { ProfileCache, SelectedProfileStore, storagePrefix } from './portal/profile-stores.ts'

type ContactCenterScope = AgentScope<'portalsAvailable' | 'agentsAvailable' | 'profilesAvailable'>

/** The parts that the contact center uses, and what its owner does for it. */
export interface ContactCenterOptions extends Pick<PortalPipelineOptions['listener'], 'onComplete' | 'onSwitch'> {
  readonly authentication: AuthenticationService
  readonly calls: CallState
  readonly language: LanguageChoice
  /** Sends a message of the connector. */
  send(text: string): Promise<unknown>
}

/**
 * The platform's connector, and the selection of portal, agent and profile. A separate chunk, for hosts that need it.
 */
export class ContactCenter {
  readonly pipeline: PortalPipeline
  readonly #scope: ContactCenterScope
  readonly #options: ContactCenterOptions
  readonly #selectedProfiles: SelectedProfileStore
  #connector: PlatformConnector | undefined

  constructor(scope: ContactCenterScope, options: ContactCenterOptions) {
    this.#scope = scope
    this.#options = options
    const { config, environment, logger, emit } = scope
    const { calls, language, onComplete, onSwitch } = options
    const warn: StoreWarning = (...warning) => logger.warn(...warning)
    const place = { environment, deployment: config.endpoint, warn }
    const profileCache = new ProfileCache({
      place: { ...place, cache: config.cache, agent: config.id, userState: scope.userState },
      language: () => language.chosen,
      onRemovalFailed: error => logger.error('Could not remove cached profiles from the cache adapter.', error),
    })
    this.#selectedProfiles = new SelectedProfileStore(place)
    this.pipeline = new PortalPipeline({
      profileCache,
      selectedProfiles: this.#selectedProfiles,
      emit,
      listener: {
        onComplete,
        onSwitch,
        onFilterTags: tags => {
          try {
            calls.setUserFilterTags(tags)
          } catch (error) {
            logger.warn('The filter tags of the connector are invalid.', { error })
          }
        },
        onWarning: (message, details) => logger.warn(message, details),
      },
    })
    scope.userState.own(this)
  }

  /** Whether `initParams.platform` names a platform, so that its connector is used. */
  get hasConnector(): boolean {
    return this.#scope.params.platform !== undefined
  }

  /** Whether the platform is the demonstration platform, whose call restarts with the portal selection. */
  get isTest(): boolean {
    return this.#scope.params.platform?.toLowerCase() === 'test'
  }

  /** Loads the connector's script, once for each agent. Does nothing without a platform. */
  async load(signal: AbortSignal): Promise<void> {
    const { params, config, environment, logger } = this.#scope
    if (params.platform === undefined || this.#connector) return
    const label = connectorEnvironment(params.environment, config.connector.environment)
    const pageUrl = environment.page?.window?.location.href
    const script = resolveConnectorScript({
      platform: params.platform,
      environment: label,
      config: config.connector,
      pageUrl,
    })
    const component = await loadConnector(environment, script, signal)
    const hook = this.#hook(label)
    const onWarning = (message: string) => logger.warn(message)
    const connector = new PlatformConnector({ clock: environment.clock, component, url: script.url, hook, onWarning })
    await connector.introduce(signal)
    this.#connector = connector
  }

  /** The default scopes as the platform changes them; undefined when it does not. */
  async addScopes(agent: AgentDetails, signal: AbortSignal): Promise<readonly string[] | undefined> {
    return this.#connector?.addScopes(defaultScopes(agent), signal)
  }

  /** Connects to the platform, once. */
  async initPlatform(signal: AbortSignal): Promise<void> {
    await this.#connector?.initPlatform(signal)
  }

  /**
   * Starts the portal selection; resolves at the first gate or at completion.
   *
   * @param context initial context of the conversation
   * @param ready the selection waits for it before it uses the portal list
   */
  select(
    { deployment, api, agent }: LoadedAgent,
    context: Readonly<Record<string, unknown>>,
    ready: Promise<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<InitializationResult> {
    const { params, config } = this.#scope
    const { authentication } = this.#options
    const prefix = storagePrefix(deployment, config.endpoint)
    const hooks = this.#connector?.portalHooks
    const getToken = () => authentication.getToken()
    const input = { api, agent, params, context, getToken, hooks, storagePrefix: prefix, ready }
    return this.pipeline.start(input, { signal })
  }

  /** Ends the selection in flight, and removes the selected profiles. */
  async forgetUser(): Promise<void> {
    const { facts, config } = this.#scope
    const deployment = facts.deployment?.deployment
    const reset = this.pipeline.reset()
    const selected = deployment && this.#selectedProfiles.forget(storagePrefix(deployment, config.endpoint))
    await Promise.all([reset, selected])
  }

  #hook(environment: ReturnType<typeof connectorEnvironment>) {
    const { calls, authentication, send } = this.#options
    const reportFailure = (cause: unknown) => {
      const message = 'A message of the connector was not sent.'
      this.#scope.reportError(cause instanceof SDKError ? cause : new MessageError(message, 'invalid', { cause }))
    }
    return buildHookContract({
      scope: this.#scope,
      calls,
      environment,
      authentication,
      pipeline: this.pipeline,
      // In a promise, since a value that is not a string may throw at once.
      send: text => Promise.resolve(text).then(send).catch(reportFailure),
    })
  }
}
