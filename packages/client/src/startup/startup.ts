import type { AgentDetails } from '@aiagent/protocol'
import { abortedError, SDKError } from '../errors.ts'
import { untilAborted } from '../util/abort.ts'
import { JoinedTask } from '../util/joined-task.ts'
import {
  type Deployment,
  findDeployment,
  meetAgent,
  type PreparationOptions,
  scopesFor,
  signIn,
} from './prepare-agent.ts'
import type { StartupFacts } from './startup-facts.ts'

/*
 * The way to a ready agent. It owns the phase, and what was learned on the way.
 *
 *   idle ── initialize() ──► preparing ── all steps done ──► ready
 *    ▲                          │                              │
 *    ├──── failed, aborted ─────┘                              │
 *    └──────────────────────── reset() ────────────────────────┘          destroy() ──► destroyed
 *
 * A failed run leaves nothing behind but facts that stay true, so that the next one starts clean.
 */

type Phase = 'idle' | 'ready' | 'destroyed'

export interface StartupOptions extends PreparationOptions {
  /** Reads what an earlier page stored, and merges the context the conversation starts with. */
  openContext(context: Record<string, unknown>): Promise<void>
  /** There is a token that is good for the agent. */
  onSignedIn(token: string): void
  /** Makes sure of a session. */
  openSession(signal: AbortSignal): Promise<unknown>
  /** Everything is ready. */
  onReady(facts: StartupFacts): void
}

export class Startup {
  readonly #options: StartupOptions
  readonly #run = new JoinedTask<void>(signal => abortedError('initialize()', signal))
  readonly #finding = new JoinedTask<Deployment>(signal => abortedError('getDeploymentInfo()', signal))
  readonly #meeting = new JoinedTask<AgentDetails>(signal => abortedError('getAgentDetails()', signal))
  #phase: Phase = 'idle'
  #deployment: Deployment | undefined
  #agent: AgentDetails | undefined

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

  /**
   * What was learned.
   *
   * @throws {SDKError} code NOT_INITIALIZED before initialization has completed
   */
  requireFacts(operation: string): StartupFacts {
    if (this.#phase === 'ready' && this.#deployment && this.#agent) return { ...this.#deployment, agent: this.#agent }
    this.requireAlive(operation)
    throw new SDKError(`${operation} needs an initialized agent. Await initialize() first.`, 'NOT_INITIALIZED')
  }

  /** Runs all steps once; joins a run under way. A failure leaves the agent as it was before. */
  async initialize(context: Record<string, unknown>, signal: AbortSignal | undefined): Promise<void> {
    this.requireAlive('initialize()')
    if (this.#phase === 'ready') return
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

  /** Drops the answers of the service that are kept: they may be meant for one person only. */
  async forgetAnswers(): Promise<void> {
    await this.#deployment?.api.clearCache()
  }

  /** Back to the beginning, for another person: where the service is stays known. */
  reset(): void {
    if (this.#phase === 'ready') this.#phase = 'idle'
    this.#agent = undefined
    this.#abort(new SDKError('initialize() was given up because of logout().', 'ABORTED'))
  }

  /** Ends what is under way; nothing can be started after it. */
  destroy(): void {
    this.#phase = 'destroyed'
    this.#abort(destroyed('The operation'))
  }

  #abort(reason: SDKError): void {
    for (const task of [this.#run, this.#finding, this.#meeting]) task.abort(reason)
  }

  async #prepare(context: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const { openContext, onSignedIn, openSession, onReady } = this.#options
    await openContext(context)
    const deployment = await this.#find(signal)
    const agent = await this.#meet(signal)
    const scopes = scopesFor(agent, this.#options)
    const token = await signIn(agent, deployment.deployment, scopes, this.#options, signal)
    // Aborted or destroyed meanwhile: what was asked for is not wanted any more.
    signal.throwIfAborted()
    onSignedIn(token)
    await openSession(signal)
    signal.throwIfAborted()
    this.#phase = 'ready'
    onReady({ ...deployment, agent })
  }

  async #find(signal?: AbortSignal): Promise<Deployment> {
    this.requireAlive('getDeploymentInfo()')
    this.#deployment ??= await this.#finding.join(inner => findDeployment(this.#options, inner), signal)
    return this.#deployment
  }

  async #meet(signal?: AbortSignal): Promise<AgentDetails> {
    this.requireAlive('getAgentDetails()')
    this.#agent ??= await this.#meeting.join(async inner => {
      const deployment = await this.#find(inner)
      return Object.freeze(await untilAborted(meetAgent(deployment, this.#options, inner), inner))
    }, signal)
    return this.#agent
  }
}

function destroyed(operation: string): SDKError {
  return new SDKError(`${operation} is not possible: the agent was destroyed. Make a new AiAgent.`, 'ABORTED')
}
