import { addMessageId, encodeMessage, isSessionRefusal, PERSONA, ROLE } from '@aiagent/protocol'
import { ApiError, abortedError, ConnectionError, SDKError } from '../errors.ts'
import { recordOwnFrame, type Transcript } from '../log/transcript.ts'
import type { OptionalFeature } from '../platform/feature.ts'
import type { AgentScope } from '../scope.ts'
import { withTimeLimit } from '../util/abort.ts'
import { JoinedTask } from '../util/joined-task.ts'
import type { ContextStore } from './context-store.ts'
import { withPortalAttribute } from './portal-context.ts'
import type { Transport } from './transport.ts'

const REQUEST_ABORTED = (signal: AbortSignal) => abortedError('The request for a session', signal)

/** A session saved by the previous page. */
export interface RecalledSession {
  readonly id: string
  /** Whether it still needs the current context. */
  readonly needsContext: boolean
  /** Whether nothing has been said in it, as the service tells. */
  readonly isEmpty: boolean
}

/** Stores the session for the next page, if the host configures it. */
export interface SessionKeeper {
  /** The session saved by the previous page. */
  recall(signal: AbortSignal): Promise<RecalledSession | undefined>
  /** Whether the service still knows a recalled session. Counts as true when the service cannot be asked. */
  isKnown(id: string, signal: AbortSignal | undefined): Promise<boolean>
  /** Saves the session id for the next page; `undefined` clears it. */
  keep(id: string | undefined): void
  /** Another page has opened the session: its history belongs into the transcript. */
  join(id: string): void
}

/** Time limit for the check whether a session exists, in milliseconds. */
const CHECK_LIMIT_MS = 5_000

/** Time limit of the transcript call, in milliseconds. */
export const TRANSCRIPT_LIMIT_MS = 4_000

/*
 * The session of the conversation. It owns the id: supplied by the host, saved by the previous page, or requested from the
 * service when first needed, and dropped when the service no longer knows it. A session that was not created with the stored
 * context gets it with each opening, until the service has it.
 */
export class ChatSession {
  readonly #scope: AgentScope<never>
  readonly #context: Pick<ContextStore, 'get'>
  readonly #transcript: Transcript
  readonly #keeper: OptionalFeature<SessionKeeper> | undefined
  readonly #creation = new JoinedTask<string>(REQUEST_ABORTED)
  /** The session of the next connection. */
  #id: string | undefined
  /** The session of the open chat: the host may have set another one for the next. */
  #opened: string | undefined
  /** A session that the host supplied was not created with our context. */
  #needsContext: boolean
  /** The context as it was written last, while the service has not confirmed it. */
  #unconfirmed: { readonly frame: string; readonly id: string } | undefined
  /** Whether the id was saved by the previous page, and this page has not opened a chat in it yet. */
  #isRecalled = false
  /** Whether an attempt failed without a reason, so that the service may have forgotten the session. */
  #needsCheck = false
  /**
   * `own`: this page created the session, or resumed one in which nothing was said, so that every message in it is its own.
   * `supplied`: by the host, so that it may have earlier messages.
   */
  #origin: 'own' | 'supplied' | undefined
  /** The session of which a history or the transcript was read. */
  #recoverable: string | undefined

  /** @param keeper stores the session for the next page */
  constructor(
    scope: AgentScope<never>,
    context: Pick<ContextStore, 'get'>,
    transcript: Transcript,
    keeper?: OptionalFeature<SessionKeeper>,
  ) {
    this.#scope = scope
    this.#context = context
    this.#transcript = transcript
    this.#keeper = keeper
    this.#id = scope.facts.sessionId = scope.config.sessionId
    this.#needsContext = this.#id !== undefined
    this.#origin = this.#needsContext ? 'supplied' : undefined
  }

  /** Whether the session has no messages from before this page. */
  get isOwn(): boolean {
    return this.#origin === 'own'
  }

  /** Whether the host supplied the session: then it may have earlier messages. */
  get isSupplied(): boolean {
    return this.#origin === 'supplied'
  }

  get id(): string | undefined {
    return this.#id
  }

  /** The current id if it is still valid, otherwise that of the previous page, otherwise a new session's. */
  async require(signal?: AbortSignal): Promise<string> {
    const id = this.id
    if (id !== undefined && this.#needsCheck && (await this.#isKnown(id, signal)) === false) this.forget(id)
    return (
      this.id ??
      this.#creation.join(async inner => {
        const recalled = await this.#keeper?.(part => part.recall(inner))
        inner.throwIfAborted()
        // The host may have supplied one in the meantime, which takes precedence.
        if (recalled) return this.id ?? this.#useRecalled(recalled)
        const created = await this.create(inner)
        // The user may have changed: a session of the earlier one is not used.
        inner.throwIfAborted()
        return this.id ?? this.adopt(created)
      }, signal)
    )
  }

  /**
   * Creates a session at the service, with the context and the selected portal, without using it yet, so that a failure keeps
   * the current one.
   */
  async create(signal: AbortSignal): Promise<string> {
    const { facts } = this.#scope
    const attributes = this.#context.get()
    const portal = facts.selection?.portal
    const context = portal ? withPortalAttribute(attributes ?? {}, portal.id) : attributes && { ...attributes }
    const { agentId } = facts
    return facts.api.getAiAgentSession({ agentId, ...(context && { context }), signal })
  }

  /** Loads what was said in a session, which the service refuses for an unknown one. */
  loadTranscript(sessionId: string, signal: AbortSignal): Promise<unknown[]> {
    const { facts } = this.#scope
    return facts.api.getPreviousTranscript({ agentId: facts.agentId, sessionId, signal })
  }

  /** Uses a session that was created for this client. */
  adopt(id: string): string {
    this.#setId(id)
    this.#needsContext = false
    this.#origin = 'own'
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
    this.#setId(id)
    this.#needsContext = true
    this.#origin = 'supplied'
  }

  /** Drops a session that the service no longer knows, unless another one is in use. */
  forget(id: string | undefined): void {
    if (this.id !== id) return
    this.#opened = undefined
    this.#setId(undefined)
  }

  /** A chat is open in a session, which the service therefore knows. */
  markOpened(id: string | undefined): void {
    this.#opened = this.#scope.facts.sessionId = id
    this.#isRecalled = false
    this.#needsCheck = false
    this.#keep(this.id)
  }

  /** The chat is closed. */
  markClosed(): void {
    this.#opened = undefined
    this.#scope.facts.sessionId = this.#id
  }

  /**
   * An attempt failed: the next one checks the session first where the service may have rejected it unseen, as in a browser, which
   * gives no reason, or for a reason that does not name the session, which was another page's.
   *
   * @param isExplained whether the service rejected the chat with a status
   * @param revealsStatus whether such a status is seen here
   */
  markUnverified(isExplained = false, revealsStatus = false): void {
    this.#needsCheck ||= isExplained ? this.#isRecalled : !revealsStatus
  }

  /** The service has ended the conversation: the next page starts another. */
  markEnded(): void {
    this.#keep(undefined)
  }

  /**
   * Sends the stored context, if the session has not got it.
   *
   * @param dialledSession the session of the transport: the host may have set another one since
   */
  sendContext(transport: Transport, dialledSession: string | undefined): void {
    // A session set for the next connection receives its context there.
    if (!this.#needsContext || this.id !== dialledSession) return
    const context = this.#context.get()
    if (!context) {
      this.#needsContext = false
      return
    }
    const message = { persona: PERSONA.SYSTEM, role: ROLE.CONTEXT, messageData: { context } }
    const frame = encodeMessage(message)
    // Under the same id until it is confirmed: the connection may have lost it, or only its receipt.
    const isAgain = this.#unconfirmed?.frame === frame
    const id = isAgain ? this.#unconfirmed?.id : this.#scope.facts.hasReceipts ? this.#scope.newId() : undefined
    this.#unconfirmed = id === undefined ? undefined : { frame, id }
    try {
      transport.send(id === undefined ? frame : addMessageId(frame, id))
      if (!isAgain) recordOwnFrame(this.#scope, this.#transcript, message)
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

  /** Drops the session of the earlier user, and cancels the creation of one. */
  forgetUser(): void {
    this.#creation.abort(new SDKError('The user has changed.', 'ABORTED'))
    this.#opened = undefined
    this.#setId(undefined)
  }

  async #isKnown(id: string, signal: AbortSignal | undefined): Promise<boolean | undefined> {
    const isValid = this.#isRecalled
      ? await this.#keeper?.(part => part.isKnown(id, signal))
      : await this.#check(id, signal)
    if (this.id === id) this.#needsCheck = false
    return isValid
  }

  #useRecalled({ id, needsContext, isEmpty }: RecalledSession): string {
    this.#id = this.#scope.facts.sessionId = id
    this.#origin = isEmpty ? 'own' : undefined
    this.#isRecalled = true
    this.#needsCheck = false
    this.#needsContext = needsContext
    return id
  }

  #setId(id: string | undefined): void {
    this.#id = id
    this.#scope.facts.sessionId = this.#opened ?? id
    this.#origin = undefined
    this.#isRecalled = false
    this.#needsCheck = false
    this.#keep(id)
  }

  #keep(id: string | undefined): void {
    void this.#keeper?.(part => part.keep(id))
  }

  /** A history or the transcript of the open session was read. */
  markRecoverable(): void {
    this.#recoverable = this.#opened
  }

  /** Whether what the agent says is found again after a reconnect. Asks for the transcript where that is not known yet. */
  async canRecover(signal: AbortSignal): Promise<boolean> {
    const id = this.#opened
    if (id === undefined || id === this.#recoverable) return id !== undefined
    const { clock } = this.#scope.environment
    try {
      // Nothing is merged: on a connection that is alive the same messages are still on their way.
      await withTimeLimit(clock, TRANSCRIPT_LIMIT_MS, signal, inner => this.loadTranscript(id, inner))
    } catch {
      return false
    }
    if (this.#opened === id) this.#recoverable = id
    return this.#opened === id
  }

  /**
   * Whether the service still knows a session. It counts as known when the service cannot be asked: a service that is down must
   * not cost the user the conversation.
   */
  async #check(id: string, signal: AbortSignal | undefined): Promise<boolean> {
    const { environment } = this.#scope
    try {
      await withTimeLimit(environment.clock, CHECK_LIMIT_MS, signal, inner => this.loadTranscript(id, inner))
    } catch (cause) {
      if (signal?.aborted) throw cause
      if (cause instanceof ApiError && isSessionRefusal(cause.status)) {
        const text = `The service does not know the session (HTTP status ${cause.status}). A new one is requested.`
        this.#scope.reportError(new ConnectionError(text, 'refused', { cause, httpStatus: cause.status }))
        return false
      }
    }
    return true
  }
}
