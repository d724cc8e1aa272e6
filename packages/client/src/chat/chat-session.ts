import { abortedError, SDKError } from '../errors.ts'
import { JoinedTask } from '../util/joined-task.ts'
import type { LazyPart } from '../util/lazy-part.ts'

/** Keeps the session for a later page, where the host wants that. */
export interface SessionKeeper {
  /** The session that an earlier page left, and whether this page's context is news to it. */
  recall(signal: AbortSignal): Promise<{ readonly id: string; readonly lacksContext: boolean } | undefined>
  /** Whether the service still knows a session that was recalled. What cannot be learned counts as yes. */
  isKnown(id: string, signal: AbortSignal | undefined): Promise<boolean>
  /** The conversation lives in this session from now on; in none that is worth keeping where there is no id. */
  keep(id: string | undefined): void
}

/*
 * The session a conversation lives in. It owns the id: given by the host, left by an earlier page, or asked of the
 * service when first needed, and forgotten when the service no longer knows it.
 */
export class ChatSession {
  readonly #create: (signal: AbortSignal) => Promise<string>
  readonly #creation = new JoinedTask<string>(signal => abortedError('Asking for a session', signal))
  /** A session the host brought knows nothing of our context: there was no request to carry it. */
  #lacksContext: boolean
  #keeper: LazyPart<SessionKeeper> | undefined
  /** Holds the id, for everybody who needs it. */
  readonly #facts: { sessionId: string | undefined }
  /** Where a session of an earlier page stands that this one has not opened yet. */
  #recalled: 'trusted' | 'doubted' | undefined

  /**
   * @param create asks the service for a session, with the stored context
   * @param supplied the host's session id
   * @param keeper restores the session of the previous page
   * @param facts where the id is kept
   */
  constructor(
    create: (signal: AbortSignal) => Promise<string>,
    supplied: string | undefined,
    keeper?: LazyPart<SessionKeeper>,
    facts: { sessionId: string | undefined } = { sessionId: undefined },
  ) {
    this.#create = create
    this.#facts = facts
    facts.sessionId = supplied
    this.#keeper = keeper
    this.#lacksContext = supplied !== undefined
  }

  /** Names the part that stores the session for the next page. */
  storeWith(keeper: LazyPart<SessionKeeper>): void {
    this.#keeper = keeper
  }

  get id(): string | undefined {
    return this.#facts.sessionId
  }

  /** The present id, else that of an earlier page, else a new session's. */
  async require(signal?: AbortSignal): Promise<string> {
    const id = this.id
    if (id !== undefined && this.#recalled === 'doubted') {
      if ((await this.#keeper?.(keeper => keeper.isKnown(id, signal))) === false) this.forget(id)
    }
    return (
      this.id ??
      this.#creation.join(async inner => {
        const recalled = await this.#keeper?.(keeper => keeper.recall(inner))
        inner.throwIfAborted()
        // The host may have supplied one in the meantime, which takes precedence.
        if (recalled) return this.id ?? this.#takeUp(recalled)
        const created = await this.#create(inner)
        // The user may have changed: a session of the earlier one is not used.
        inner.throwIfAborted()
        return this.id ?? this.adopt(created)
      }, signal)
    )
  }

  /** Asks for a new session without taking it yet, so that a failure leaves the present one. */
  create(signal: AbortSignal): Promise<string> {
    return this.#create(signal)
  }

  /** Takes a session that was created for us. */
  adopt(id: string): string {
    this.#become(id)
    this.#lacksContext = false
    return id
  }

  /** Takes a session that the host brings. */
  supply(id: string): void {
    this.#become(id)
    this.#lacksContext = true
  }

  /** The service no longer knows this session: unless another has taken its place, the next use asks for one. */
  forget(id: string | undefined): void {
    if (this.id === id) this.#become(undefined)
  }

  /** The chat has been opened in it: the service knows it. */
  opened(): void {
    this.#recalled = undefined
    this.#keep(this.id)
  }

  /** The chat could not be opened. Browsers do not tell why, so a session of an earlier page is asked after. */
  doubt(): void {
    if (this.#recalled) this.#recalled = 'doubted'
  }

  /** The service has ended the conversation as it should be: a later page begins another. */
  ended(): void {
    this.#keep(undefined)
  }

  /** Whether the context still has to be told over the chat. */
  get lacksContext(): boolean {
    return this.#lacksContext
  }

  contextTold(): void {
    this.#lacksContext = false
  }

  /** Forgets the session of the user who leaves, and cancels the creation of one. */
  forgetUser(): void {
    this.#creation.abort(new SDKError('The user has changed.', 'ABORTED'))
    this.#become(undefined)
  }

  #takeUp({ id, lacksContext }: { readonly id: string; readonly lacksContext: boolean }): string {
    this.#facts.sessionId = id
    this.#recalled = 'trusted'
    this.#lacksContext = lacksContext
    return id
  }

  #become(id: string | undefined): void {
    this.#facts.sessionId = id
    this.#recalled = undefined
    this.#keep(id)
  }

  #keep(id: string | undefined): void {
    void this.#keeper?.(keeper => keeper.keep(id))
  }
}
