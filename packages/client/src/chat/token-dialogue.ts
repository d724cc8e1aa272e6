import { encodeMessage, PERSONA, ROLE } from '@aiagent/protocol'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import { AuthError, SDKError } from '../errors.ts'
import type { AgentFacts } from '../facts.ts'
import type { Transport } from './transport.ts'

/*
 * The access token over an open chat. It owns what was last sent on the present transport, and the one refresh under way.
 *
 * An authenticated agent gets the token as the very first frame; until one has been sent, nothing else leaves. When the
 * service asks for a new one, one refresh answers all requests that arrive meanwhile; when none can be obtained, the host is
 * told and messages wait for `offer()`.
 */

/** What a token dialogue reports. */
export interface TokenListener {
  /** A token frame has been sent: messages may follow. */
  handleTokenSent(transport: Transport): void
  /**
   * The chat needs a token that only the host can supply: messages wait, unless the current one is still valid. `error` is the
   * failure of the request for one; undefined when it returned the token that the service has rejected.
   */
  handleTokenUnavailable(error: SDKError | undefined, transport: Transport, isUsable: boolean): void
}

export class TokenDialogue {
  readonly #facts: Pick<AgentFacts, 'agent'>
  readonly #authentication: AuthenticationService
  readonly #listener: TokenListener
  #transport: Transport | undefined
  #sent: string | undefined
  /** Whether the service no longer accepts the sent token. */
  #expired = false
  /** Whether the service has requested a token on the current transport. */
  #asked = false
  /** The transport whose request is being answered. */
  #answering: Transport | undefined

  constructor(facts: Pick<AgentFacts, 'agent'>, authentication: AuthenticationService, listener: TokenListener) {
    this.#facts = facts
    this.#authentication = authentication
    this.#listener = listener
  }

  /** Whether an opening needs a token frame first. */
  get isRequired(): boolean {
    return this.#facts.agent?.isAuthenticated === true
  }

  /** Whether a token frame must precede all other frames. */
  get isOwed(): boolean {
    return this.isRequired && this.#sent === undefined
  }

  /** Starts the dialogue on a new transport: obtains a token and sends it. */
  begin(transport: Transport): void {
    this.attach(transport)
    void this.#answer(transport, this.#authentication.getToken())
  }

  /** The transport is open and needs no token; a refresh request may still come. */
  attach(transport: Transport): void {
    this.#transport = transport
    this.#sent = undefined
    this.#asked = false
    this.#expired = false
  }

  /** The transport is closed. */
  end(): void {
    this.#transport = undefined
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
    void this.#answer(transport, this.#authentication.refresh()).finally(() => {
      if (this.#answering === transport) this.#answering = undefined
    })
  }

  /** A new token is available: it is sent at once if an open chat needs one. */
  offer(token: string): void {
    if ((this.isRequired || this.#asked) && token !== this.#sent) this.#send(token)
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
    this.#listener.handleTokenUnavailable(error, transport, !this.isOwed && !this.#expired)
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
    this.#listener.handleTokenSent(transport)
  }
}

function asAuthError(cause: unknown): SDKError {
  if (cause instanceof SDKError) return cause
  return new AuthError('Could not obtain an access token for the chat.', 'token_missing', { cause })
}
