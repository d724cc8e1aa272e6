import { type AgentListItem, type Portal, sameId, type UserProfile } from '@aiagent/protocol'
import {
  abortedError,
  type InitializationPipelineError,
  type InitializationPipelineStage,
  SDKError,
} from '../../errors.ts'
import type { Awaitable } from '../../storage/cache-adapter.ts'
import { untilAborted } from '../../util/abort.ts'
import { subjectFingerprint } from '../../util/subject-fingerprint.ts'
import { listAgents } from './agent-list.ts'
import {
  type Complete,
  type PipelineStage,
  type PortalOutcome,
  progressAt,
  type Step,
  type Stop,
} from './pipeline-stage.ts'
import { listPortals } from './portal-list.ts'
import {
  type ChoiceStores,
  type PortalInput,
  type PortalNotices,
  type PortalRun,
  pipelineError,
  requireToken,
} from './portal-run.ts'
import { changeProfile, settleProfile, takeProfile } from './profile-choice.ts'
import { enterPortal } from './profile-list.ts'

/** What the pipeline tells of its way. No call comes after the run was replaced, reset or destroyed. */
export interface PortalPipelineListener extends PortalNotices {
  /** The person is to choose a portal. */
  onPortals(portals: readonly Portal[]): void
  /** The person is to choose an agent of the portal. */
  onAgents(agents: readonly AgentListItem[]): void
  /** The person is to choose a profile. */
  onProfiles(profiles: readonly UserProfile[], selectedPortal: Portal): void
  /** Nothing is left to choose. Once for each run. */
  onComplete(outcome: PortalOutcome): void
  /** A completed run is left for another portal: what belongs to it ends here. Waited for. */
  onSwitch(portal: Portal): Awaitable<void>
}

export interface PortalPipelineOptions extends ChoiceStores {
  readonly listener: PortalPipelineListener
}

/** What every step takes. */
export interface StepOptions {
  /** Aborting it leaves the step; the gate before it is open again. */
  signal?: AbortSignal | undefined
}

/**
 * The way through portal, agent and profile. It owns where a run stands; `pipeline-stage.ts` has the drawing.
 *
 * Each run, and each step of it, ends with a signal of its own, so that whatever an older one still brings changes
 * nothing.
 */
export class PortalPipeline {
  readonly #options: PortalPipelineOptions
  #stage: PipelineStage = { at: 'idle' }
  #input: PortalInput | undefined
  #run: PortalRun | undefined

  constructor(options: PortalPipelineOptions) {
    this.#options = options
  }

  /** Where the run stands. */
  get stage(): PipelineStage {
    return this.#stage
  }

  /** The portal that was chosen, as soon as it is. */
  get selectedPortal(): Portal | undefined {
    return progressAt(this.#stage).portal
  }

  /** What the run came to, once it is complete. */
  get outcome(): PortalOutcome | undefined {
    return this.#stage.at === 'complete' ? this.#stage.outcome : undefined
  }

  /**
   * Begins a run, in place of the one before, and resolves at the first gate or at completion.
   *
   * @throws {InitializationPipelineError} when it fails before the first gate
   * @throws {SDKError} `ABORTED` when the signal is aborted, or the run replaced, reset or destroyed
   */
  async start(input: PortalInput, { signal }: StepOptions = {}): Promise<void> {
    this.#requireAlive()
    // Whoever gave it hears of its failure through the run.
    input.ready?.catch(() => {})
    this.#leave({ at: 'idle' }, 'Another run of the portal pipeline took its place.')
    this.#input = input
    await this.#advance(undefined, 'The portal pipeline', signal, async step => {
      const run = await this.#open(input, step)
      const { portals, chosen } = await listPortals(run, step.controller.signal)
      return chosen ? this.#enter(run, step, portals, chosen) : { at: 'portal', portals }
    })
  }

  /**
   * Chooses a portal: at its gate, or after completion, where it begins a run at another portal.
   *
   * Resolves at the next gate or at completion. Only the id of what is given counts.
   */
  async selectPortal(choice: Pick<Portal, 'id'>, { signal }: StepOptions = {}): Promise<void> {
    const stage = this.#requireStarted('selectPortal()')
    const input = this.#input
    if (!input || (stage.at !== 'portal' && stage.at !== 'complete')) throw this.#wrongGate('portal')
    const portals = stage.at === 'portal' ? stage.portals : stage.outcome.availablePortals
    const portal = portals.find(({ id }) => sameId(id, choice?.id))
    if (!portal) throw this.#notListed('portal')
    await this.#advance(stage, 'selectPortal()', signal, async step => {
      const run = stage.at === 'portal' ? this.#requireRun() : await this.#switch(input, step, portals, portal)
      return this.#enter(run, step, portals, portal)
    })
  }

  /** Chooses an agent at its gate, likewise. */
  async selectAgent(choice: Pick<AgentListItem, 'agentId'>, { signal }: StepOptions = {}): Promise<void> {
    const stage = this.#requireStarted('selectAgent()')
    if (stage.at !== 'agent') throw this.#wrongGate('agent')
    const agent = stage.agents.find(({ agentId }) => sameId(agentId, choice?.agentId))
    if (!agent) throw this.#notListed('agent')
    const run = this.#requireRun()
    await this.#advance(stage, 'selectAgent()', signal, step => {
      step.agent = agent
      return settleProfile(run, stage.entered, agent, step.controller.signal)
    })
  }

  /** Chooses a profile at its gate, likewise. */
  async selectUserProfile(choice: Pick<UserProfile, 'id'>, { signal }: StepOptions = {}): Promise<void> {
    const stage = this.#requireStarted('selectUserProfile()')
    if (stage.at !== 'profile') throw this.#wrongGate('profile')
    const { entered, agent } = stage
    const profile = entered.profiles.find(({ id }) => sameId(id, choice?.id))
    if (!profile) throw this.#notListed('profile')
    const run = this.#requireRun()
    await this.#advance(stage, 'selectUserProfile()', signal, step =>
      takeProfile(run, entered, agent, { profile, madeUp: false }, step.controller.signal),
    )
  }

  /**
   * Takes another profile after completion and returns what the run comes to with it; `onComplete` is not called.
   *
   * @throws {InitializationPipelineError} `PROFILE_PERSIST_FAILED` when the service does not take it
   * @throws {SDKError} `NOT_INITIALIZED` unless the run is complete
   */
  async updateProfile(profile: UserProfile, { signal }: StepOptions = {}): Promise<PortalOutcome> {
    const stage = this.#requireStarted('updateUserProfile()')
    if (stage.at !== 'complete')
      throw new SDKError('updateUserProfile() needs a completed initialization with a portal.', 'NOT_INITIALIZED')
    const run = this.#requireRun()
    const changed = await this.#advance<Complete>(
      stage,
      'updateUserProfile()',
      signal,
      step => changeProfile(run, stage, profile, step.controller.signal),
      false,
    )
    return changed.outcome
  }

  /** Leaves the run, wherever it is, and forgets the profiles of its portal, so that the next run asks for them. */
  async reset(): Promise<void> {
    const { portal } = progressAt(this.#stage)
    if (this.#stage.at !== 'destroyed') this.#leave({ at: 'idle' }, 'The portal pipeline was started anew.')
    if (portal) await this.#options.profileCache.forget(portal.id)
  }

  /** Ends the run for good: nothing is told any more, and what waits is rejected. */
  destroy(): void {
    this.#leave({ at: 'destroyed' }, 'The agent was destroyed.')
  }

  /** Makes a step. The only place, beside leaving, where the stage changes. */
  async #advance<To extends Stop>(
    from: Stop | undefined,
    operation: string,
    signal: AbortSignal | undefined,
    work: (step: Step) => Promise<To>,
    tells = true,
  ): Promise<To> {
    const { portal, agent } = progressAt(this.#stage)
    const controller = new AbortController()
    const step: Step = { portal, agent, controller, back: from }
    const abort = () => signal && controller.abort(abortedError(operation, signal))
    this.#stage = { at: 'working', step }
    signal?.addEventListener('abort', abort)
    try {
      if (signal?.aborted) abort()
      controller.signal.throwIfAborted()
      const stop = await untilAborted(work(step), controller.signal)
      // Left between the end of the work and this line.
      controller.signal.throwIfAborted()
      this.#stage = stop
      if (tells) this.#tell(stop)
      return stop
    } catch (error) {
      if (this.#stage.at === 'working' && this.#stage.step === step) this.#stage = step.back ?? { at: 'failed' }
      // What the step still has under way is not wanted any more.
      controller.abort(error)
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  #tell(stop: Stop): void {
    const { listener } = this.#options
    switch (stop.at) {
      case 'portal':
        return listener.onPortals(stop.portals)
      case 'agent':
        return listener.onAgents(stop.agents)
      case 'profile':
        return listener.onProfiles(stop.entered.profiles, stop.entered.portal)
      case 'complete':
        return listener.onComplete(stop.outcome)
      default:
        stop satisfies never
    }
  }

  /** A new run for the same input. */
  async #open(input: PortalInput, { controller }: Step): Promise<PortalRun> {
    const { listener, profileCache, selectedProfiles } = this.#options
    const person = subjectFingerprint(await requireToken(input))
    // Another user's choices go before anything of this user is looked up.
    await Promise.all([profileCache.claim(person), selectedProfiles.claim(input.storagePrefix, person)])
    // A newer run may have begun meanwhile.
    controller.signal.throwIfAborted()
    const onFilterTags: PortalNotices['onFilterTags'] = tags => listener.onFilterTags(tags)
    const onWarning: PortalNotices['onWarning'] = (message, details) => listener.onWarning(message, details)
    return (this.#run = { ...input, profileCache, selectedProfiles, person, onFilterTags, onWarning })
  }

  /** Leaves a completed run for another portal. Once the chat is left there is no way back but to the choice of portals. */
  async #switch(input: PortalInput, step: Step, portals: readonly Portal[], portal: Portal): Promise<PortalRun> {
    const run = await this.#open(input, step)
    step.back = { at: 'portal', portals }
    await this.#options.listener.onSwitch(portal)
    step.controller.signal.throwIfAborted()
    return run
  }

  async #enter(run: PortalRun, step: Step, portals: readonly Portal[], portal: Portal): Promise<Stop> {
    const { signal } = step.controller
    step.portal = portal
    step.agent = undefined
    const entered = await enterPortal(run, portals, portal, signal)
    step.portal = entered.portal
    if (!run.params.isDefaultAgent) return settleProfile(run, entered, undefined, signal)
    const agents = await listAgents(run, entered, signal)
    if (agents.length > 1) return { at: 'agent', entered, agents }
    step.agent = agents[0]
    return settleProfile(run, entered, step.agent, signal)
  }

  #leave(to: PipelineStage, reason: string): void {
    const stage = this.#stage
    this.#stage = to
    this.#input = undefined
    this.#run = undefined
    if (stage.at === 'working') stage.step.controller.abort(new SDKError(reason, 'ABORTED'))
  }

  #requireAlive(): void {
    if (this.#stage.at === 'destroyed') throw new SDKError('The agent was destroyed. Make a new AiAgent.', 'ABORTED')
  }

  #requireStarted(operation: string): PipelineStage {
    this.#requireAlive()
    if (this.#stage.at !== 'idle') return this.#stage
    throw new SDKError(`${operation} has nothing to choose from. Await initialize() first.`, 'NOT_INITIALIZED')
  }

  /** The run that brought the present stage about. */
  #requireRun(): PortalRun {
    if (!this.#run) throw new SDKError('There is no run of the portal pipeline.', 'NOT_INITIALIZED')
    return this.#run
  }

  #wrongGate(gate: Exclude<InitializationPipelineStage, 'start'>): InitializationPipelineError {
    const message = `${METHODS[gate]} is not possible now: no ${gate} is to be chosen. Wait for the event that offers the choice.`
    return pipelineError('INVALID_SELECTION', gate, message, progressAt(this.#stage))
  }

  #notListed(gate: Exclude<InitializationPipelineStage, 'start'>): InitializationPipelineError {
    const message = `${METHODS[gate]} was given a ${gate} that is not in the list. Choose one of those offered.`
    return pipelineError('INVALID_SELECTION', gate, message, progressAt(this.#stage))
  }
}

const METHODS = { portal: 'selectPortal()', agent: 'selectAgent()', profile: 'selectUserProfile()' } as const
