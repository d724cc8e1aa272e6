import { addMessageId, encodeMessage, isSessionRefusal, PERSONA, ROLE } from '@aiagent/protocol'
import { ApiError, abortedError, ConnectionError, SDKError } from '../errors.ts'
import { type MessageLog, recordOwnFrame } from '../log/message-log.ts'
import type { OptionalFeature } from '../platform/feature.ts'
import { getAiAgentSession, getPreviousTranscript } from '../rest/core-calls.ts'
import type { AgentScope } from '../scope.ts'
import { withTimeLimit } from '../util/abort.ts'
import { JoinedTask } from '../util/joined-task.ts'
import { type ContextAttributes, type ContextStore, withPortalAttribute } from './context-store.ts'
import type { Transport } from './transport.ts'

const REQUEST_ABORTED = (signal: AbortSignal) => abortedError('The request for a session', signal)

/** An attempt to open the chat, and the connection that it leads to. The session creates it; every other part only reads it. */
export interface Opening {
  readonly sessionId: string
  /** Whether this page has had the chat open in the session before. */
  readonly isReopening: boolean
  /** Number of the attempt in the session, from 1. */
  readonly number: number
  /** Whether this page has created the session. */
  readonly isCreated: boolean
  /** Whether the session has no messages from before this page. */
  readonly isOwn: boolean
  /** Whether this page has everything that was said in the session before its first attempt. */
  readonly isRestored: boolean
  /** Whether the host supplied the session: then it may have earlier messages. */
  readonly isSupplied: boolean
}

/** A session saved by the previous page. */
export interface SavedSession {
  readonly id: string
  /** Whether it still needs the current context. */
  readonly needsContext: boolean
  /** Whether its history is empty; undefined where the history could not be loaded. */
  readonly isEmpty: boolean | undefined
}

/** A session that the service has created for this page. */
export interface CreatedSession {
  readonly id: string
  /** The context that it was created with. */
  readonly context: ContextAttributes | null
}

/** Stores the session for the next page, if the host configures it. */
export interface SessionKeeper {
  /** The session saved by the previous page. */
  load(signal: AbortSignal): Promise<SavedSession | undefined>
  /**
   * Saves the session id for the next page; `undefined` clears it.
   *
   * @param isForgotten true if the service no longer knows the session: the host's data then stays for the next one
   */
  keep(id: string | undefined, isForgotten?: boolean): void
  /** Another page has opened the session: its history belongs into the transcript. */
  join(id: string): void
}

/** Time limit for a history, in milliseconds. */
const HISTORY_LIMIT_MS = 4_000

/** After so many attempts in a row that failed without a status, the service may have forgotten the session. */
const DOUBTFUL_FAILURES = 2

/*
 * The session of the conversation. It owns the id: supplied by the host, saved by the previous page, or requested from the
 * service when first needed, and dropped when the service no longer knows it. It creates the openings, and reads the history,
 * once for each of them. A session that was not created with the stored context gets it with each opening, until the service
 * has it.
 */
export class ChatSession {
  readonly #scope: AgentScope<never>
  readonly #context: Pick<ContextStore, 'get'>
  readonly #log: MessageLog
  readonly #keeper: OptionalFeature<SessionKeeper> | undefined
  readonly #creation = new JoinedTask<string>(REQUEST_ABORTED)
  /**
   * By the opening, so that a history that was requested before an opening is never taken for one of that opening. Created with the
   * first history.
   */
  #readings: JoinedTask<unknown[]> | undefined
  /** The session of the next opening. */
  #id: string | undefined
  /** The last opening: the host may have set another session for the next. */
  #opening: Opening | undefined
  /** The last one that led to an open chat. */
  #opened: Opening | undefined
  #isOpen = false
  /** A session that the host supplied was not created with our context. */
  #needsContext: boolean
  /** The context as it was written last, while the service has not confirmed it. */
  #unconfirmed: { readonly frame: string; readonly id: string } | undefined
  /** Attempts in a row that failed so that the service may have forgotten the session. */
  #doubtfulFailures = 0
  /**
   * `created`: by this page. `empty`: saved by the previous page, and nothing was said in it. Every message in these two is one of
   * this page. `restored`: saved by the previous page, and its history is in the transcript. `unread`: saved by the previous page,
   * and its history could not be loaded. `supplied`: by the host, so that it may have earlier messages.
   */
  #origin: 'created' | 'empty' | 'restored' | 'unread' | 'supplied' | undefined
  /** Whether the history can be read in the session of the last opening: it was. */
  #isReadable = false

  /** @param keeper stores the session for the next page */
  constructor(
    scope: AgentScope<never>,
    context: Pick<ContextStore, 'get'>,
    log: MessageLog,
    keeper?: OptionalFeature<SessionKeeper>,
  ) {
    this.#scope = scope
    this.#context = context
    this.#log = log
    this.#keeper = keeper
    this.#id = scope.facts.sessionId = scope.config.sessionId
    this.#needsContext = this.#id !== undefined
    this.#origin = this.#needsContext ? 'supplied' : undefined
  }

  get id(): string | undefined {
    return this.#id
  }

  /** The current id, otherwise that of the previous page, otherwise a new session's. */
  async require(signal?: AbortSignal): Promise<string> {
    return (
      this.#id ??
      this.#creation.join(async inner => {
        const saved = await this.#keeper?.(part => part.load(inner))
        inner.throwIfAborted()
        // The host may have supplied one in the meantime, which takes precedence.
        if (saved) return this.#id ?? this.#useSaved(saved)
        const created = await this.create(inner)
        // The user may have changed: a session of the earlier one is not used.
        inner.throwIfAborted()
        return this.#id ?? this.adopt(created)
      }, signal)
    )
  }

  /**
   * Creates a session at the service, with the context and the selected portal, without using it yet, so that a failure keeps
   * the current one.
   */
  async create(signal: AbortSignal): Promise<CreatedSession> {
    const { facts } = this.#scope
    const attributes = this.#context.get()
    const portal = facts.selection?.portal
    const context = portal ? withPortalAttribute(attributes ?? {}, portal.id) : attributes && { ...attributes }
    const { agentId } = facts
    const id = await facts.api.call(getAiAgentSession, { agentId, ...(context && { context }), signal })
    return { id, context: attributes }
  }

  /** Uses a session that was created for this client. */
  adopt({ id, context }: CreatedSession): string {
    this.#setId(id, 'created')
    // The host may have changed it while the session was requested.
    this.#needsContext = context !== this.#context.get()
    return id
  }

  /** Uses a session that another page has created, and may have opened. */
  join(id: string): void {
    this.#setId(id)
    this.#needsContext = false
    void this.#keeper?.(part => part.join(id))
  }

  /** Uses a session that the host supplies. */
  supply(id: string): void {
    this.#setId(id, 'supplied')
    this.#needsContext = true
  }

  /**
   * Drops a session, unless another one is in use.
   *
   * @param isForgotten true if the service no longer knows it: the conversation then continues in the next session
   */
  forget(id: string | undefined, isForgotten = false): void {
    if (this.#id !== id) return
    this.#isOpen = false
    this.#setId(undefined, undefined, isForgotten)
  }

  /** Drops the session of the earlier user, and cancels its requests. */
  forgetUser(): void {
    const changed = new SDKError('The user has changed.', 'ABORTED')
    this.#creation.abort(changed)
    this.#readings?.abort(changed)
    this.#isOpen = false
    this.#setId(undefined)
  }

  // ── Openings ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * An attempt to open the chat begins.
   *
   * @param isFirst whether it is the first one of a call of `connect()`: what earlier ones left in doubt is checked before it
   */
  async begin(signal: AbortSignal, isFirst = false): Promise<Opening> {
    if (isFirst && this.#doubtfulFailures > 0) await this.check(signal)
    const sessionId = await this.require(signal)
    signal.throwIfAborted()
    const previous = this.#opening?.sessionId === sessionId ? this.#opening : undefined
    const origin = this.#origin
    const isOwn = origin === 'created' || origin === 'empty'
    this.#opening = {
      sessionId,
      isReopening: this.#opened?.sessionId === sessionId,
      number: (previous?.number ?? 0) + 1,
      isCreated: origin === 'created',
      isOwn,
      isRestored: isOwn || origin === 'restored',
      isSupplied: origin === 'supplied',
    }
    if (!previous) this.#isReadable = false
    return this.#opening
  }

  /** The last attempt has opened the chat, so that the service knows the session. Returns the opening. */
  handleOpened(): Opening {
    const opening = this.#opening as Opening
    this.#isOpen = true
    this.#opened = opening
    this.#scope.facts.sessionId = opening.sessionId
    this.#doubtfulFailures = 0
    this.#keep(this.#id)
    return opening
  }

  /** The chat is closed. */
  handleClosed(): void {
    this.#isOpen = false
    this.#scope.facts.sessionId = this.#id
  }

  /**
   * An attempt failed. The service may have refused the session unseen, as in a browser, which gives no reason, or for a reason
   * that does not name the session, which was another page's.
   *
   * @param isExplained whether the service rejected the chat with a status
   * @returns whether to {@link check} the session: after a second failure, since the first one is usually the network's
   */
  handleFailure(isExplained: boolean): boolean {
    const { revealsStatus } = this.#scope.environment.WebSocket
    const isLeft = this.#origin === 'empty' || this.#origin === 'restored' || this.#origin === 'unread'
    const isSaved = isLeft && this.#opened?.sessionId !== this.#id
    if (isExplained ? isSaved : !revealsStatus) this.#doubtfulFailures++
    return this.#doubtfulFailures >= DOUBTFUL_FAILURES
  }

  /** The service has ended the conversation: the next page starts another. */
  handleEnded(): void {
    this.#keep(undefined)
  }

  /** The service does not know the session of the last opening. */
  handleRefused(): void {
    this.forget(this.#opening?.sessionId, true)
  }

  /** Sends the stored context, if the session has not got it. */
  sendContext(transport: Transport): void {
    // A session set for the next opening receives its context there.
    if (!this.#needsContext || this.#id !== this.#opening?.sessionId) return
    const context = this.#context.get()
    if (!context) {
      this.#needsContext = false
      return
    }
    const message = { persona: PERSONA.SYSTEM, role: ROLE.CONTEXT, messageData: { context } }
    const frame = encodeMessage(message)
    // Under the same id until it is confirmed: the connection may have lost it, or only its receipt.
    const isAgain = this.#unconfirmed?.frame === frame
    const id = isAgain ? this.#unconfirmed?.id : this.#scope.facts.wire.confirms ? this.#scope.newId() : undefined
    this.#unconfirmed = id === undefined ? undefined : { frame, id }
    try {
      transport.send(id === undefined ? frame : addMessageId(frame, id))
      if (!isAgain) recordOwnFrame(this.#scope, this.#log, message)
      if (id === undefined) this.#needsContext = false
    } catch {
      // The socket is closing: the next opening sends it.
    }
  }

  /** The service has accepted or refused the frame with this id. */
  handleReceipt(id: string): void {
    if (this.#unconfirmed?.id !== id) return
    this.#unconfirmed = undefined
    this.#needsContext = false
  }

  // ── The history ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Loads what was said in the session, as the service returns it after the last opening. Callers share the request: there is one
   * for each opening at a time.
   */
  async loadHistory(signal?: AbortSignal): Promise<unknown[]> {
    const { clock } = this.#scope.environment
    const opening = this.#opening
    const id = this.#isOpen ? opening?.sessionId : this.#id
    if (id === undefined) return []
    const load = (inner: AbortSignal) =>
      withTimeLimit(clock, HISTORY_LIMIT_MS, inner, limit => this.loadTranscript(id, limit))
    this.#readings ??= new JoinedTask()
    const list = await this.#readings.join(load, signal, this.#isOpen ? String(opening?.number) : 'closed')
    if (opening === this.#opening) this.handleHistory()
    return list
  }

  /** Loads what was said in a session, which the service refuses for an unknown one. */
  loadTranscript(sessionId: string, signal: AbortSignal): Promise<unknown[]> {
    const { facts } = this.#scope
    return facts.api.call(getPreviousTranscript, { agentId: facts.agentId, sessionId, signal })
  }

  /** The history of the open session was read. */
  handleHistory(): void {
    this.#isReadable = true
  }

  /** Whether what the agent says is found again after a reconnect. Loads the history where that is not known yet. */
  async canRecover(signal: AbortSignal): Promise<boolean> {
    // Nothing is merged: on a connection that is alive the same messages are still on their way.
    if (this.#isOpen && !this.#isReadable) await this.loadHistory(signal).catch(() => {})
    return this.#isOpen && this.#isReadable
  }

  /**
   * Asks whether the service still knows the session, and drops it if not. It counts as known when the service cannot be asked:
   * a service that is down must not cost the user the conversation.
   *
   * @returns whether it was dropped
   */
  async check(signal: AbortSignal): Promise<boolean> {
    const id = this.#opening?.sessionId
    if (id === undefined || id !== this.#id) return false
    try {
      await this.loadHistory(signal)
      return false
    } catch (cause) {
      const isRefused = cause instanceof ApiError && isSessionRefusal(cause.status)
      // Meanwhile the chat may have opened, or the host may have supplied another session.
      if (!isRefused || this.#isOpen || this.#id !== id) return false
      const text = `The service does not know the session (HTTP status ${cause.status}). A new one is requested.`
      this.#scope.reportError(new ConnectionError(text, 'refused', { cause, httpStatus: cause.status }))
      this.forget(id, true)
      return true
    }
  }

  #useSaved({ id, needsContext, isEmpty }: SavedSession): string {
    this.#id = this.#scope.facts.sessionId = id
    this.#origin = isEmpty === undefined ? 'unread' : isEmpty ? 'empty' : 'restored'
    this.#doubtfulFailures = 0
    this.#needsContext = needsContext
    return id
  }

  #setId(id: string | undefined, origin?: 'created' | 'supplied', isForgotten = false): void {
    this.#id = id
    this.#scope.facts.sessionId = this.#isOpen ? this.#opening?.sessionId : id
    this.#origin = origin
    this.#doubtfulFailures = 0
    this.#keep(id, isForgotten)
  }

  #keep(id: string | undefined, isForgotten = false): void {
    void this.#keeper?.(part => part.keep(id, isForgotten))
  }
}
