import { type AgentDetails, CHAT_QUERY, CLOSE_CODE, type DeploymentInfo, socketBase } from '@aiagent/protocol'
import { ConnectionError } from '../errors.ts'
import type { SocketCloseEvent, WebSocketLike } from '../platform/environment.ts'
import {
  FRAME_TOO_LARGE_CODE,
  FRAME_TOO_LARGE_REASON,
  MAX_FRAME_LENGTH,
  TOO_LARGE_PRIVATE_CODE,
} from '../platform/socket-limits.ts'

/** Events of transports. `closed` is the last one of a transport, and occurs once. */
export interface TransportListener {
  opened(transport: Transport): void
  received(transport: Transport, data: unknown): void
  closed(transport: Transport, event: SocketCloseEvent): void
}

/** One socket, from its opening to its end. */
export interface Transport {
  /** Bytes that are queued and not sent yet. */
  readonly bufferedAmount: number
  /** @throws when the socket is not open */
  send(text: string): void
  /** Closes, without further events: the caller knows, and the service may never answer. */
  close(code: number, reason: string): void
}

const OPEN = 1

/** An error event without a listener is fatal in some runtimes. A close event always follows it, and has more information. */
const IGNORE_ERROR = () => {}

/** A transport over the platform's WebSocket. */
export class WebSocketTransport implements Transport {
  readonly #socket: WebSocketLike
  readonly #listener: TransportListener

  constructor(socket: WebSocketLike, listener: TransportListener) {
    this.#socket = socket
    this.#listener = listener
    socket.onopen = () => {
      socket.onopen = null
      listener.opened(this)
    }
    socket.onmessage = ({ data }: { data: unknown }) => this.#received(data)
    socket.onerror = IGNORE_ERROR
    socket.onclose = (event?: Partial<SocketCloseEvent>) => this.#closed(event)
  }

  get bufferedAmount(): number {
    // The stand-in of a test may not count, and a flush would wait indefinitely.
    return this.#socket.bufferedAmount ?? 0
  }

  send(text: string): void {
    // Data written to a closing socket is dropped without an error, in every runtime.
    if (this.#socket.readyState !== OPEN) throw new Error('The socket is not open.')
    this.#socket.send(text)
  }

  close(code: number, reason: string): void {
    this.#detach()
    this.#socket.close(code, reason)
  }

  #received(data: unknown): void {
    if (typeof data !== 'string' || data.length <= MAX_FRAME_LENGTH) return this.#listener.received(this, data)
    this.close(TOO_LARGE_PRIVATE_CODE, FRAME_TOO_LARGE_REASON)
    this.#listener.closed(this, { code: FRAME_TOO_LARGE_CODE, reason: FRAME_TOO_LARGE_REASON })
  }

  /** @param event the stand-in of a test may leave all of it out */
  #closed(event: Partial<SocketCloseEvent> = {}): void {
    this.#detach()
    const { code = CLOSE_CODE.ABNORMAL, reason = '', httpStatus, retryAfter, date, error, why } = event
    this.#listener.closed(this, { code, reason, httpStatus, retryAfter, date, error, why })
  }

  /** Errors are still ignored: a socket that is being closed can fail. */
  #detach(): void {
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null
  }
}

export interface ChatAddressParts {
  agent: Pick<AgentDetails, 'webSocketDomain'>
  deployment: Pick<DeploymentInfo, 'aiAgentDomain'>
  /** Checked before: see `requireSessionId`. */
  sessionId: string
  /** Set by a platform connector. */
  conversationId?: string | null | undefined
  /** Number of the last frame that was processed, where the service repeats what was missed. */
  lastSeq?: number | undefined
}

/**
 * The address of the chat socket.
 *
 * The host is the agent's `webSocketDomain` if it has one, otherwise `chat.` before the deployment's `aiAgentDomain`.
 * Port and path are kept.
 *
 * @throws {ConnectionError} reason `no_address` when there is neither, or they form no valid address
 * @see PROTOCOL.md, "Address"
 */
export function chatAddress(parts: ChatAddressParts): string {
  const url = hostAddress(parts)
  url.searchParams.set(CHAT_QUERY.SESSION_ID, parts.sessionId)
  if (parts.conversationId) url.searchParams.set(CHAT_QUERY.EXTERNAL_CALL_ID, parts.conversationId)
  if (parts.lastSeq !== undefined) url.searchParams.set(CHAT_QUERY.LAST_SEQ, String(parts.lastSeq))
  return url.href
}

function hostAddress({ agent, deployment }: ChatAddressParts): URL {
  const own = agent.webSocketDomain?.trim()
  const shared = deployment.aiAgentDomain?.trim()
  const base = own ? socketBase(own) : shared && socketBase(shared).replace('://', '://chat.')
  if (!base)
    throw new ConnectionError(
      'The chat has no address: neither the agent’s webSocketDomain nor the deployment’s aiAgentDomain is set.',
      'no_address',
    )
  try {
    const url = new URL(base)
    if (/^wss?:$/.test(url.protocol)) return url
  } catch (cause) {
    throw new ConnectionError(`The chat's address cannot be read: ${base}`, 'no_address', { cause })
  }
  throw new ConnectionError(`The chat's address must be one with wss: or ws:, unlike ${base}`, 'no_address')
}
