import type { UserProfile } from '@aiagent/protocol'
import { CallState } from '../contact-center/connector/call-state.ts'
import { loadConnector } from '../contact-center/connector/connector-loader.ts'
import { resolveConnectorScript } from '../contact-center/connector/connector-url.ts'
import { buildHookContract } from '../contact-center/connector/hook-contract.ts'
import { PlatformConnector } from '../contact-center/connector/platform-connector.ts'
import { profileAttribute } from '../contact-center/portal/auto-select.ts'
import { type InitializationResult, SELECT_METHODS } from '../contact-center/portal/gates.ts'
import { resultAt } from '../contact-center/portal/pipeline-stage.ts'
import { PortalPipeline } from '../contact-center/portal/portal-pipeline.ts'
import { ProfileCache, SelectedProfileStore } from '../contact-center/portal/profile-stores.ts'
import { MessageError, notInitialized, SDKError } from '../errors.ts'
import type { LoadedAgent, PortalSelection } from '../facts.ts'
import { type EnvironmentName, toEnvironmentName } from '../init-params.ts'
import type { Outbox, OutboxParts } from '../outbox/outbox.ts'
import type { AgentScope } from '../scope.ts'
import { untilAborted } from '../util/abort.ts'
import { type Choosing, destroyedError, type LifecycleOwner, type PendingChoice } from './agent-status.ts'

/** The parts of the agent that the contact center uses. */
interface PortalParts extends Omit<OutboxParts, 'masking' | 'log' | 'liveness' | 'queue'> {
  readonly scope: AgentScope
  readonly start: {
    /** Language that the host has chosen. */
    readonly language: string | undefined
    loadUser(loaded: LoadedAgent, signal: AbortSignal | undefined): Promise<void>
  }
  readonly outbox: Outbox
  /** Drops the messages in both directions, and the transcript. */
  dropConversation(): void
}

/**
 * The part of the lifecycle that agents with portals or a connector use: the platform's connector, the selection of portal, agent
 * and profile, and what follows from it for the chat. A separate file in a page; the lifecycle still owns the state.
 */
export class PortalLifecycle {
  readonly pipeline: PortalPipeline
  readonly #parts: PortalParts
  readonly #owner: LifecycleOwner
  /** The call of the contact center. */
  readonly calls: CallState
  readonly #selectedProfiles: SelectedProfileStore
  /** The platform's connector, once it is loaded. */
  connector: PlatformConnector | undefined

  constructor(parts: PortalParts, owner: LifecycleOwner) {
    const { scope, authentication, start, context } = parts
    const { config, environment, logger } = scope
    this.#parts = parts
    this.#owner = owner
    const calls = scope.own(new CallState(scope, context))
    this.calls = calls
    const place = { environment, deployment: config.endpoint, logger }
    const ofProfiles = { ...place, cache: config.cache, agent: config.id }
    const profileCache = new ProfileCache(ofProfiles, () => start.language)
    this.#selectedProfiles = new SelectedProfileStore(place)
    this.pipeline = new PortalPipeline({
      scope,
      authentication,
      calls,
      profileCache,
      selectedProfiles: this.#selectedProfiles,
      onComplete: selection => this.#completeSelection(selection),
      onSwitch: () => this.#switchPortal(),
    })
    scope.own(this)
  }

  /** Ends the selection in flight. */
  forgetUser(): void {
    this.pipeline.leave()
    this.#selectedProfiles.forgetMemory()
  }

  // ── The connector ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** Loads the connector's script, once for each agent. Does nothing without a platform. */
  async loadConnector(signal: AbortSignal): Promise<void> {
    const { scope } = this.#parts
    const { params, config, environment } = scope
    const { platform } = params
    if (platform === undefined || this.connector) return
    const label = params.environment ?? toEnvironmentName(config.connector.environment)
    const pageUrl = environment.page?.window?.location.href
    const script = resolveConnectorScript({ platform, environment: label, config: config.connector, pageUrl })
    const component = await loadConnector(environment, script, signal)
    const connector = new PlatformConnector(scope, component, script.url, this.#hook(label))
    await connector.introduce(signal)
    this.connector = connector
  }

  /** What the connector may call, and what it is told. */
  #hook(environment: EnvironmentName) {
    const { scope, authentication, outbox } = this.#parts
    const send = async (text: string) => {
      this.#owner.requireUsable('onUserMessage()')
      outbox.send(text)
    }
    const reportFailure = (cause: unknown) => {
      const message = 'A message of the connector was not sent.'
      scope.reportError(cause instanceof SDKError ? cause : new MessageError(message, 'invalid', { cause }))
    }
    return buildHookContract({
      scope,
      calls: this.calls,
      environment,
      authentication,
      pipeline: this.pipeline,
      send: text => send(text).catch(reportFailure),
    })
  }

  // ── The selection ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** Whether there is, or was, something to select. */
  get hasSelection(): boolean {
    return this.#owner.state.at === 'choosing' || this.pipeline.stage.at !== 'idle'
  }

  /** The choice that waits for the user; undefined while the next step is loading. */
  get choice(): PendingChoice | undefined {
    const result = resultAt(this.pipeline.stage)
    return result?.status === 'choose' ? result : undefined
  }

  /** The step that is missing until the selection is complete, with the method to call. */
  missingStep(): string {
    const gate = this.choice?.gate
    if (!gate) return 'The portal selection is still running. Await it first.'
    return `A ${gate} must be selected first. Call ${SELECT_METHODS[gate]} with one of the offered choices.`
  }

  /** Runs the selection for the first time, with the attributes that the host starts the conversation with. */
  select(
    loaded: LoadedAgent,
    context: Readonly<Record<string, unknown>>,
    user: Promise<unknown>,
    signal: AbortSignal,
  ): Promise<InitializationResult> {
    return this.#run(this.#begin(false), loaded, context, user, signal)
  }

  /** The gate of the selection in flight. Otherwise resolves with undefined, when the step that is loading has settled. */
  async gate(choosing: Choosing, signal: AbortSignal | undefined): Promise<InitializationResult | undefined> {
    const { stage } = this.pipeline
    const result = stage.at !== 'complete' && resultAt(stage)
    if (result) return result
    await untilAborted(Promise.resolve(stage.at === 'working' ? stage.step.settled : choosing.settled), signal)
    return undefined
  }

  /** Runs the selection again. */
  async restart(
    loaded: LoadedAgent,
    context: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const choosing = this.#begin(false)
    const left = this.pipeline.reset().then(() => this.#leavePortal(choosing))
    choosing.settled = left.catch(() => {})
    await left
    const { scope, start } = this.#parts
    // The call of the demonstration platform restarts too.
    if (scope.params.platform?.toLowerCase() === 'test') this.calls.clearTranscript()
    // The connector's platform stays connected.
    await this.#run(choosing, loaded, context, start.loadUser(loaded, signal), signal)
  }

  /** Selects another profile after completion (FLOW-15). */
  async changeProfile(profile: UserProfile, signal: AbortSignal | undefined): Promise<void> {
    const { scope, context } = this.#parts
    if (!scope.facts.selection) throw notInitialized('updateUserProfile() is not possible', ' with a portal.')
    const selection = await this.pipeline.updateProfile(profile, { signal })
    scope.facts.setSelection(selection)
    const attributes = selection.profile && profileAttribute(context.get(), selection.profile.id)
    if (attributes) context.merge(attributes)
  }

  /** Waits for the selection. When it fails before its first gate, `initialize()` starts over. */
  async #run(
    choosing: Choosing,
    loaded: LoadedAgent,
    context: Readonly<Record<string, unknown>>,
    user: Promise<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<InitializationResult> {
    const owner = this.#owner
    try {
      return await this.pipeline.start({ loaded, context, hooks: this.connector?.portalHooks, ready: user }, { signal })
    } catch (error) {
      const { at } = this.pipeline.stage
      // A newer restart may own the state.
      if (owner.state === choosing && (at === 'failed' || at === 'idle')) owner.become({ at: 'idle', error })
      throw error
    }
  }

  #begin(reconnect: boolean): Choosing {
    const choosing: Choosing = { at: 'choosing', reconnect, settled: Promise.resolve() }
    this.#owner.become(choosing)
    this.#parts.scope.facts.setSelection(undefined)
    return choosing
  }

  async #completeSelection(selection: PortalSelection): Promise<void> {
    const owner = this.#owner
    const choosing = owner.state
    if (choosing.at !== 'choosing') throw supersededError()
    const { context, scope, outbox } = this.#parts
    scope.facts.setSelection(selection)
    const moved = Promise.all([context.moveTo(scope.facts.agentId), outbox.ledger.restore()])
    choosing.settled = moved
    await moved
    if (owner.state !== choosing) throw supersededError()
    owner.becomeReady(choosing.reconnect)
  }

  /** Leaves the chat of a completed selection, since the pipeline moves to another portal (FLOW-25). */
  async #switchPortal(): Promise<void> {
    const { connection } = this.#parts
    const { state } = this.#owner
    const wasConnected = connection.state !== 'IDLE' && connection.state !== 'CLOSED'
    // After a failed switch the chat has been left already, and still has to be connected again.
    const choosing = this.#begin(wasConnected || (state.at === 'choosing' && state.reconnect))
    choosing.settled = this.#leavePortal(choosing)
    await choosing.settled
  }

  async #leavePortal(choosing: Choosing): Promise<void> {
    const owner = this.#owner
    const parts = this.#parts
    const { session } = parts
    await parts.chat.disconnect()
    if (owner.state.at === 'destroyed') throw destroyedError('The portal selection')
    if (owner.state !== choosing) throw supersededError()
    parts.dropConversation()
    session.forget(session.id)
  }
}

function supersededError(): SDKError {
  return new SDKError('A newer portal selection has replaced this one.', 'ABORTED')
}
