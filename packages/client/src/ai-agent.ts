import type { AgentDetails, AgentListItem, DeploymentInfo, Portal, UserDetails, UserProfile } from '@aiagent/protocol'
import { assemble, type Parts } from './agent/build-agent.ts'
import { changeUserProfile, restartPortals } from './agent/portal-changes.ts'
import { release } from './agent/release.ts'
import { restartConversation } from './agent/restart-conversation.ts'
import { signOut } from './agent/sign-out.ts'
import type { ConnectionState } from './chat/connection-state.ts'
import { type AiAgentConfig, requireSessionId } from './config.ts'
import type { CallerInfo, CallTranscriptEntry } from './contact-center/connector/call-details.ts'
import type { ContextAttributes } from './conversation/context-store.ts'
import { createContextMessage } from './conversation/message-helpers.ts'
import type { MessageProcessor } from './conversation/message-processor.ts'
import type { TranscriptEntry, TranscriptOptions, TranscriptRow } from './conversation/transcript.ts'
import { abortedError } from './errors.ts'
import type { AgentEvents } from './events.ts'
import type { Logger } from './logger.ts'
import type { MaskingPreview } from './masking/masking.ts'
import type { SendOptions } from './outbox/compose.ts'
import type { Message, MessageObject } from './outbox/message.ts'
import type { AskOptions } from './outbox/turn-taking.ts'
import type { Environment } from './platform/environment.ts'
import { Subscribable } from './util/subscribable.ts'

/** An operation that can be given up. Aborting rejects the operation's promise with code ABORTED. */
export interface OperationOptions {
  /** Gives the operation up: it rejects with code ABORTED. */
  signal?: AbortSignal
}

/** What `initialize()` takes. */
export interface AiAgentInitializeOptions extends OperationOptions {
  /** Attributes the conversation starts with, merged over `config.context`. */
  context?: Record<string, unknown>
}

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
 * Every promise settles, also when the service refuses, never answers, or closes early.
 */
export class AiAgent extends Subscribable<AgentEvents> {
  readonly #parts: Parts

  /**
   * Checks the configuration and does nothing else yet.
   *
   * @param environment replaces parts of the platform, such as `fetch` or `WebSocket`
   * @throws {ConfigError} naming the first field that is missing or cannot be used
   * @throws {SDKError} code SESSION_ID_INVALID for a blank or placeholder `sessionId`
   * @throws {AuthError} reason `invalid_input` for an `auth` that is none of the accepted forms
   */
  constructor(config: AiAgentConfig, environment?: Partial<Environment>) {
    const parts = assemble(config, environment)
    super(parts.events)
    this.#parts = parts
  }

  /** The agent's logger: the configured one, or `AiAgent:<id>`. */
  get logger(): Logger {
    return this.#parts.logger
  }

  // ── Life ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Learns where the service is and what the agent is, obtains a token and a session, and emits `initialized`.
   *
   * Called again it joins the run under way, or returns at once when the agent is ready. After a failure it starts clean.
   *
   * @throws {ApiError} when a call fails; it names the call
   * @throws {AuthError} when no token can be had
   */
  initialize(options: AiAgentInitializeOptions = {}): Promise<void> {
    return this.#parts.startup.initialize(options.context ?? {}, options.signal)
  }

  /** Whether initialization is complete. */
  getIsInitialized(): boolean {
    return this.#parts.startup.isReady
  }

  /**
   * Opens the chat. Resolves once it is open and rejects when the attempt fails; the agent then goes on trying by itself
   * as `maxReconnectAttempts` allows. Joins an attempt in progress, and cuts the wait for the next one short.
   *
   * @throws {SDKError} code NOT_INITIALIZED before `initialize()`
   * @throws {ConnectionError} reason `refused`, `timeout`, `closed` or `no_address`
   */
  async connect(options: OperationOptions = {}): Promise<void> {
    this.#parts.startup.requireFacts('connect()')
    await this.#parts.chat.connect(options.signal)
  }

  /**
   * Leaves the chat: tells the service, closes, and cancels any reconnect. Messages that wait stay for the next
   * `connect()`. Does nothing where there is no connection.
   */
  disconnect(options: OperationOptions & { skipGracefulDisconnect?: boolean } = {}): Promise<void> {
    // A switch to another portal would connect again what the host leaves here.
    this.#parts.startup.takeReconnect()
    return this.#parts.chat.disconnect(options)
  }

  /**
   * Starts over in a new session, or in the given one: the old chat is left, queue and transcript are emptied, and the
   * stored context goes along. Where no new session can be had the old chat stays.
   *
   * @throws {SDKError} code NOT_INITIALIZED before `initialize()`; SESSION_ID_INVALID for an unusable id
   */
  async restartConnection(options: OperationOptions & { sessionId?: string | number } = {}): Promise<void> {
    this.#parts.startup.requireFacts('restartConnection()')
    const { sessionId, signal } = options
    const given = sessionId === undefined ? undefined : requireSessionId(sessionId, 'restartConnection({ sessionId })')
    await this.#parts.startup.askForMissingRules(signal)
    await restartConversation(this.#parts, given, signal)
  }

  /**
   * Leaves the chat without a word and releases every timer, listener and socket. What is under way, and every later call
   * that would do something, is rejected with code ABORTED.
   */
  destroy(): Promise<void> {
    return release(this.#parts)
  }

  // ── Messages ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Sends a message, or lets it wait for the connection, in order. Before `initialize()` it waits as well.
   *
   * @param data text of the person who talks to the agent, a message of a helper such as `createFeedbackMessage()`, or
   *   a `Message`
   * @returns the message's id, as soon as the message has been taken
   * @throws {MessageError} reason `invalid`, `encoding_failed`, `queue_full`, or `masking_unavailable` where
   *   `config.masking` requires it; the message has left no trace then
   * @throws {SDKError} code ABORTED when the signal is aborted already
   */
  async send(data: string | MessageObject | Message, options?: SendOptions & OperationOptions): Promise<string> {
    this.#parts.startup.requireAlive('send()')
    if (options?.signal?.aborted) throw abortedError('send()', options.signal)
    return this.#parts.outbox.send(data, options)
  }

  /** The text as masking would send it: for what the host shows or keeps itself. Without active rules, the text. */
  maskContent(text: string): string {
    return this.#parts.masking.mask(text)
  }

  /** What masking would replace in a text, by which rule, and where. */
  previewMasking(text: string): MaskingPreview {
    return this.#parts.masking.preview(text)
  }

  /**
   * Sends text as {@link send} does, and resolves with the agent's answer.
   *
   * The wire does not say which message an answer belongs to: the first of the agent after the question was written counts.
   * One question is out at a time, later ones wait for their turn. What the agent says unasked just then, in a second
   * message, or in late answer to a question given up, cannot be told from the answer; {@link messages} gives all of it.
   *
   * @throws {MessageError} reason `timeout`; `refused` when the service reports an error instead; `closed` when the chat or
   *   its session ends for good; `cleared` when it was dropped from the queue; the others as {@link send}
   * @throws {SDKError} code ABORTED when the signal is aborted, or the agent destroyed
   */
  async ask(text: string, options?: AskOptions): Promise<Message> {
    this.#parts.startup.requireAlive('ask()')
    return this.#parts.outbox.ask(text, options)
  }

  /**
   * What the agent says from now on, for `for await`. Goes on over reconnects and new sessions, and ends with the loop, the
   * signal, and {@link destroy}. What nobody has pulled yet is kept without limit: end what you do not read.
   */
  messages({ signal }: OperationOptions = {}): AsyncIterableIterator<Message> {
    this.#parts.startup.requireAlive('messages()')
    return this.#parts.streams.open(signal)
  }

  /** How many messages wait to be sent, questions that wait for their turn among them. */
  getQueueSize(): number {
    return this.#parts.outbox.size
  }

  /** Drops the messages that wait; each is told by an `error` event with its id, a question by its promise. */
  clearQueue(): void {
    this.#parts.outbox.clear()
  }

  /** Which handlers inbound messages go through. */
  getMessageProcessor(): MessageProcessor {
    return this.#parts.processor
  }

  /** What was said, in order; without options the same frozen list until something changes. */
  getTranscript(options?: TranscriptOptions): readonly TranscriptEntry[] {
    return this.#parts.transcript.get(options)
  }

  /** The same as plain data. */
  getTranscriptAsJSON(options?: TranscriptOptions): TranscriptRow[] {
    return this.#parts.transcript.toJSON(options)
  }

  /** How many entries the transcript holds. */
  getTranscriptSize(): number {
    return this.#parts.transcript.size
  }

  /** Forgets what was said in the chat. Emits nothing. */
  clearTranscript(): void {
    this.#parts.transcript.clear()
  }

  // ── Context ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Merges attributes into the conversation's context, by name. The next session starts with it; with
   * `sendImmediately` those that changed go to the present one at once.
   *
   * @param attributes plain values, or `{ value, type, description, notInLLM }`; one that is undefined is left out
   * @throws {MessageError} reason `invalid` when they cannot be written as JSON; `queue_full` with `sendImmediately`. The
   *   context is as it was then, so that the same call can be made again.
   */
  async setContext(attributes: Record<string, unknown>, options: { sendImmediately?: boolean } = {}): Promise<void> {
    this.#parts.startup.requireAlive('setContext()')
    const { context, outbox } = this.#parts
    // Sent before it is stored: a message that is refused leaves the context as it was (FLOW-07).
    context.update(attributes, changed => {
      if (options.sendImmediately) outbox.send(createContextMessage({ context: changed }))
    })
  }

  /** The context, or null where there is none; the same frozen object until it changes. */
  getContext(): ContextAttributes | null {
    return this.#parts.context.get()
  }

  /** Forgets the context, here and in the store. Sends nothing. */
  async removeContext(): Promise<void> {
    await this.#parts.context.remove()
  }

  /** The same as {@link removeContext}. */
  resetContext(): Promise<void> {
    return this.removeContext()
  }

  // ── Portals, agents, profiles ─────────────────────────────────────────────────────────────────────────────────────

  /**
   * Chooses a portal: when `portalsAvailable` asks for one, or after completion one of `availablePortals` to switch to,
   * which leaves the chat. Resolves at the next choice or at completion. Only the id counts.
   *
   * @throws {InitializationPipelineError} when a step fails, which leaves the choice open; INVALID_SELECTION for a portal
   *   that is not offered
   */
  async selectPortal(portal: Pick<Portal, 'id'>, options?: OperationOptions): Promise<void> {
    await this.#parts.startup.requirePipeline('selectPortal()').selectPortal(portal, options)
  }

  /** Chooses an agent when `agentsAvailable` asks for one, likewise. */
  async selectAgent(agent: Pick<AgentListItem, 'agentId'>, options?: OperationOptions): Promise<void> {
    await this.#parts.startup.requirePipeline('selectAgent()').selectAgent(agent, options)
  }

  /** Chooses a profile when `profilesAvailable` asks for one, likewise. */
  async selectUserProfile(profile: Pick<UserProfile, 'id'>, options?: OperationOptions): Promise<void> {
    await this.#parts.startup.requirePipeline('selectUserProfile()').selectUserProfile(profile, options)
  }

  /**
   * Takes another profile after completion: the service is told, a new session starts with it, `initialized` comes again.
   *
   * @throws {InitializationPipelineError} PROFILE_PERSIST_FAILED when the service does not take it; the chat stays then
   */
  updateUserProfile(profile: UserProfile, options: OperationOptions = {}): Promise<void> {
    return changeUserProfile(this.#parts, profile, options.signal)
  }

  /** Runs the choice of portal, agent and profile anew; without portals it is {@link restartConnection}. */
  restartPortalInitializer(options: OperationOptions = {}): Promise<void> {
    return restartPortals(this.#parts, options.signal)
  }

  /** @deprecated Use {@link restartPortalInitializer}. */
  restartCcHostInitializer(options: OperationOptions = {}): Promise<void> {
    this.#parts.warnOnce('restartCcHostInitializer() is deprecated. Use restartPortalInitializer().')
    return this.restartPortalInitializer(options)
  }

  // ── The call at the desk ──────────────────────────────────────────────────────────────────────────────────────────

  /** What was said in the call; the same frozen list until something is added. */
  getCallTranscript(): readonly CallTranscriptEntry[] {
    return this.#parts.calls.getTranscript()
  }

  /** Forgets what was said in the call, and tells so by `callTranscriptUpdate` without `entry`. */
  clearCallTranscript(): void {
    this.#parts.calls.clearTranscript()
  }

  /** Who calls, or null. */
  getCallerInfo(): Readonly<CallerInfo> | null {
    return this.#parts.calls.getCallerInfo()
  }

  /** The call's id at the desk's platform, or null. */
  getConversationId(): string | null {
    return this.#parts.calls.getConversationId()
  }

  // ── Facts ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Where the connection stands. */
  getState(): ConnectionState {
    return this.#parts.chat.state
  }

  /** Whether the chat is open. */
  isConnected(): boolean {
    return this.#parts.chat.isOpen
  }

  /** What the service says of the agent. Works before `initialize()`. */
  getAgentDetails(options: OperationOptions = {}): Promise<AgentDetails> {
    return this.#parts.startup.meetAgent(options.signal)
  }

  /** Where the deployment's services are. Works before `initialize()`. */
  async getDeploymentInfo(options: OperationOptions = {}): Promise<DeploymentInfo> {
    return (await this.#parts.startup.findDeployment(options.signal)).deployment
  }

  /** Who is signed in, as a user or a customer; null where nobody is, or the service does not say. */
  getUserDetails(): UserDetails | null {
    return this.#parts.startup.user
  }

  /**
   * Sets the language of names and lists for the REST calls from now on, as `fr-CA`. It goes before the agent's own, also
   * when set before `initialize()`; blank, null and undefined give the agent's own back.
   */
  setLanguage(code: string | null | undefined): void {
    this.#parts.startup.requireAlive('setLanguage()')
    this.#parts.language.choose(code)
  }

  /** All parameters of the host, well-known or not. */
  getInitParams(): Record<string, string> {
    return { ...this.#parts.config.initParams }
  }

  /** Older name of {@link getInitParams}. */
  getQueryParams(): Record<string, string> {
    return this.getInitParams()
  }

  // ── Token and session ─────────────────────────────────────────────────────────────────────────────────────────────

  /** The present access token, or null. */
  getAccessToken(): string | null {
    return this.#parts.authentication.getCachedToken()
  }

  /** Replaces the access token, on an open chat too. */
  async updateAccessToken(token: string): Promise<void> {
    this.#parts.startup.requireAlive('updateAccessToken()')
    await this.#parts.authentication.updateToken(token)
    this.#parts.chat.offerToken(token)
  }

  /**
   * Leaves the chat and signs the person out: by popup or by leaving the page, as they signed in. What the library keeps
   * of the person (token, context, answers of the service, transcript, waiting messages) is dropped; the host's own page
   * is not touched. `initialize()` may follow. The promise of a logout that leaves the page never settles.
   *
   * @throws {AuthError} when the identity provider cannot be reached
   */
  logout(): Promise<void> {
    return signOut(this.#parts)
  }

  /**
   * Sets the session for the next connection; an open one stays as it is.
   *
   * @throws {SDKError} code SESSION_ID_INVALID for a blank or placeholder id
   */
  setSessionId(sessionId: string | number): void {
    this.#parts.startup.requireAlive('setSessionId()')
    const id = requireSessionId(sessionId, 'setSessionId()')
    if (this.isConnected()) this.logger.warn('The new session id takes effect with the next connection.')
    this.#parts.session.supply(id)
  }
}
