import type { AgentDetails, AgentListItem, DeploymentInfo, Portal, UserDetails, UserProfile } from '@aiagent/protocol'
import { features } from '#features'
import type { AgentStatus } from './agent/agent-status.ts'
import type { Explanation } from './agent/explain.ts'
import { AgentLifecycle } from './agent/lifecycle.ts'
import type { AgentParts } from './agent/parts.ts'
import type { ConnectionState } from './chat/connection-state.ts'
import type { ContextAttributes } from './chat/context-store.ts'
import { requireAddress } from './check-config.ts'
import type { AiAgentConfig } from './config.ts'
import {
  type CallerInfo,
  type CallTranscriptEntry,
  NO_CALL_TRANSCRIPT,
  tellCallTranscript,
} from './contact-center/connector/call-details.ts'
import type { InitializationResult } from './contact-center/portal/gates.ts'
import type { MessageProcessor } from './conversation/handlers.ts'
import { createContextMessage } from './conversation/message-helpers.ts'
import { abortedError } from './errors.ts'
import type { AgentEvents } from './events.ts'
import type { Delivery } from './log/delivery.ts'
import type { TranscriptEntry, TranscriptOptions, TranscriptRow } from './log/entry.ts'
import type { Message, MessageObject, SendOptions } from './log/message.ts'
import type { Logger } from './logger.ts'
import type { MaskingPreview } from './masking/masking.ts'
import type { AskOptions } from './outbox/outbox.ts'
import { resolveEnvironment } from './platform/default-environment.ts'
import type { Environment } from './platform/environment.ts'
import { feature } from './platform/feature.ts'
import { AgentScope } from './scope.ts'
import { requireSessionId } from './session-id.ts'
import type { CacheConfig } from './storage/cache-adapter.ts'
import { Subscribable } from './util/event-emitter.ts'

/**
 * A conversation with one hosted AI agent.
 *
 * ```ts
 * const agent = new AiAgent({ id: 'help', endpoint: 'https://agents.example.com' })
 * agent.on('agentMessage', ({ payload }) => console.log(payload.message.content))
 * await agent.initialize()
 * await agent.connect()
 * await agent.send('How do I reset my router?')
 * ```
 *
 * Every promise settles, also when the service refuses, does not respond, or closes the connection.
 */
export class AiAgent extends Subscribable<AgentEvents> {
  readonly #parts: AgentParts
  readonly #lifecycle: AgentLifecycle

  /**
   * Checks the configuration. Sends no request.
   *
   * @param environment replaces parts of the platform, such as `fetch` or `WebSocket`
   * @throws {ConfigError} naming the first field that is missing or cannot be used
   * @throws {SDKError} code SESSION_ID_INVALID for a blank or placeholder `sessionId`
   * @throws {AuthError} reason `invalid_input` for an `auth` of an unsupported shape
   */
  constructor(config: AiAgentConfig, environment?: Partial<Environment>) {
    // An absent configuration is refused further down, with its error.
    const recorder = config?.recorder
    const resolved = resolveEnvironment(environment)
    const scope = new AgentScope(config, recorder ? recorder.wrap(resolved) : resolved)
    super(scope.events)
    this.#lifecycle = new AgentLifecycle(scope)
    this.#parts = this.#lifecycle.parts
    recorder?.attach(this)
  }

  /**
   * Removes what the library stored on this device for a deployment, without an agent and without signing in: tokens,
   * sessions, contexts, cached responses and choices in session and local storage. A custom cache adapter is left alone.
   *
   * @param endpoint address of the deployment, as in `AiAgentConfig`
   * @param options the prefixes of `AiAgentConfig.cache`, when there are any, and replacements of the platform
   * @throws {ConfigError} for an endpoint that is missing or cannot be used
   * @throws when the browser's database failed or did not answer within ten seconds: entries may remain
   */
  static async clearStoredData(
    endpoint: string,
    { cache, environment }: { cache?: CacheConfig; environment?: Partial<Environment> } = {},
  ): Promise<void> {
    const base = requireAddress({ endpoint })
    const resolved = resolveEnvironment(environment)
    const clearStored = await feature(resolved.clock, 'stored data', features.storedData)
    await clearStored(resolved, base, cache)
  }

  /** Makes a call. One that ends on request needs no handler: a host that calls `destroy()` may have dropped its promises. */
  #call<T>(work: () => Promise<T>): Promise<T> {
    const call = work().catch(error => {
      if (error?.code === 'ABORTED') call.catch(() => {})
      throw error
    })
    return call
  }

  /** The agent's logger: the configured one, or `AiAgent:<id>`. */
  get logger(): Logger {
    return this.#parts.scope.logger
  }

  // ── Lifecycle ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Loads the deployment and the agent, obtains a token and a session, and emits `initialized`. An agent with portals may
   * stop at a choice that the user must make.
   *
   * A second call joins the run in flight, or resolves at once. After a failure the next call starts clean. With
   * `retryInitialize` it is pending while the service cannot be reached; a further call then ends the wait for the next attempt, at most once
   * a second, and never a wait that the service has asked for.
   *
   * @returns `{ status: 'ready' }`, or `{ status: 'choose', gate, choices }` when a portal, an agent or a profile must be
   *   selected first
   * @throws {ApiError} when a request fails; the error names it
   * @throws {AuthError} when no token can be obtained
   * @throws {InitializationPipelineError} when the portal selection fails before the first choice
   */
  initialize(options: AiAgentInitializeOptions = {}): Promise<InitializationResult> {
    return this.#call(() => this.#lifecycle.initialize(options.context, options.signal, options.interactive))
  }

  /**
   * Where the agent is: its phase, its connection, whether it works on an answer, and when the next attempt is due. A frozen
   * object, the same one until a member changes. `phaseChanged`, `stateChanged` and `workingChanged` report each change.
   */
  get status(): AgentStatus {
    return this.#lifecycle.status
  }

  /** Whether initialization is complete: the phase of {@link status} is `ready`. */
  getIsInitialized(): boolean {
    return this.status.phase.at === 'ready'
  }

  /**
   * Opens the chat. Resolves when it is open and rejects when the attempt fails; the agent then continues to retry, up to
   * `maxReconnectAttempts`. Joins an attempt in flight, and ends the wait for the next one.
   *
   * @throws {SDKError} code NOT_INITIALIZED before `initialize()` has completed; the message names the missing step
   * @throws {ConnectionError} reason `refused`, `timeout`, `closed` or `no_address`
   */
  connect(options: OperationOptions = {}): Promise<void> {
    return this.#call(() => this.#lifecycle.connect(options.signal))
  }

  /**
   * Leaves the chat: says goodbye to the service, closes the connection, and cancels any reconnect. Queued messages are
   * kept for the next `connect()`. Does nothing without a connection.
   */
  disconnect(options: OperationOptions & { skipGracefulDisconnect?: boolean } = {}): Promise<void> {
    return this.#lifecycle.disconnect(options)
  }

  /**
   * Restarts the conversation in a new session, or in the given one: leaves the chat, empties queue and transcript, and
   * sends the stored context along. When no new session can be created, the chat stays as it is.
   *
   * @throws {SDKError} code NOT_INITIALIZED before `initialize()`; SESSION_ID_INVALID for an unusable id
   */
  restartConnection(options: OperationOptions & { sessionId?: string | number } = {}): Promise<void> {
    return this.#call(async () => {
      const { sessionId, signal } = options
      const given =
        sessionId === undefined ? undefined : requireSessionId(sessionId, 'The id given to restartConnection()')
      await this.#lifecycle.restartConversation(given, signal)
    })
  }

  /**
   * Closes the chat without a goodbye and releases every timer, listener and socket. Operations in flight, and later ones,
   * reject with code ABORTED. Call it in a process that goes on, or declare the agent with `await using`.
   */
  destroy(): Promise<void> {
    return this.#lifecycle.destroy()
  }

  /** As {@link destroy}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.destroy()
  }

  // ── Messages ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Sends a message, or queues it until the connection is open, in order. Before `initialize()` it is queued as well.
   *
   * @param data text of the user, a message of a helper such as `createFeedbackMessage()`, or a `Message`
   * @returns the message's id, as soon as the message is accepted
   * @throws {MessageError} reason `invalid`, `encoding_failed`, `queue_full`, or `masking_unavailable` with
   *   `masking.required`; the message is neither queued nor recorded then
   * @throws {SDKError} code ABORTED when the signal is aborted already, while `logout()` runs, and after `destroy()`
   */
  async send(data: string | MessageObject | Message, options?: SendOptions & OperationOptions): Promise<string> {
    this.#lifecycle.requireSendable('send()')
    if (options?.signal?.aborted) throw abortedError('send()', options.signal)
    const id = this.#parts.outbox.send(data, options)
    this.#parts.outbox.connectForMessage()
    return id
  }

  /** The text as masking would send it, for text that the host shows or stores itself. Unchanged without active rules. */
  maskContent(text: string): string {
    return this.#parts.masking.mask(text)
  }

  /** The parts of a text that masking would replace, with rule and position. */
  previewMasking(text: string): MaskingPreview {
    return this.#parts.masking.preview(text)
  }

  /**
   * Sends text as {@link send} does, and resolves with the agent's answer.
   *
   * The protocol does not link an answer to its question: the agent's first message after the question was sent counts as
   * its answer. Only one question is sent at a time, later ones wait. An unsolicited message, the second part of an answer
   * and a late answer cannot be told apart from the answer; {@link messages} returns all of them.
   *
   * @throws {MessageError} reason `timeout`; `refused` when the service reports an error instead; `closed` when the chat or
   *   its session ends, also by `logout()`; `cleared` when the question was dropped from the queue; otherwise as {@link send}
   * @throws {SDKError} code ABORTED when the signal is aborted, and by `destroy()`
   */
  ask(text: string, options?: AskOptions): Promise<Message> {
    return this.#call(async () => {
      this.#lifecycle.requireSendable('ask()')
      const answer = this.#parts.outbox.ask(text, options)
      this.#parts.outbox.connectForMessage()
      return answer
    })
  }

  /**
   * The agent's messages from now on, for `for await`. Continues over reconnects and new sessions, and ends with the loop,
   * the signal, and {@link destroy}. Unread messages are kept without limit until then, or until the user changes.
   */
  messages({ signal }: OperationOptions = {}): AsyncIterableIterator<Message> {
    this.#lifecycle.requireUsable('messages()')
    return this.#parts.openStream(signal)
  }

  /**
   * What became of a message that `send()` or `ask()` accepted: its state now, a promise of its outcome, and what can be
   * done about it. The last 1,000 settled messages are remembered, and up to 10,000 `unknown` ones, until the user
   * changes.
   *
   * @returns undefined for an unknown id
   */
  delivery(id: string): Delivery | undefined {
    return this.#parts.outbox.delivery(id)
  }

  /** Number of queued messages, including questions that wait for their turn. */
  getQueueSize(): number {
    return this.#parts.outbox.size
  }

  /** Drops all queued messages; each is reported by an `error` event with its id, a question by its promise. */
  clearQueue(): void {
    this.#parts.outbox.clear()
  }

  /** The handlers that inbound messages go through. */
  getMessageProcessor(): MessageProcessor {
    return this.#parts.processor
  }

  /** The transcript, in order. Without options it is the same frozen array until an entry changes. */
  getTranscript(options?: TranscriptOptions): readonly TranscriptEntry[] {
    return this.#parts.log.entries(options)
  }

  /** The transcript as plain objects, for storage or JSON. */
  getTranscriptAsJSON(options?: TranscriptOptions): TranscriptRow[] {
    return this.#parts.log.toJSON(options)
  }

  /** Number of entries in the transcript. */
  getTranscriptSize(): number {
    return this.#parts.log.size
  }

  /** Empties the transcript, and emits `transcriptCleared`. */
  clearTranscript(): void {
    this.#parts.log.clear()
  }

  /** With `tabs: 'share'`: tells the other tabs that the user has read everything. They emit `conversationRead`. */
  markRead(): void {
    this.#parts.group?.markRead()
  }

  // ── Context ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Merges attributes into the conversation's context, by name. The next session starts with the context; with
   * `sendImmediately` the changed attributes are sent to the current session too.
   *
   * @param attributes plain values, or `{ value, type, description, notInLLM }`; undefined ones are ignored
   * @throws {MessageError} reason `invalid` when they cannot be written as JSON; `queue_full` with `sendImmediately`. The
   *   context is unchanged then, so the call can be repeated.
   * @throws {SDKError} code ABORTED while `logout()` runs, and after `destroy()`
   */
  async setContext(attributes: Record<string, unknown>, options: { sendImmediately?: boolean } = {}): Promise<void> {
    this.#lifecycle.requireUsable('setContext()')
    const { context, outbox } = this.#parts
    // Sent before it is stored: a message that is refused leaves the context as it was (FLOW-07).
    context.update(attributes, changed => {
      if (options.sendImmediately) outbox.send(createContextMessage({ context: changed }))
    })
  }

  /** The context, or null; the same frozen object until it changes. */
  getContext(): ContextAttributes | null {
    return this.#parts.context.get()
  }

  /** Removes the context, in memory and in the store. Sends nothing. */
  async removeContext(): Promise<void> {
    await this.#parts.context.remove()
  }

  /** The same as {@link removeContext}. */
  resetContext(): Promise<void> {
    return this.removeContext()
  }

  // ── Portals, agents, profiles ─────────────────────────────────────────────────────────────────────────────────────

  /**
   * Selects a portal: after `portalsAvailable`, or after completion one of `availablePortals` to switch to, which leaves
   * the chat. Only the id is used.
   *
   * @returns the next choice, or `{ status: 'ready' }` at completion
   * @throws {InitializationPipelineError} when a step fails; the choice can be repeated then. INVALID_SELECTION for a portal
   *   that is not offered
   * @throws {SDKError} code ABORTED when a newer selection, a restart or `logout()` has replaced this one
   */
  selectPortal(portal: Pick<Portal, 'id'>, options?: OperationOptions): Promise<InitializationResult> {
    return this.#call(async () => this.#lifecycle.requirePipeline('selectPortal()').selectPortal(portal, options))
  }

  /** Selects an agent after `agentsAvailable`. Returns and throws as {@link selectPortal}. */
  selectAgent(agent: Pick<AgentListItem, 'agentId'>, options?: OperationOptions): Promise<InitializationResult> {
    return this.#call(async () => this.#lifecycle.requirePipeline('selectAgent()').selectAgent(agent, options))
  }

  /** Selects a profile after `profilesAvailable`. Returns and throws as {@link selectPortal}. */
  selectUserProfile(profile: Pick<UserProfile, 'id'>, options?: OperationOptions): Promise<InitializationResult> {
    return this.#call(async () =>
      this.#lifecycle.requirePipeline('selectUserProfile()').selectUserProfile(profile, options),
    )
  }

  /**
   * Selects another profile after completion: stores it at the service, starts a new session with it, and emits
   * `initialized` again.
   *
   * @throws {InitializationPipelineError} PROFILE_PERSIST_FAILED when the service refuses it; INVALID_SELECTION for a profile
   *   without an id; the chat stays as it is
   */
  updateUserProfile(profile: UserProfile, options: OperationOptions = {}): Promise<void> {
    return this.#call(() => this.#lifecycle.changeProfile(profile, options.signal))
  }

  /** Runs the selection of portal, agent and profile again; without portals it is {@link restartConnection}. */
  restartPortalInitializer(options: OperationOptions = {}): Promise<void> {
    return this.#call(() => this.#lifecycle.restartPortals(options.signal))
  }

  /** @deprecated Use {@link restartPortalInitializer}. */
  restartCcHostInitializer(options: OperationOptions = {}): Promise<void> {
    this.#parts.scope.warnOnce('restartCcHostInitializer() is deprecated. Use restartPortalInitializer().')
    return this.restartPortalInitializer(options)
  }

  // ── The call of the contact center ──────────────────────────────────────────────────────────────────────────────────────────

  /** The transcript of the call; the same frozen array until it changes. */
  getCallTranscript(): readonly CallTranscriptEntry[] {
    return this.#lifecycle.portals?.calls.getTranscript() ?? NO_CALL_TRANSCRIPT
  }

  /** Empties the transcript of the call, and emits `callTranscriptUpdate` without `entry`. */
  clearCallTranscript(): void {
    const { portals, parts } = this.#lifecycle
    if (portals) portals.calls.clearTranscript()
    else tellCallTranscript(parts.scope, NO_CALL_TRANSCRIPT)
  }

  /** The caller, or null. */
  getCallerInfo(): Readonly<CallerInfo> | null {
    return this.#lifecycle.portals?.calls.getCallerInfo() ?? null
  }

  /** The call's id at the contact center's platform, or null. */
  getConversationId(): string | null {
    return this.#lifecycle.portals?.calls.getConversationId() ?? null
  }

  // ── Facts ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The connection of {@link status}. */
  getState(): ConnectionState {
    return this.status.connection
  }

  /**
   * What the agent does or waits for at this moment: one plain sentence, and its cause for programs. For status lines, logs
   * and support. The texts load with the first call.
   *
   * @throws {SDKError} code MODULE_LOAD_FAILED when they cannot be loaded
   */
  async explain(): Promise<Explanation> {
    const { scope, outbox, chat, connection } = this.#parts
    const explain = await feature(scope.environment.clock, 'explain', features.explain)
    return explain({ scope, outbox, chat, connection, phase: this.status.phase })
  }

  /** Whether the chat is open: the connection of {@link status} is `CONNECTED`. */
  isConnected(): boolean {
    return this.status.connection === 'CONNECTED'
  }

  /** The details of the configured agent, loaded when needed. Works before `initialize()`. */
  getAgentDetails(options: OperationOptions = {}): Promise<AgentDetails> {
    return this.#call(async () => {
      this.#lifecycle.requireUsable('getAgentDetails()')
      return this.#parts.start.loadAgentDetails(options.signal)
    })
  }

  /** Where the deployment's services are, loaded when needed. Works before `initialize()`. */
  getDeploymentInfo(options: OperationOptions = {}): Promise<DeploymentInfo> {
    return this.#call(async () => {
      this.#lifecycle.requireUsable('getDeploymentInfo()')
      return (await this.#parts.start.loadDeployment(options.signal)).deployment
    })
  }

  /** The signed-in user or customer; null for an anonymous one, and when the service does not return it. */
  getUserDetails(): UserDetails | null {
    return this.#parts.scope.facts.user
  }

  /**
   * Sets the language of the REST calls, for example `fr-CA`. It takes precedence over the agent's own, also when set
   * before `initialize()`. A blank code, null and undefined restore the agent's own.
   */
  setLanguage(code: string | null | undefined): void {
    this.#lifecycle.requireUsable('setLanguage()')
    this.#parts.start.chooseLanguage(code)
  }

  /** A copy of `config.initParams`. */
  getInitParams(): Record<string, string> {
    return { ...this.#parts.scope.config.initParams }
  }

  /** Older name of {@link getInitParams}. */
  getQueryParams(): Record<string, string> {
    return this.getInitParams()
  }

  // ── Token and session ─────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * An access token that is valid now, renewed when necessary; null while the agent is not initialized. A signal also ends a
   * sign-in that the call waits for.
   *
   * @throws {AuthError} reason `token_missing` when the token has expired and cannot be renewed
   */
  getAccessToken({ signal }: OperationOptions = {}): Promise<string | null> {
    return this.#call(async () => {
      const { authentication } = this.#parts
      if (!this.#lifecycle.isStarted || !authentication.getIsInitialized()) return null
      return authentication
        .cancellable(signal, () => authentication.getToken())
        .catch(error => Promise.reject(signal?.aborted ? abortedError('getAccessToken()', signal) : error))
    })
  }

  /**
   * Replaces the access token, on an open chat too. A token of another user first removes everything of the previous one:
   * the chat is left, `userChanged` is emitted, and `initialize()` has to be called again.
   *
   * @throws {AuthError} reason `invalid_input` for a blank token
   * @throws {SDKError} code ABORTED while `logout()` runs, and after `destroy()`
   */
  updateAccessToken(token: string, options: UpdateAccessTokenOptions = {}): Promise<void> {
    return this.#call(() => this.#lifecycle.updateToken(token, options))
  }

  /**
   * Leaves the chat and signs the user out, by popup or by redirect as they signed in. Everything of the user is removed
   * before the provider is asked, whatever it answers: token, session, context, transcript, queued messages, call, cached
   * responses and choices. Works before `initialize()`. `initialize()` may follow. While it runs, every operation that would
   * send or set something rejects with ABORTED. The promise of a redirect logout never settles.
   *
   * @throws {AuthError} when the sign-out at the identity provider fails; the user's data is removed nevertheless
   */
  logout(): Promise<void> {
    return this.#call(() => this.#lifecycle.signOut())
  }

  /**
   * The host's data of the session, as {@link setSessionData} stored it on this page or before a reload. Undefined without
   * `resume`, without data, and before `initialize()` has completed.
   */
  async getSessionData(): Promise<unknown> {
    return this.#parts.resume?.(part => part.getData())
  }

  /**
   * Stores data of the host beside the session, so that it comes back with the conversation after a reload: with `resume`, in the
   * same store. It is removed with the session: by a restart, `logout()`, a change of the user and `clearStoredData()`. Where the
   * service has forgotten the session after a reload, the data stays with the one that replaces it. Does nothing without
   * `resume`, and before `initialize()` has completed. A store that fails is a warning in the log.
   *
   * @param data a value that JSON can hold; `undefined` removes it
   */
  async setSessionData(data: unknown): Promise<void> {
    await this.#parts.resume?.(part => part.setData(data))
  }

  /**
   * Id of the session: of the open chat, else of the next connection. It stays the same over reconnects, `disconnect()` and, with
   * `resume` or `tabs`, in the next page and in the other tabs.
   *
   * @returns null while there is none: before `initialize()` unless the host has supplied one, and after `logout()` and a change of
   *   the user. After `destroy()` the last one.
   */
  getSessionId(): string | null {
    return this.#parts.scope.facts.sessionId ?? null
  }

  /**
   * Sets the session for the next connection; an open one stays as it is.
   *
   * @throws {SDKError} code SESSION_ID_INVALID for a blank or placeholder id
   */
  setSessionId(sessionId: string | number): void {
    this.#lifecycle.requireUsable('setSessionId()')
    const id = requireSessionId(sessionId, 'The id given to setSessionId()')
    if (this.isConnected()) this.logger.warn('The new session id takes effect with the next connection.')
    this.#parts.session.supply(id)
  }
}

/** Options of an operation that can be aborted. */
export interface OperationOptions {
  /** Aborts the operation, which rejects with code ABORTED. */
  signal?: AbortSignal
}

/** Options of `updateAccessToken()`. */
export interface UpdateAccessTokenOptions {
  /**
   * Whether the token belongs to another user. Needed only when the library cannot read issuer and subject from it.
   *
   * @default false
   */
  userChanged?: boolean
}

/** Options of `initialize()`. */
export interface AiAgentInitializeOptions extends OperationOptions {
  /** Initial context of the conversation, merged over `config.context`. */
  context?: Record<string, unknown>
  /**
   * Whether the user may be asked to sign in, in a popup or by leaving the page. With false, a call that needs it rejects with
   * an `AuthError`, reason `interaction_required`; call again with true within a click.
   *
   * @default true
   */
  interactive?: boolean
}
