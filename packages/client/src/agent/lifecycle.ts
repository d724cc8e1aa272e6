import type { UserProfile } from '@aiagent/protocol'
import { features } from '#features'
import { type InitializationResult, needsPortal } from '../contact-center/portal/gates.ts'
import type { PortalPipeline } from '../contact-center/portal/portal-pipeline.ts'
import { abortedError, notInitialized, SDKError } from '../errors.ts'
import type { LoadedAgent } from '../facts.ts'
import { feature } from '../platform/feature.ts'
import type { AgentScope, SignOutCause } from '../scope.ts'
import { hasDatabase } from '../storage/cache-adapter.ts'
import { JoinedTask } from '../util/joined-task.ts'
import {
  type AgentPhase,
  type AgentStatus,
  destroyedError,
  type Leaving,
  type LifecycleOwner,
  type PendingChoice,
  READY,
  type State,
} from './agent-status.ts'
import { isTemporary, repeatInitialize } from './initialize-retry.ts'
import { AgentParts } from './parts.ts'
import type { PortalLifecycle } from './portal-lifecycle.ts'
import { preload } from './preload.ts'

const INITIALIZE_ABORTED = (signal: AbortSignal) => abortedError('initialize()', signal)

/** Owns the state of the agent. Every change of it is one of the methods below. */
export class AgentLifecycle implements LifecycleOwner {
  readonly parts: AgentParts
  readonly #run = new JoinedTask<InitializationResult>(INITIALIZE_ABORTED)
  #state: State = { at: 'idle' }
  /** The attributes that the host gave `initialize()`. */
  #given: Readonly<Record<string, unknown>> | undefined
  /** Once the contact center is used. */
  portals: PortalLifecycle | undefined
  /** The status that was read last, and what it was made of. */
  #known: { readonly status: AgentStatus; readonly facts: readonly unknown[] } | undefined

  constructor(scope: AgentScope) {
    this.parts = new AgentParts(scope, () => this.handleUserChange())
  }

  get state(): State {
    return this.#state
  }

  /** The attributes that the host starts the conversation with. */
  get #initialContext(): Readonly<Record<string, unknown>> {
    return { ...this.parts.scope.config.context, ...this.#given }
  }

  get isReady(): boolean {
    return this.#state.at === 'ready'
  }

  /** Whether `initialize()` runs or has completed. */
  get isStarted(): boolean {
    return this.#state.at !== 'idle'
  }

  /** What the host sees of the parts that own it: the status that was read last, until a member changes. */
  get status(): AgentStatus {
    const { scope, working } = this.parts
    const { state: connection, retryAt: dueAt } = scope.status
    const { isWorking } = working
    const phase = this.#describePhase()
    const { error, choice } = phase as { error?: unknown; choice?: PendingChoice }
    // A list of choices belongs to one gate of one run.
    const facts = [phase.at, error, choice?.choices, connection, isWorking, dueAt]
    if (this.#known?.facts.every((fact, index) => fact === facts[index])) return this.#known.status
    const { clock } = scope.environment
    const retryAt = dueAt === undefined ? undefined : Math.round(clock.now() + dueAt - clock.monotonic())
    const status = Object.freeze({ phase, connection, working: isWorking, retryAt })
    this.#known = { status, facts }
    return status
  }

  #describePhase(): AgentPhase {
    const state = this.#state
    if (state.at === 'idle')
      return Object.freeze('error' in state ? { at: 'idle', error: state.error } : { at: 'idle' })
    const choice = state.at === 'choosing' && this.portals?.choice
    return Object.freeze(choice ? { at: 'choosing', choice } : { at: state.at })
  }

  // ── Guards ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** @throws {SDKError} code ABORTED after `destroy()` and while the user is being signed out */
  requireUsable(operation: string): void {
    if (this.#state.at === 'destroyed') throw destroyedError(operation)
    if (this.#state.at === 'leaving')
      throw new SDKError(
        `${operation} is not possible while the data of the user is being removed. ${this.#state.next}`,
        'ABORTED',
      )
  }

  /**
   * As {@link requireUsable}. At a gate it logs what the message waits for.
   *
   * @throws {SDKError} code ABORTED after `destroy()` and while the user is being signed out
   */
  requireSendable(operation: string): void {
    this.requireUsable(operation)
    if (this.#state.at === 'choosing')
      this.parts.scope.warnOnce(`${operation}: the message waits. ${this.#missingStep()}`)
  }

  /** @throws {SDKError} code NOT_INITIALIZED, with the step that is missing; ABORTED as {@link requireUsable} */
  requireReady(operation: string): LoadedAgent {
    this.requireUsable(operation)
    const { loaded } = this.parts.scope.facts
    if (this.#state.at === 'ready' && loaded) return loaded
    throw notInitialized(`${operation} is not possible yet`, `. ${this.#missingStep()}`)
  }

  /**
   * The selection of portal, agent and profile.
   *
   * @throws {SDKError} code NOT_INITIALIZED when there is nothing to select; ABORTED as {@link requireUsable}
   */
  requirePipeline(operation: string): PortalPipeline {
    this.requireUsable(operation)
    const pipeline = this.portals?.pipeline
    if (pipeline && pipeline.stage.at !== 'idle') return pipeline
    throw notInitialized(`${operation} has nothing to select`, ', or has no portals.')
  }

  /** The step that is missing until the agent is ready, with the method to call. */
  #missingStep(): string {
    const { at } = this.#state
    if (at === 'preparing') return 'initialize() is still running. Await it first.'
    return (at === 'choosing' && this.portals?.missingStep()) || 'Await initialize() first.'
  }

  // ── Start ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Runs all steps once; joins a run in flight. After a failure the next run starts clean. */
  async initialize(
    context: Readonly<Record<string, unknown>> | undefined,
    signal: AbortSignal | undefined,
    isInteractive = true,
  ): Promise<InitializationResult> {
    this.requireUsable('initialize()')
    if (this.#state.at === 'ready') return READY
    if (this.#state.at === 'choosing' && this.portals)
      return (await this.portals.gate(this.#state, signal)) ?? this.initialize(context, signal, isInteractive)
    // Joining a run may allow what it was not allowed before, and not the reverse.
    const { status } = this.parts.scope
    status.retry?.hurry()
    status.isInteractive = isInteractive || (this.#state.at === 'preparing' && status.isInteractive !== false)
    return this.#run.join(inner => this.#start(context, inner), signal)
  }

  async #start(
    context: Readonly<Record<string, unknown>> | undefined,
    signal: AbortSignal,
  ): Promise<InitializationResult> {
    const preparing: State = { at: 'preparing' }
    this.become(preparing)
    try {
      await this.#prepare(context, signal)
      if (!this.parts.scope.config.retryInitialize) return await this.#load(signal)
      const attempt = () => {
        // A portal selection that failed has left this state.
        this.become(preparing)
        return this.#load(signal)
      }
      return await repeatInitialize(this.parts, attempt, signal)
    } catch (error) {
      if (!signal.aborted) this.#logFailure(error)
      if (this.#state === preparing) this.become({ at: 'idle', error })
      throw error
    } finally {
      // Later calls follow an action of the user, or need a token in a running chat.
      this.parts.scope.status.isInteractive = true
    }
  }

  /** Logs a failed start for the developer: a user interface shows only what its user can do, and drops the error. */
  #logFailure(error: unknown): void {
    const { scope } = this.parts
    const { code, message = error } = Object(error) as Partial<SDKError>
    if (code === 'ABORTED' || scope.hasReported(error)) return
    const remedy = !scope.config.retryInitialize && isTemporary(error) ? ' Call it again, or set retryInitialize.' : ''
    scope.logger.warn(`initialize() failed: ${message}${remedy}`, { code })
  }

  async #prepare(given: Readonly<Record<string, unknown>> | undefined, signal: AbortSignal): Promise<void> {
    const { scope, context, contextRestored } = this.parts
    // Used after several REST calls, which it must not delay.
    const { resume, tabs, sessionId } = scope.config
    if ((resume || tabs) && sessionId === undefined) preload({ resume: true }).catch(() => {})
    await contextRestored
    signal.throwIfAborted()
    // A copy: later changes by the host have no effect.
    this.#given = given && { ...given }
    context.merge(scope.config.context)
    if (given) context.merge(given)
  }

  async #load(signal: AbortSignal): Promise<InitializationResult> {
    const { scope, start, authentication, session, outbox } = this.parts
    authentication.watchExpiry(true)
    // A failure leaves it to the next start.
    void this.#sweepQueues().catch(() => {})
    const { loaded, user } = await start.prepare(() => this.#openPortals(), signal)
    if (needsPortal(loaded.agent, scope.params)) {
      const portals = await this.#openPortals()
      signal.throwIfAborted()
      return portals.select(loaded, this.#initialContext, user, signal)
    }
    await Promise.all([session.require(signal), user, outbox.ledger.restore()])
    signal.throwIfAborted()
    this.becomeReady(false)
    return READY
  }

  /** Removes expired queues from the page's database, also where the host stores none any more. */
  async #sweepQueues(): Promise<void> {
    const { environment } = this.parts.scope
    const window = environment.page?.window
    if (window && (await hasDatabase(window))) await (await features.persistQueue()).sweepQueues(environment, window)
  }

  /** Everything is known and selected. `reconnect` connects the chat, as `autoConnect` does. */
  becomeReady(reconnect: boolean): void {
    const { scope, outbox, chat } = this.parts
    this.become({ at: 'ready' })
    outbox.release()
    // Only now: a message that a listener sends must not overtake those that waited.
    this.#emitPhase()
    this.#reportInitialized()
    // A listener may have ended or restarted the agent.
    if ((scope.config.autoConnect || reconnect) && this.isReady)
      chat.connect().catch(error => scope.logger.debug('A connection in the background failed.', { error }))
    else outbox.connectForMessage(true)
  }

  #reportInitialized(): void {
    const { scope } = this.parts
    scope.emit('initialized', () => scope.facts.describeAgent())
  }

  // ── Portals ───────────────────────────────────────────────────────────────────────────────────────────────────────

  async #openPortals(): Promise<PortalLifecycle> {
    const PortalLifecycle = await feature(this.parts.scope.environment.clock, 'contact center', features.contactCenter)
    this.portals ??= new PortalLifecycle(this.parts, this)
    return this.portals
  }

  /** Runs the selection again; an agent without portals restarts its conversation (FLOW-21). */
  async restartPortals(signal: AbortSignal | undefined): Promise<void> {
    this.requireUsable('restartPortalInitializer()')
    const portals = this.portals
    const { loaded } = this.parts.scope.facts
    if (portals?.hasSelection && loaded) return portals.restart(loaded, this.#initialContext, signal)
    this.requireReady('restartPortalInitializer()')
    return this.restartConversation(undefined, signal)
  }

  /** Selects another profile after completion, and starts a new session with it (FLOW-15). */
  async changeProfile(profile: UserProfile, signal: AbortSignal | undefined): Promise<void> {
    this.requireReady('updateUserProfile()')
    this.requirePipeline('updateUserProfile()')
    await this.portals?.changeProfile(profile, signal)
    await this.restartConversation(undefined, signal)
    this.#reportInitialized()
  }

  // ── Chat ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Opens the chat of a ready agent. */
  async connect(signal: AbortSignal | undefined): Promise<void> {
    this.requireReady('connect()')
    await this.parts.chat.connect(signal)
  }

  /** Leaves the chat. */
  disconnect(options: { skipGracefulDisconnect?: boolean; signal?: AbortSignal }): Promise<void> {
    // Otherwise a portal switch in flight would connect it again.
    if (this.#state.at === 'choosing') this.#state.reconnect = false
    const { scope, chat, authentication } = this.parts
    const left = chat.disconnect(options)
    if (scope.config.retryInitialize)
      this.#run.abort(new SDKError('initialize() was cancelled by disconnect().', 'ABORTED'))
    authentication.watchExpiry(false)
    return left
  }

  /**
   * Moves the conversation to a new session, or to the given one. A failure is reported by an `error` event as well,
   * since it concerns the whole chat.
   */
  async restartConversation(sessionId: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    const loaded = this.requireReady('restartConnection()')
    await this.parts.start.retryMissingRules(loaded, signal)
    this.requireReady('restartConnection()')
    try {
      await this.parts.chat.restart({ sessionId, signal, reset: () => this.parts.dropConversation() })
    } catch (error) {
      if (error instanceof SDKError && error.code !== 'ABORTED') this.parts.scope.reportError(error)
      throw error
    }
  }

  // ── End ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Signs the user out. Everything in memory is discarded, the removal of stored data and the goodbye are started, and
   * the window of a popup logout is opened before this returns (AUTH-20, AUTH-23, SEC-15).
   */
  signOut(): Promise<void> {
    const { authentication, chat } = this.parts
    const state = this.#state
    if (state.at !== 'leaving')
      return this.#leave('logout', 'Await logout() first.', after => authentication.logout({ after }))
    if (state.cause === 'user' && !state.signedOut) {
      // The next user, whose token waits for the removal, is not to be signed in.
      state.signedOut = authentication.logout({ after: chat.disconnect().catch(() => {}) })
      state.signedOut.catch(() => {})
    }
    return state.done
  }

  /** Enters `leaving` until the user's data is gone and `signOut` has settled. */
  async #leave(cause: SignOutCause, next: string, signOut: (left: Promise<void>) => Promise<void>): Promise<void> {
    this.requireUsable('logout()')
    let settle: (done: Promise<void>) => void = () => {}
    // Set before listeners are called: one of them may call logout() too, which joins this one.
    const done = new Promise<void>(resolve => {
      settle = resolve
    })
    const leaving: Leaving = { at: 'leaving', cause, done, next }
    this.become(leaving)
    settle(this.#removeUser(leaving, signOut))
    return done
  }

  async #removeUser(leaving: Leaving, signOut: (left: Promise<void>) => Promise<void>): Promise<void> {
    const { start, scope, chat } = this.parts
    const { cause } = leaving
    const ended = cause === 'logout' ? 'logout()' : 'a change of the user'
    const reason = new SDKError(`The operation was cancelled by ${ended}.`, 'ABORTED')
    try {
      this.#run.abort(reason)
      start.abort(reason)
      const left = Promise.allSettled([chat.disconnect(), scope.forgetUser(cause)]).then(() => {})
      const signedOut = signOut(left)
      // Handled once the chat has been left.
      signedOut.catch(() => {})
      await left
      await signedOut
      await leaving.signedOut
    } finally {
      if (this.#state === leaving) this.become({ at: 'idle' })
    }
    // Emitted in the same task as the next phase, so that a listener can tell it from a logout.
    if (cause === 'user') scope.emit('userChanged', () => ({}))
  }

  /**
   * Removes everything of the previous user, before the token of another one is used (SEC-16). The agent must be
   * initialized again.
   */
  async handleUserChange(): Promise<void> {
    // The data is being removed already.
    if (this.#state.at === 'leaving' || this.#state.at === 'destroyed') return
    await this.#leave('user', 'Wait for `userChanged`, then call initialize().', left => left)
  }

  /** Ends the agent without a goodbye. `closed` is its last event if the chat is open, otherwise `phaseChanged`. */
  async destroy(): Promise<void> {
    const { start, scope, outbox, streams, resume, chat, inbox, recovery, authentication } = this.parts
    this.become({ at: 'destroyed' })
    const reason = destroyedError('The operation')
    this.#run.abort(reason)
    start.abort(reason)
    this.portals?.pipeline.destroy()
    // First, for an agent that is created right after this call.
    const released = resume?.(part => part.release())
    const stored = outbox.destroy(new SDKError('ask() was cancelled by destroy().', 'ABORTED'))
    streams?.end()
    const left = chat.disconnect({ skipGracefulDisconnect: true })
    // A listener may have called this, while the other events of a frame are still to come.
    scope.events.removeAllListeners()
    await left
    inbox.clear()
    recovery.clear()
    // A strategy of the host may fail here; the rest is released nevertheless.
    await authentication
      .cleanup(reason)
      .catch(error => scope.logger.warn('The authentication could not be cleaned up.', { error }))
    await Promise.all([released, stored])
  }

  /** Replaces the access token, on an open chat too. */
  async updateToken(token: string, options: { userChanged?: boolean | undefined }): Promise<void> {
    this.requireUsable('updateAccessToken()')
    const { authentication, chat } = this.parts
    await authentication.updateToken(token, options)
    // A later call may have replaced it meanwhile, and sent its own.
    const inUse = authentication.getCachedToken()
    if (inUse !== null) chat.offerToken(inUse)
  }

  /** Changes the state, and reports the new phase. */
  become(state: State): void {
    const isChange = this.#state.at !== state.at
    this.#state = state
    const { status } = this.parts.scope
    status.isReady = state.at === 'ready'
    status.isStarted = state.at !== 'idle'
    status.isLeaving = state.at === 'leaving'
    if (isChange && state.at !== 'ready') this.#emitPhase()
  }

  #emitPhase(): void {
    this.parts.scope.emit('phaseChanged', () => this.#describePhase())
  }
}
