import { type AgentDetails, agentDisplayName, type Portal, type UserDetails } from '@aiagent/protocol'
import type { StartupFacts } from '../api/startup-facts.ts'
import type { Desk, DeskOptions } from '../contact-center/contact-center.ts'
import type { PortalOutcome } from '../contact-center/portal/pipeline-stage.ts'
import { needsPortal, usesPortalProfile } from '../contact-center/portal/portal-flow.ts'
import type { PortalPipeline } from '../contact-center/portal/portal-pipeline.ts'
import { abortedError, SDKError } from '../errors.ts'
import type { AgentEventPayloadMap } from '../events.ts'
import type { KnownInitParams } from '../init-params.ts'
import type { FoundRules } from '../masking/masking.ts'
import { untilAborted } from '../util/abort.ts'
import { JoinedTask } from '../util/joined-task.ts'
import type { Deployment, PreparationOptions } from './load-agent.ts'
import type { MaskingLoadOptions } from './load-masking.ts'

/*
 * The way to a ready agent. It owns the phase, and what was learned on the way.
 *
 *   idle ── initialize() ──► preparing ── all steps done, nothing to choose ──► ready
 *    ▲                          │   └──── a gate ──► choosing ── chosen ─────────▲ │
 *    ├──── failed, aborted ─────┘                       ▲                          │
 *    │                                                  └── another portal, restart ┤
 *    └──────────────────────── reset() ──────────────────────────────────────────┘      destroy() ──► destroyed
 *
 * A failed run leaves nothing behind but facts that stay true, so that the next one starts clean.
 */

type Phase = 'idle' | 'choosing' | 'ready' | 'destroyed'

export interface StartupOptions extends PreparationOptions {
  readonly params: KnownInitParams
  /** The configured part of the context that the conversation starts with. */
  readonly initialContext: Readonly<Record<string, unknown>>
  /** Reads what an earlier page stored, and merges the context the conversation starts with. */
  openContext(context: Record<string, unknown>): Promise<void>
  /** There is a token that is good for the agent. */
  onSignedIn(token: string): void
  readonly masking: MaskingLoadOptions
  /** It is known what is to be masked. */
  onMaskingSettled(found: FoundRules): void
  /** Makes sure of a session. */
  openSession(signal: AbortSignal): Promise<unknown>
  /** The chat runs under another agent's id from now on. */
  moveContext(agentId: string): Promise<void>
  /** Everything is ready. */
  onReady(): void
  /** What the contact center needs, beside what it tells the start itself. */
  readonly desk: Omit<DeskOptions, 'gates' | 'known'> & { readonly gates: Omit<DeskOptions['gates'], 'onComplete'> }
}

export class Startup {
  readonly #options: StartupOptions
  readonly #run = new JoinedTask<void>(signal => abortedError('initialize()', signal))
  readonly #finding = new JoinedTask<Deployment>(signal => abortedError('getDeploymentInfo()', signal))
  readonly #meeting = new JoinedTask<AgentDetails>(signal => abortedError('getAgentDetails()', signal))
  #phase: Phase = 'idle'
  #deployment: Deployment | undefined
  #agent: AgentDetails | undefined
  #user: UserDetails | null = null
  #scopes: readonly string[] = []
  /** Attributes the conversation starts with, as the host gave them. */
  #initialContext: Readonly<Record<string, unknown>> = {}
  #desk: Desk | undefined
  #reconnects = false
  #choiceBegan = false
  #reopenings = 0
  /** Stands for the newest question for person and rules: what an older one still brings is not wanted. */
  #learning: object | undefined
  #lacksRules = false

  constructor(options: StartupOptions) {
    this.#options = options
  }

  get isReady(): boolean {
    return this.#phase === 'ready'
  }

  /** @throws {SDKError} code ABORTED once the agent is destroyed */
  requireAlive(operation: string): void {
    if (this.#phase === 'destroyed') throw destroyed(operation)
  }

  /** The agent's details, once they are known. */
  get agent(): AgentDetails | undefined {
    return this.#agent
  }

  /** Who is signed in, once that is known. */
  get user(): UserDetails | null {
    return this.#user
  }

  /** The agent that was picked in a portal; the chat runs under its id. */
  get resolvedAgentId(): string | undefined {
    const picked = this.#desk?.pipeline.outcome?.agent
    return picked && String(picked.agentId)
  }

  /** Name of the agent that talks: the one that was picked, else the configured one; empty until it is known. */
  get agentName(): string {
    const picked = this.#desk?.pipeline.outcome?.agent
    if (picked) return picked.name ?? ''
    return this.#agent ? agentDisplayName(this.#agent) : ''
  }

  /** What `initialized` tells. */
  readiness(): AgentEventPayloadMap['initialized'] {
    const outcome = this.#desk?.pipeline.outcome
    const { agent } = this.requireFacts('initialized')
    return outcome ? chosenReadiness(outcome, agent) : { agent }
  }

  /** Whether the chat that was left for another portal is to be connected again; true once. */
  takeReconnect(): boolean {
    const reconnects = this.#reconnects
    this.#reconnects = false
    return reconnects
  }

  /** The contact center's part, where the agent has one. */
  get desk(): Desk | undefined {
    return this.#desk
  }

  /** Whether portals were asked for, so that it can be done anew, also while it is. */
  get hasChoice(): boolean {
    return this.#choiceBegan
  }

  /** The portal that was chosen. */
  get portal(): Portal | undefined {
    return this.#desk?.pipeline.selectedPortal
  }

  /**
   * The choice of portal, agent and profile.
   *
   * @throws {SDKError} code NOT_INITIALIZED where nothing is to be chosen
   */
  requirePipeline(operation: string): PortalPipeline {
    this.requireAlive(operation)
    const pipeline = this.#desk?.pipeline
    if (pipeline && pipeline.stage.at !== 'idle') return pipeline
    throw new SDKError(
      `${operation} has nothing to choose from: the agent has no portals, or initialize() is to come.`,
      'NOT_INITIALIZED',
    )
  }

  /**
   * What was learned.
   *
   * @throws {SDKError} code NOT_INITIALIZED before initialization has completed
   */
  requireFacts(operation: string): StartupFacts {
    const facts = this.#facts()
    if (this.#phase === 'ready' && facts) return facts
    this.requireAlive(operation)
    throw new SDKError(`${operation} needs an initialized agent. Await initialize() first.`, 'NOT_INITIALIZED')
  }

  /** Runs all steps once; joins a run under way. A failure leaves the agent as it was before. */
  async initialize(context: Record<string, unknown>, signal: AbortSignal | undefined): Promise<void> {
    this.requireAlive('initialize()')
    if (this.#phase === 'ready' || this.#isAtGate()) return
    // The host's own parts, such as a store or a token function, may never answer.
    await this.#run.join(inner => untilAborted(this.#prepare(context, inner), inner), signal)
  }

  /** The deployment and the helper for its calls, from memory, cache or network. Works before initialization (OPS-08). */
  findDeployment(signal?: AbortSignal): Promise<Deployment> {
    return this.#find(signal)
  }

  /** Agent details, likewise. */
  meetAgent(signal?: AbortSignal): Promise<AgentDetails> {
    return this.#meet(signal)
  }

  /**
   * The person is to choose again: the agent is not ready until that is done.
   *
   * @param reconnects whether the chat is to be connected then
   * @returns throws code ABORTED once the agent is destroyed, or somebody has asked for the same later
   */
  reopen(reconnects: boolean): () => void {
    if (this.#phase === 'ready') this.#phase = 'choosing'
    this.#reconnects = reconnects
    const reopening = ++this.#reopenings
    return () => {
      this.requireAlive('The choice of a portal')
      if (reopening !== this.#reopenings) throw new SDKError('Another choice of a portal took its place.', 'ABORTED')
    }
  }

  /** Runs the choice anew, for the same context. The connector's platform stays connected. */
  async chooseAgain(signal: AbortSignal | undefined): Promise<void> {
    const facts = this.#facts()
    if (!facts || !this.#desk) throw new SDKError('There is nothing to choose from.', 'NOT_INITIALIZED')
    this.#phase = 'choosing'
    await this.#desk.choose(facts, this.#initialContext, this.#learn(facts, signal), signal)
  }

  /** Asks again for masking rules that could not be had. */
  async askForMissingRules(signal: AbortSignal | undefined): Promise<void> {
    const facts = this.#facts()
    if (facts && this.#lacksRules) await this.#learn(facts, signal)
  }

  /** Drops the answers of the service that are kept, and the person's choices. */
  async forgetPerson(): Promise<void> {
    this.#user = null
    this.#learning = undefined
    const { authentication, logger } = this.#options
    await this.#deployment?.api
      .clearUserCache(authentication.getCachedToken() ?? undefined)
      .catch(error => logger.error('Could not remove cached answers of the user from the cache adapter.', error))
    await this.#desk?.forget(this.#deployment?.deployment)
  }

  /** Back to the beginning, for another person: where the service is stays known. */
  reset(): void {
    if (this.#phase !== 'destroyed') this.#phase = 'idle'
    this.#agent = undefined
    // Not before: until here messages go straight on, and from here they wait for the next rules.
    this.#options.onMaskingSettled('none')
    this.#reconnects = false
    this.#choiceBegan = false
    this.#reopenings++
    this.#abort(new SDKError('initialize() was given up because of logout().', 'ABORTED'))
  }

  /** Ends what is under way; nothing can be started after it. */
  destroy(): void {
    this.#phase = 'destroyed'
    this.#learning = undefined
    this.#abort(destroyed('The operation'))
    this.#desk?.pipeline.destroy()
  }

  #abort(reason: SDKError): void {
    for (const task of [this.#run, this.#finding, this.#meeting]) task.abort(reason)
  }

  #facts(): StartupFacts | undefined {
    return this.#deployment && this.#agent ? { ...this.#deployment, agent: this.#agent } : undefined
  }

  #isAtGate(): boolean {
    const at = this.#desk?.pipeline.stage.at
    return this.#phase === 'choosing' && (at === 'portal' || at === 'agent' || at === 'profile' || at === 'working')
  }

  async #prepare(context: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const { openContext, onSignedIn, openSession, params } = this.#options
    await openContext(context)
    this.#initialContext = { ...this.#options.initialContext, ...context }
    // What the host's parameters tell already is fetched beside the rest.
    const early = params.platform !== undefined ? this.#openDesk().then(desk => desk.load(signal)) : undefined
    // Whoever fails first is told; the other must not go unhandled.
    early?.catch(() => {})
    const deployment = await this.#find(signal)
    const agent = await this.#meet(signal)
    await early
    this.#scopes = await this.#scopesFor(agent, signal)
    const { signIn } = await loadPreparation()
    const token = await signIn(agent, deployment.deployment, this.#scopes, this.#options, signal)
    // Aborted or destroyed meanwhile: what was asked for is not wanted any more.
    signal.throwIfAborted()
    onSignedIn(token)
    const facts = { ...deployment, agent }
    const learned = this.#learn(facts, signal)
    const choosing = needsPortal(agent, params)
    if (this.#desk?.hasConnector) {
      await learned
      await this.#desk.initPlatform(signal)
    }
    if (choosing) return this.#choose(facts, learned, signal)
    await Promise.all([openSession(signal), learned])
    signal.throwIfAborted()
    this.#ready()
  }

  async #choose(facts: StartupFacts, learned: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const desk = await this.#openDesk()
    signal.throwIfAborted()
    this.#phase = 'choosing'
    this.#choiceBegan = true
    try {
      await desk.choose(facts, this.#initialContext, learned, signal)
    } catch (error) {
      // A restart may have taken this run's place: then its own is under way, or about to begin.
      const { at } = desk.pipeline.stage
      if (this.#phase === 'choosing' && (at === 'failed' || at === 'idle')) this.#phase = 'idle'
      throw error
    }
  }

  #ready(): void {
    this.#phase = 'ready'
    this.#options.onReady()
  }

  async #openDesk(): Promise<Desk> {
    if (this.#desk) return this.#desk
    const { Desk } = await import('../contact-center/contact-center.ts')
    const { desk } = this.#options
    this.#desk ??= new Desk({
      ...desk,
      known: () => ({ ...this.#facts(), user: this.#user, scopes: this.#scopes }),
      gates: {
        ...desk.gates,
        onComplete: ({ agent }) => {
          if (this.#phase !== 'choosing') return
          const { moveContext, agentId } = this.#options
          // A store that takes its time writes in order, so nobody needs to wait for it.
          void moveContext(agent ? String(agent.agentId) : agentId)
          this.#ready()
        },
      },
    })
    return this.#desk
  }

  async #scopesFor(agent: AgentDetails, signal: AbortSignal): Promise<readonly string[]> {
    const { loginScopes, params } = this.#options
    const byHost = Boolean(loginScopes?.length) || params.scopes !== undefined
    const platformScopes = byHost ? undefined : await this.#desk?.addScopes(agent, signal)
    const { scopesFor } = await loadPreparation()
    return scopesFor(agent, this.#options, platformScopes)
  }

  /** Asks who is signed in and what is to be masked; a failure costs nothing but that knowledge. */
  async #learn(facts: StartupFacts, signal: AbortSignal | undefined): Promise<void> {
    const { masking, onMaskingSettled } = this.#options
    const learning = {}
    this.#learning = learning
    const { loadMasker } = await loadPreparation()
    const [user, rules] = await Promise.all([this.#meetPerson(facts, signal), loadMasker(facts, masking, signal)])
    if (this.#learning !== learning) return
    this.#user = user
    this.#lacksRules = rules === 'unknown'
    onMaskingSettled(rules)
  }

  /** Who is signed in, where the agent wants to know (FLOW-06). */
  async #meetPerson({ api, agent }: StartupFacts, signal: AbortSignal | undefined): Promise<UserDetails | null> {
    if (!agent.isAuthenticated) return null
    const isCustomer = usesPortalProfile(agent, this.#options.params)
    return (isCustomer ? api.getCustomerDetails({ signal }) : api.getUserDetails({ signal })).catch(() => null)
  }

  async #find(signal?: AbortSignal): Promise<Deployment> {
    this.requireAlive('getDeploymentInfo()')
    this.#deployment ??= await this.#finding.join(async inner => {
      const { findDeployment } = await loadPreparation()
      return findDeployment(this.#options, inner)
    }, signal)
    return this.#deployment
  }

  async #meet(signal?: AbortSignal): Promise<AgentDetails> {
    this.requireAlive('getAgentDetails()')
    this.#agent ??= await this.#meeting.join(async inner => {
      const deployment = await this.#find(inner)
      const { meetAgent } = await loadPreparation()
      return Object.freeze(await untilAborted(meetAgent(deployment, this.#options, inner), inner))
    }, signal)
    return this.#agent
  }
}

/** The calls of the service and what reads their answers: a chunk of its own, since a page shows first and talks later. */
function loadPreparation(): Promise<typeof import('./load-agent.ts')> {
  return import('./load-agent.ts')
}

function destroyed(operation: string): SDKError {
  return new SDKError(`${operation} is not possible: the agent was destroyed. Make a new AiAgent.`, 'ABORTED')
}

function chosenReadiness(outcome: PortalOutcome, configured: AgentDetails): AgentEventPayloadMap['initialized'] {
  const { agent, portal, portalDetails, profile, availableProfiles, availablePortals } = outcome
  return {
    agent: agent ?? configured,
    portal,
    availableProfiles,
    availablePortals,
    ...(portalDetails && { portalDetails }),
    ...(profile && { profile }),
  }
}
