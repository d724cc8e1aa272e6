import { encodeMessage, PERSONA, ROLE } from '@aiagent/protocol'
import { AuthError, SDKError } from '../errors.ts'
import type { AgentScope } from '../scope.ts'
import type { Opening } from './chat-session.ts'
import type { ChatObserver, Connection, ConnectionParts } from './connection.ts'
import type { Transport } from './transport.ts'

/** The parts that it uses. */
export interface TokenDialogueParts extends ConnectionParts {
  readonly connection: Connection
}

/*
 * From an open socket to messages, in the order of the protocol (PROTOCOL.md, "Opening sequence"): token frame, `connected`,
 * pending context; then the parts above may write. It owns what was last sent on the present transport, and the one refresh
 * under way.
 *
 * An authenticated agent gets the token as the very first frame; until one has been sent, nothing else leaves. When the
 * service asks for a new one, one refresh answers all requests that arrive meanwhile; when none can be obtained, the host is
 * notified and messages wait for `offer()`.
 */
export class TokenDialogue implements ChatObserver {
  readonly #scope: AgentScope<'connected' | 'tokenExpiring'>
  readonly #parts: TokenDialogueParts
  /** The open transport, until it is closed or closing. */
  #transport: Transport | undefined
  /** The opening of which the host does not know yet. `done` ends with the token step, or with the transport. */
  #greeting: { readonly opening: Opening; readonly done?: Promise<void>; end?(): void } | undefined
  #sent: string | undefined
  /** Whether the service no longer accepts the sent token. */
  #expired = false
  /** Whether the service has requested a token on the current transport. */
  #asked = false
  /** The transport whose request is being answered. */
  #answering: Transport | undefined

  constructor(scope: AgentScope<'connected' | 'tokenExpiring'>, parts: TokenDialogueParts) {
    this.#scope = scope
    this.#parts = parts
    parts.connection.observe(this)
    parts.authentication.setTokenExpiringCallback(({ expiresAt }) =>
      scope.emit('tokenExpiring', () => ({ reason: 'expiring', expiresAt })),
    )
  }

  /** Settles when the token of the opening has been sent, or cannot be obtained. */
  get greeted(): Promise<void> | undefined {
    return this.#greeting?.done
  }

  /** Whether an opening needs a token frame first. */
  get #isRequired(): boolean {
    return this.#scope.facts.agent?.isAuthenticated === true
  }

  /** Whether a token frame must precede all other frames. */
  get isMissing(): boolean {
    return this.#isRequired && this.#sent === undefined
  }

  /** Obtains a token and sends it, where the agent needs one; a request for another may come either way. */
  handleOpened(transport: Transport, opening: Opening): void {
    this.#transport = transport
    this.#sent = undefined
    this.#asked = this.#expired = false
    this.#greeting = { opening }
    if (!this.#isRequired) return this.#proceed(transport)
    let end = () => {}
    const done = new Promise<void>(resolve => {
      end = resolve
    })
    this.#greeting = { opening, done, end }
    void this.#answer(transport, this.#parts.authentication.getToken())
  }

  handleLost(): void {
    this.end()
  }

  /** The transport is closed or closing. */
  end(): void {
    for (const each of this.#parts.connection.observers) each.handleInterrupted?.()
    this.#transport = undefined
    this.#greeting?.end?.()
    this.#greeting = undefined
  }

  /**
   * The service requests a new token. Later requests join the refresh in flight, also one of an earlier transport.
   *
   * @param expired whether the service no longer accepts the current one; a stale one is still valid for a while
   */
  renew(expired: boolean): void {
    const transport = this.#transport
    if (!transport) return
    this.#expired ||= expired
    if (this.#answering === transport) return
    this.#asked = true
    this.#answering = transport
    void this.#answer(transport, this.#parts.authentication.refresh()).finally(() => {
      if (this.#answering === transport) this.#answering = undefined
    })
  }

  /** A new token is available: it is sent at once if an open chat needs one. */
  offer(token: string): void {
    if ((this.#isRequired || this.#asked) && token !== this.#sent) this.#send(token)
  }

  async #answer(transport: Transport, request: Promise<string>): Promise<void> {
    const refused = this.#sent
    // Meanwhile the socket may have been replaced, or the host may have supplied a token.
    const isWanted = () => this.#transport === transport && this.#sent === refused
    let error: SDKError | undefined
    try {
      const token = await request
      if (isWanted() && token !== refused) return this.#send(token)
    } catch (cause) {
      error = asAuthError(cause)
    }
    if (!isWanted()) return
    // Only the host can supply one. Messages wait for it, unless the current one is still valid.
    if (this.isMissing || this.#expired) for (const each of this.#parts.connection.observers) each.handleInterrupted?.()
    if (error) {
      this.#scope.status.failure = error
      this.#scope.reportError(error)
    }
    this.#announce()
    this.#scope.emit('tokenExpiring', () => ({ reason: 'transport_request' }))
  }

  #send(token: string): void {
    const transport = this.#transport
    if (!transport) return
    const frame = encodeMessage({ persona: PERSONA.METADATA, role: ROLE.TOKEN, messageData: { token } })
    try {
      transport.send(frame)
    } catch {
      // The socket is closing; the next opening sends a token again.
      return
    }
    this.#sent = token
    this.#expired = false
    this.#proceed(transport)
  }

  /** Messages may now be written to this transport. */
  #proceed(transport: Transport): void {
    this.#announce()
    // A listener may have disconnected meanwhile.
    if (this.#transport !== transport) return
    this.#parts.session.sendContext(transport)
    for (const each of this.#parts.connection.observers) each.handleReady?.(transport)
  }

  /** Reports the opening, once. */
  #announce(): void {
    const greeting = this.#greeting
    if (!greeting) return
    this.#greeting = undefined
    greeting.end?.()
    const { status } = this.#scope
    status.closed = status.failure = undefined
    for (const each of this.#parts.connection.observers) each.handleConnected?.(greeting.opening)
    this.#scope.emit('connected', () => ({}))
  }
}

function asAuthError(cause: unknown): SDKError {
  if (cause instanceof SDKError) return cause
  return new AuthError('Could not obtain an access token for the chat.', 'token_missing', { cause })
}
