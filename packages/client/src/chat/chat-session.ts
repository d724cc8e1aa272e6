import { isSessionRefusal } from '@aiagent/protocol'
import { ApiError, abortedError, ConnectionError, SDKError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { withTimeLimit } from '../util/abort.ts'
import { JoinedTask } from '../util/joined-task.ts'
import type { LazyPart } from '../util/lazy-part.ts'

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

export interface ChatSessionOptions {
  /** Requests a new session, with the stored context. */
  create(signal: AbortSignal): Promise<string>
  /** Whether the service still knows a session. Without it a session is valid until the service rejects it. */
  isKnown?(id: string, signal: AbortSignal | undefined): Promise<boolean>
  /** The session id of the host, which `facts` names already. */
  readonly suppliedId?: string | undefined
  /** Where the id is kept, for every part that needs it. */
  readonly facts?: { sessionId?: string | undefined }
}

/*
 * The session of the conversation. It owns the id: supplied by the host, saved by the previous page, or requested from the
 * service when first needed, and dropped when the service no longer knows it.
 */
export class ChatSession {
  readonly #options: ChatSessionOptions
  readonly #keeper: LazyPart<SessionKeeper> | undefined
  readonly #creation = new JoinedTask<string>(REQUEST_ABORTED)
  /** Names the session of the open chat, else that of the next one. */
  readonly #facts: { sessionId?: string | undefined }
  /** The session of the next connection. */
  #id: string | undefined
  /** The session of the open chat: the host may have set another one for the next. */
  #opened: string | undefined
  /** A session that the host supplied was not created with our context. */
  #needsContext: boolean
  /** Whether the id was saved by the previous page, and this page has not opened a chat in it yet. */
  #isRecalled = false
  /** Whether an attempt failed without a reason, so that the service may have forgotten the session. */
  #needsCheck = false
  /**
   * `own`: this page created the session, or resumed one in which nothing was said, so that every message in it is its own.
   * `supplied`: by the host, so that it may have earlier messages.
   */
  #origin: 'own' | 'supplied' | undefined

  /** @param keeper stores the session for the next page */
  constructor(options: ChatSessionOptions, keeper?: LazyPart<SessionKeeper>) {
    this.#options = options
    this.#keeper = keeper
    this.#facts = options.facts ?? {}
    this.#id = options.suppliedId
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
        const created = await this.#options.create(inner)
        // The user may have changed: a session of the earlier one is not used.
        inner.throwIfAborted()
        return this.id ?? this.adopt(created)
      }, signal)
    )
  }

  /** Creates a new session without using it yet, so that a failure keeps the current one. */
  create(signal: AbortSignal): Promise<string> {
    return this.#options.create(signal)
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
    if (this.id === id) this.#setId(undefined)
  }

  /** A chat is open in a session, which the service therefore knows. */
  markOpened(id: string | undefined): void {
    this.#opened = this.#facts.sessionId = id
    this.#isRecalled = false
    this.#needsCheck = false
    this.#keep(this.id)
  }

  /** The chat is closed. */
  markClosed(): void {
    this.#opened = undefined
    this.#facts.sessionId = this.#id
  }

  /**
   * An attempt failed: the next one checks the session first, unless the reason is known and the session was in use. A
   * browser gives no reason when the service rejects a chat.
   */
  markUnverified(isExplained = false): void {
    this.#needsCheck ||= this.#isRecalled || !isExplained
  }

  /** The service has ended the conversation: the next page starts another. */
  markEnded(): void {
    this.#keep(undefined)
  }

  /** Whether the context must be sent over the chat. */
  get needsContextFrame(): boolean {
    return this.#needsContext
  }

  markContextSent(): void {
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
      : await this.#options.isKnown?.(id, signal)
    if (this.id === id) this.#needsCheck = false
    return isValid
  }

  #useRecalled({ id, needsContext, isEmpty }: RecalledSession): string {
    this.#id = this.#facts.sessionId = id
    this.#origin = isEmpty ? 'own' : undefined
    this.#isRecalled = true
    this.#needsCheck = false
    this.#needsContext = needsContext
    return id
  }

  #setId(id: string | undefined): void {
    this.#id = id
    this.#facts.sessionId = this.#opened ?? id
    this.#origin = undefined
    this.#isRecalled = false
    this.#needsCheck = false
    this.#keep(id)
  }

  #keep(id: string | undefined): void {
    void this.#keeper?.(part => part.keep(id))
  }
}

/** Time limit for the check whether a session exists, in milliseconds. */
const CHECK_LIMIT_MS = 5_000

/**
 * Whether the service still knows a session, by a REST call about it. A session counts as known when the service cannot
 * be asked: a service that is down must not cost the user the conversation.
 *
 * @param load the call; rejects with HTTP status 404 or 410 for an unknown session
 * @param report receives the error that says that a new session is requested
 */
export async function isSessionKnown(
  clock: Clock,
  signal: AbortSignal | undefined,
  load: (signal: AbortSignal) => Promise<unknown>,
  report: (error: SDKError) => void,
): Promise<boolean> {
  try {
    await withTimeLimit(clock, CHECK_LIMIT_MS, signal, load)
  } catch (cause) {
    if (signal?.aborted) throw cause
    if (cause instanceof ApiError && isSessionRefusal(cause.status)) {
      const text = `The service does not know the session (HTTP status ${cause.status}). A new one is requested.`
      report(new ConnectionError(text, 'refused', { cause, httpStatus: cause.status }))
      return false
    }
  }
  return true
}
