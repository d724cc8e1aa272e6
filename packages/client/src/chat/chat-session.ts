import { abortedError } from '../errors.ts'
import { JoinedTask } from '../util/joined-task.ts'

/*
 * The session a conversation lives in. It owns the id: given by the host, or asked of the service when first needed,
 * and forgotten when the service no longer knows it.
 */
export class ChatSession {
  readonly #create: (signal: AbortSignal) => Promise<string>
  readonly #creation = new JoinedTask<string>(signal => abortedError('Asking for a session', signal))
  #id: string | undefined
  /** A session the host brought knows nothing of our context: there was no request to carry it. */
  #lacksContext: boolean

  /**
   * @param create asks the service for a session, with the stored context
   * @param supplied the host's session id
   */
  constructor(create: (signal: AbortSignal) => Promise<string>, supplied: string | undefined) {
    this.#create = create
    this.#id = supplied
    this.#lacksContext = supplied !== undefined
  }

  get id(): string | undefined {
    return this.#id
  }

  /** The present id, else a new session's. */
  async require(signal?: AbortSignal): Promise<string> {
    return (
      this.#id ??
      this.#creation.join(async inner => {
        const created = await this.#create(inner)
        // The host may have brought one meanwhile: its word counts.
        return this.#id ?? this.adopt(created)
      }, signal)
    )
  }

  /** Asks for a new session without taking it yet, so that a failure leaves the present one. */
  create(signal: AbortSignal): Promise<string> {
    return this.#create(signal)
  }

  /** Takes a session that was created for us. */
  adopt(id: string): string {
    this.#id = id
    this.#lacksContext = false
    return id
  }

  /** Takes a session that the host brings. */
  supply(id: string): void {
    this.#id = id
    this.#lacksContext = true
  }

  /** The service no longer knows this session: unless another has taken its place, the next use asks for one. */
  forget(id: string | undefined): void {
    if (this.#id === id) this.#id = undefined
  }

  /** Whether the context still has to be told over the chat. */
  get lacksContext(): boolean {
    return this.#lacksContext
  }

  contextTold(): void {
    this.#lacksContext = false
  }
}
