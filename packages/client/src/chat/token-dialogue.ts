import { encodeMessage, PERSONA, ROLE } from '@aiagent/protocol'
import { AuthError, SDKError } from '../errors.ts'
import type { Transport } from './transport.ts'

/*
 * The access token over an open chat. It owns what was last sent on the present transport, and the one refresh under way.
 *
 * An authenticated agent gets the token as the very first frame; until one has been sent, nothing else leaves. When the
 * service asks for a new one, one refresh answers all requests that arrive meanwhile; when none can be had, the host is
 * told and messages wait for `offer()`.
 */

export interface TokenDialogueOptions {
  /** Whether the agent wants a token at the opening. */
  required(): boolean
  getToken(): Promise<string>
  /** Forces a new token. */
  refresh(): Promise<string>
  /** A token frame has been sent: messages may leave. */
  onReady(transport: Transport): void
  /** The chat needs a token and none could be had: messages must wait. */
  onUnavailable(error: SDKError, transport: Transport): void
}

export class TokenDialogue {
  readonly #options: TokenDialogueOptions
  #transport: Transport | undefined
  #sent: string | undefined
  #renewing = false

  constructor(options: TokenDialogueOptions) {
    this.#options = options
  }

  /** Whether an opening needs a token frame first. */
  get isRequired(): boolean {
    return this.#options.required()
  }

  /** Opens the dialogue on a new transport: resolves once the token frame has been sent, or found impossible. */
  async begin(transport: Transport): Promise<void> {
    this.#transport = transport
    this.#sent = undefined
    try {
      const token = await this.#options.getToken()
      // The socket may have been replaced while the token was on its way.
      if (this.#transport === transport && this.#sent === undefined) this.#send(token)
    } catch (cause) {
      if (this.#transport === transport) this.#options.onUnavailable(asAuthError(cause), transport)
    }
  }

  /** The transport is open and needs no token; a refresh request may come all the same. */
  attach(transport: Transport): void {
    this.#transport = transport
    this.#sent = undefined
  }

  /** The transport is gone. */
  end(): void {
    this.#transport = undefined
  }

  /** The service asks for a new token. Later requests join the refresh under way. */
  renew(): void {
    if (this.#renewing || !this.#transport) return
    this.#renewing = true
    const refused = this.#sent
    this.#options
      .refresh()
      .then(token => {
        if (token === refused)
          throw new AuthError(
            'The service refuses the access token, and no other can be had. Call updateAccessToken().',
            'token_missing',
          )
        this.#send(token)
      })
      .catch(cause => {
        if (this.#transport) this.#options.onUnavailable(asAuthError(cause), this.#transport)
      })
      .finally(() => {
        this.#renewing = false
      })
  }

  /** A new token is there: it goes out at once when a chat that wants one is open. */
  offer(token: string): void {
    if (this.isRequired && token !== this.#sent) this.#send(token)
  }

  #send(token: string): void {
    const transport = this.#transport
    if (!transport) return
    const frame = encodeMessage({ persona: PERSONA.METADATA, role: ROLE.TOKEN, messageData: { token } })
    try {
      transport.send(frame)
    } catch {
      // The socket is going down; the next opening sends a token anew.
      return
    }
    this.#sent = token
    this.#options.onReady(transport)
  }
}

function asAuthError(cause: unknown): SDKError {
  if (cause instanceof SDKError) return cause
  return new AuthError('No access token could be had for the chat.', 'token_missing', { cause })
}
