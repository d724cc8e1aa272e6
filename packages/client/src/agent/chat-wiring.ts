import type { AgentFacts } from '../api/agent-facts.ts'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import type { ChatOwner } from '../chat/chat.ts'
import { chatAddress } from '../chat/chat-address.ts'
import { type ChatSession, type ChatSessionOptions, isSessionKnown } from '../chat/chat-session.ts'
import type { ChatClosed } from '../chat/close-cause.ts'
import { ConnectionState } from '../chat/connection-state.ts'
import type { ReconnectPolicy } from '../chat/reconnect-policy.ts'
import type { Transport, TransportListener } from '../chat/transport.ts'
import { webSocketTransport } from '../chat/websocket-transport.ts'
import { withPortalAttribute } from '../contact-center/portal/portal-context.ts'
import { createContextMessage } from '../conversation/message-helpers.ts'
import { SDKError } from '../errors.ts'
import type { AgentEventType, Emit } from '../events.ts'
import { composeMessage } from '../outbox/compose.ts'
import { Message } from '../outbox/message.ts'
import type { Clock } from '../platform/clock.ts'
import type { Page } from '../platform/page.ts'
import { requireSessionId } from '../session-id.ts'
import type { EarlyParts, LateParts } from './agent-parts.ts'

/*
 * Connect a chat and its session with the other parts. Classes with one field instead of functions: in a process with
 * many idle agents each function costs 56 bytes.
 */

/** Connects the chat with the other parts of its agent. */
export class ChatWiring implements ChatOwner {
  readonly #parts: LateParts

  constructor(parts: LateParts) {
    this.#parts = parts
  }

  get clock(): Clock {
    return this.#early.scope.environment.clock
  }

  get page(): Page | undefined {
    return this.#early.scope.environment.page
  }

  get policy(): ReconnectPolicy {
    return this.#early.policy
  }

  get session(): ChatSession {
    return this.#parts.session
  }

  get facts(): AgentFacts {
    return this.#early.scope.facts
  }

  get authentication(): AuthenticationService {
    return this.#parts.authentication
  }

  get emit(): Emit<AgentEventType> {
    return this.#early.scope.emit
  }

  openTransport(address: string, listener: TransportListener): Transport {
    const open = this.#parts.tabs?.group?.open ?? webSocketTransport(this.#early.scope.environment.WebSocket)
    return open(address, listener)
  }

  address(sessionId: string): string {
    const { authentication, recovery } = this.#parts
    authentication.checkExpiry()
    return sessionAddress(this.#early, sessionId, recovery.beginAttempt(sessionId))
  }

  contextFrame(): string | undefined {
    const attributes = this.#early.context.get()
    return attributes
      ? Message.fromJSON(createContextMessage({ context: { ...attributes } })).toPayloadString()
      : undefined
  }

  handleWritten(frame: string): void {
    const { scope, ids, origin } = this.#early
    const { transcript, tabs } = this.#parts
    // The transcript is that of the next user already; and of a tab that leaves, the service receives nothing.
    if (scope.status.isLeaving || tabs) return
    const message = composeMessage(JSON.parse(frame), {}, { clock: this.clock, newId: () => ids.newId() }, origin)
    transcript.record(message, 'sent', this.clock.now())
  }

  newFrameId(): string | undefined {
    const { scope, ids } = this.#early
    return scope.facts.hasCapability('receipts') ? ids.newId() : undefined
  }

  handleStateChange(state: ConnectionState, previousState: ConnectionState, retryInMs?: number): void {
    const { logger, status } = this.#early.scope
    const { authentication, tabs } = this.#parts
    logger.debug(`Connection: ${previousState} → ${state}`)
    authentication.watchExpiry(state !== ConnectionState.CLOSED && !tabs?.group?.isFollower)
    status.retryAt = retryInMs === undefined ? undefined : this.clock.monotonic() + retryInMs
  }

  handleConnected(): void {
    const { status } = this.#early.scope
    status.closed = status.failure = undefined
    this.#parts.recovery.handleConnected()
  }

  handleClosed(event: ChatClosed): void {
    const { status } = this.#early.scope
    this.#parts.recovery.handleLost()
    this.#parts.working.end()
    status.closed = event
    status.failure = undefined
  }

  handleFrame(data: unknown): void {
    // The socket stays open for the goodbye: what arrives by then belongs to the user who leaves.
    if (!this.#early.scope.status.isLeaving) this.#parts.inbox.receive(data)
  }

  handleFailure(error: SDKError): void {
    this.#early.scope.status.failure = error
    this.#early.scope.reportError(error)
  }

  get #early(): EarlyParts {
    return this.#parts.early
  }
}

/** Connects the session of the chat with the calls about it. */
export class SessionWiring implements ChatSessionOptions {
  readonly #early: EarlyParts

  constructor(early: EarlyParts) {
    this.#early = early
  }

  get facts(): { sessionId: string | undefined } {
    return this.#early.scope.facts
  }

  /** The host may have set it since the construction of the agent. */
  get suppliedId(): string | undefined {
    return this.facts.sessionId
  }

  /** Creates a session at the service, with the context and the selected portal. */
  async create(signal: AbortSignal): Promise<string> {
    const { scope, loader, context } = this.#early
    const { facts } = scope
    const { api } = await loader.loadDeployment(signal)
    const attributes = context.get()
    const portal = facts.selection?.portal
    const initial = portal ? withPortalAttribute(attributes ?? {}, portal.id) : attributes && { ...attributes }
    const id = await api.getAiAgentSession({ agentId: facts.agentId, ...(initial && { context: initial }), signal })
    return requireSessionId(id, 'The session id in the response of the service')
  }

  isKnown(id: string, signal: AbortSignal | undefined): Promise<boolean> {
    const { environment, reportError } = this.#early.scope
    return isSessionKnown(environment.clock, signal, inner => loadTranscript(this.#early, id, inner), reportError)
  }
}

/** Loads what was said in a session, which the service refuses for an unknown one. */
export async function loadTranscript(
  { scope, loader }: EarlyParts,
  sessionId: string,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { api } = await loader.loadDeployment(signal)
  return api.getPreviousTranscript({ agentId: scope.facts.agentId, sessionId, signal })
}

/** The address of a session's chat. */
export function sessionAddress({ scope, calls }: EarlyParts, sessionId: string, lastSeq: number | undefined): string {
  const { loaded } = scope.facts
  if (!loaded) throw new SDKError('connect() is not possible yet. Await initialize() first.', 'NOT_INITIALIZED')
  const { agent, deployment } = loaded
  return chatAddress({
    agent,
    deployment,
    sessionId: requireSessionId(sessionId, 'The session id'),
    lastSeq,
    conversationId: calls.state?.getConversationId() ?? null,
  })
}
