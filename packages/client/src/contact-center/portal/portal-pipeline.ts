import { type AgentListItem, type Portal, sameId, type UserProfile } from '@aiagent/protocol'
import {
  abortedError,
  type InitializationPipelineError,
  type InitializationPipelineStage,
  notInitialized,
  SDKError,
} from '../../errors.ts'
import type { PortalSelection } from '../../facts.ts'
import type { Awaitable } from '../../storage/cache-adapter.ts'
import { Era } from '../../util/era.ts'
import { type InitializationResult, SELECT_METHODS } from './gates.ts'
import { type Complete, type PipelineStage, progressAt, resultAt, type Step, type Stop } from './pipeline-stage.ts'
import { type PortalInput, type PortalParts, PortalRun, pipelineError } from './portal-run.ts'

/** Options of every step. */
export interface StepOptions {
  /** Aborts the step; the gate before it is open again. */
  signal?: AbortSignal | undefined
}

/**
 * Selects portal, agent and profile, automatically or at gates. `pipeline-stage.ts` has the states.
 *
 * Each step has its own abort signal, so that a stale result has no effect.
 */
export class PortalPipeline {
  readonly #parts: PortalParts
  #stage: PipelineStage = { at: 'idle' }
  #input: PortalInput | undefined
  #run: PortalRun | undefined

  constructor(parts: PortalParts) {
    this.#parts = parts
  }

  /** The state of the run. */
  get stage(): PipelineStage {
    return this.#stage
  }

  /** The selected portal, from its selection on. */
  get selectedPortal(): Portal | undefined {
    return progressAt(this.#stage).portal
  }

  /** The selection, once the run is complete. */
  get outcome(): PortalSelection | undefined {
    return this.#stage.at === 'complete' ? this.#stage.outcome : undefined
  }

  /**
   * Starts a run, replaces an earlier one, and resolves at the first gate or at completion.
   *
   * @throws {InitializationPipelineError} when it fails before the first gate
   * @throws {SDKError} `ABORTED` when the signal is aborted, or the run replaced, reset or destroyed
   */
  async start(input: PortalInput, { signal }: StepOptions = {}): Promise<InitializationResult> {
    this.#requireAlive()
    // Its failure is reported by the run.
    input.ready?.catch(() => {})
    this.#leave({ at: 'idle' }, 'A newer portal selection has replaced this one.')
    this.#input = input
    return this.#select(undefined, 'The portal selection', signal, async step => {
      const run = await this.#open(input, step)
      const { portals, chosen } = await run.listPortals(step.era.signal)
      return chosen ? this.#enter(run, step, portals, chosen) : { at: 'portal', portals }
    })
  }

  /**
   * Selects a portal: at its gate, or after completion, which starts a run at that portal.
   *
   * Resolves at the next gate or at completion. Only the id of the argument is used.
   */
  async selectPortal(choice: Pick<Portal, 'id'>, { signal }: StepOptions = {}): Promise<InitializationResult> {
    const stage = this.#requireStarted('selectPortal()')
    const input = this.#input
    if (!input || (stage.at !== 'portal' && stage.at !== 'complete')) throw this.#wrongGate('portal')
    const portals = stage.at === 'portal' ? stage.portals : stage.outcome.availablePortals
    const portal = portals.find(({ id }) => sameId(id, choice?.id))
    if (!portal) throw this.#notListed('portal', choice?.id)
    return this.#select(stage, 'selectPortal()', signal, async step => {
      const run = stage.at === 'portal' ? this.#requireRun() : await this.#switch(input, step, portals, portal)
      return this.#enter(run, step, portals, portal)
    })
  }

  /** Selects an agent at its gate. */
  async selectAgent(
    choice: Pick<AgentListItem, 'agentId'>,
    { signal }: StepOptions = {},
  ): Promise<InitializationResult> {
    const stage = this.#requireStarted('selectAgent()')
    if (stage.at !== 'agent') throw this.#wrongGate('agent')
    const agent = stage.agents.find(({ agentId }) => sameId(agentId, choice?.agentId))
    if (!agent) throw this.#notListed('agent', choice?.agentId)
    const run = this.#requireRun()
    return this.#select(stage, 'selectAgent()', signal, step => {
      step.agent = agent
      return run.resolveProfile(stage.entered, agent, step.era.signal)
    })
  }

  /** Selects a profile at its gate. */
  async selectUserProfile(
    choice: Pick<UserProfile, 'id'>,
    { signal }: StepOptions = {},
  ): Promise<InitializationResult> {
    const stage = this.#requireStarted('selectUserProfile()')
    if (stage.at !== 'profile') throw this.#wrongGate('profile')
    const { entered, agent } = stage
    const profile = entered.profiles.find(({ id }) => sameId(id, choice?.id))
    if (!profile) throw this.#notListed('profile', choice?.id)
    const run = this.#requireRun()
    return this.#select(stage, 'selectUserProfile()', signal, step =>
      run.applyProfile(entered, agent, { profile, synthetic: false }, step.era.signal),
    )
  }

  /**
   * Selects another profile after completion and returns the new selection. `onComplete` is not called.
   *
   * @throws {InitializationPipelineError} `PROFILE_PERSIST_FAILED` when the service refuses it, `INVALID_SELECTION` without an
   *   id
   * @throws {SDKError} `NOT_INITIALIZED` unless the run is complete
   */
  async updateProfile(profile: UserProfile, { signal }: StepOptions = {}): Promise<PortalSelection> {
    const stage = this.#requireStarted('updateUserProfile()')
    if (stage.at !== 'complete') throw notInitialized('updateUserProfile() is not possible', ' with a portal.')
    const run = this.#requireRun()
    if (!sameId(profile?.id, profile?.id)) {
      const message = 'updateUserProfile() got no profile with an id. Pass one of the available profiles.'
      throw pipelineError('INVALID_SELECTION', 'profile', message, progressAt(stage))
    }
    const changed = await this.#advance<Complete>(
      stage,
      'updateUserProfile()',
      signal,
      step => run.changeProfile(stage, profile, step.era.signal),
      false,
    )
    return changed.outcome
  }

  /** Ends the run in any state. */
  leave(): void {
    if (this.#stage.at !== 'destroyed') this.#leave({ at: 'idle' }, 'The portal selection was reset.')
  }

  /** As {@link leave}, and removes the cached profiles of its portal. */
  async reset(): Promise<void> {
    const { portal } = progressAt(this.#stage)
    const run = this.#run
    this.leave()
    if (portal) await run?.forgetProfiles(portal.id)
  }

  /** Ends the pipeline: pending steps reject with `ABORTED`, and nothing more is reported. */
  destroy(): void {
    this.#leave({ at: 'destroyed' }, 'The agent was destroyed.')
  }

  /** Runs a selecting step, and resolves with the gate or the completion that it leads to. */
  async #select(
    from: Stop | undefined,
    operation: string,
    signal: AbortSignal | undefined,
    work: (step: Step) => Promise<Stop>,
  ): Promise<InitializationResult> {
    return resultAt(await this.#advance(from, operation, signal, work)) ?? READY
  }

  /** Runs a step. Only this method and `#leave()` change the stage. */
  async #advance<To extends Stop>(
    from: Stop | undefined,
    operation: string,
    signal: AbortSignal | undefined,
    work: (step: Step) => Promise<To>,
    notifies = true,
  ): Promise<To> {
    const { portal, agent } = progressAt(this.#stage)
    const era = new Era()
    let settle = () => {}
    const settled = new Promise<void>(resolve => {
      settle = resolve
    })
    const step: Step = { portal, agent, era, back: from, settled }
    this.#stage = { at: 'working', step }
    try {
      const stop = await era.during(() => work(step), signal)
      // Aborted between the end of the work and this line.
      era.signal.throwIfAborted()
      signal?.throwIfAborted()
      this.#stage = stop
      if (notifies) await this.#notify(stop)
      return stop
    } catch (error) {
      if (this.#stage.at === 'working' && this.#stage.step === step) this.#stage = step.back ?? { at: 'failed' }
      // Requests of the step that are still in flight are no longer needed.
      era.end(error)
      throw signal?.aborted && error === signal.reason ? abortedError(operation, signal) : error
    } finally {
      settle()
    }
  }

  #notify(stop: Stop): Awaitable<void> {
    const { scope } = this.#parts
    switch (stop.at) {
      case 'portal':
        return scope.emit('portalsAvailable', () => ({ portals: stop.portals }))
      case 'agent':
        return scope.emit('agentsAvailable', () => ({ agents: stop.agents }))
      case 'profile': {
        const { profiles, portal } = stop.entered
        return scope.emit('profilesAvailable', () => ({ profiles, selectedPortal: portal }))
      }
      case 'complete':
        return this.#parts.onComplete(stop.outcome)
      default:
        stop satisfies never
    }
  }

  /** A new run for the same input. */
  async #open(input: PortalInput, { era }: Step): Promise<PortalRun> {
    const run = await PortalRun.open(input, this.#parts)
    // A newer run may have started.
    era.signal.throwIfAborted()
    return (this.#run = run)
  }

  /** Leaves a completed run for another portal. From then on a failure leads to the portal gate. */
  async #switch(input: PortalInput, step: Step, portals: readonly Portal[], portal: Portal): Promise<PortalRun> {
    const run = await this.#open(input, step)
    step.back = { at: 'portal', portals }
    await this.#parts.onSwitch(portal)
    step.era.signal.throwIfAborted()
    return run
  }

  async #enter(run: PortalRun, step: Step, portals: readonly Portal[], portal: Portal): Promise<Stop> {
    const { signal } = step.era
    step.portal = portal
    step.agent = undefined
    const entered = await run.enter(portals, portal, signal)
    step.portal = entered.portal
    if (!run.hasAgents) return run.resolveProfile(entered, undefined, signal)
    const agents = await run.listAgents(entered, signal)
    if (agents.length > 1) return { at: 'agent', entered, agents }
    step.agent = agents[0]
    return run.resolveProfile(entered, step.agent, signal)
  }

  #leave(to: PipelineStage, reason: string): void {
    const stage = this.#stage
    this.#stage = to
    this.#input = undefined
    this.#run = undefined
    if (stage.at === 'working') stage.step.era.end(new SDKError(reason, 'ABORTED'))
  }

  #requireAlive(): void {
    if (this.#stage.at === 'destroyed') throw new SDKError('The agent was destroyed. Make a new AiAgent.', 'ABORTED')
  }

  #requireStarted(operation: string): PipelineStage {
    this.#requireAlive()
    if (this.#stage.at !== 'idle') return this.#stage
    throw notInitialized(`${operation} has nothing to select`)
  }

  /** The run of the current stage. */
  #requireRun(): PortalRun {
    if (!this.#run) throw notInitialized('There is no run of the portal pipeline')
    return this.#run
  }

  #wrongGate(gate: Exclude<InitializationPipelineStage, 'start'>): InitializationPipelineError {
    const message = `${SELECT_METHODS[gate]} is not possible now: no ${gate} has to be selected. Wait for the event that offers the choice.`
    return pipelineError('INVALID_SELECTION', gate, message, progressAt(this.#stage))
  }

  #notListed(gate: Exclude<InitializationPipelineStage, 'start'>, id: unknown): InitializationPipelineError {
    const message = `${SELECT_METHODS[gate]} got the ${gate} ${JSON.stringify(id ?? null)}, which is not in the list. Choose one of the offered ids.`
    return pipelineError('INVALID_SELECTION', gate, message, progressAt(this.#stage))
  }
}

const READY: InitializationResult = { status: 'ready' }
