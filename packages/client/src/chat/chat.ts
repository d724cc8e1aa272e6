import {
  addMessageId,
  CLIENT_DISCONNECT_REASON,
  CLOSE_CODE,
  encodeMessage,
  isFinalCloseCode,
  PERSONA,
  ROLE,
} from '@aiagent/protocol'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import { abortedError, ConnectionError, SDKError } from '../errors.ts'
import type { ChatClosed } from '../events.ts'
import { recordOwnFrame, type Transcript } from '../log/transcript.ts'
import { sleep } from '../platform/clock.ts'
import type { AgentScope } from '../scope.ts'
import { requireSessionId } from '../session-id.ts'
import { untilAborted } from '../util/abort.ts'
import { Era } from '../util/era.ts'
import { JoinedTask } from '../util/joined-task.ts'
import { type ReconnectPolicy, reportState } from './backoff.ts'
import type { ChatSession, Opening } from './chat-session.ts'
import { Connection, type ConnectionOwner } from './connection.ts'
import { ConnectionState } from './connection-state.ts'
import { TokenDialogue, type TokenListener } from './token-dialogue.ts'
import { chatAddress, type Transport, type TransportListener, WebSocketTransport } from './transport.ts'

/** Time limit for sending the disconnect frame before the socket is closed, in milliseconds. */
const GOODBYE_LIMIT_MS = 100

const GOODBYE_POLL_MS = 5

const RESTART_ABORTED = (signal: AbortSignal) => abortedError('restartConnection()', signal)

/** How an open connection ended. */
export interface ConnectionLoss {
  /** Time of the last inbound frame on the monotonic clock; undefined when none arrived on this connection. */
  readonly lastInboundAt: number | undefined
  /** Whether neither side closed it in order, so that frames written last may not have arrived. */
  readonly isAbnormal: boolean
}

/** A part that follows the connection. All of them are called in the order in which they were added, before the events. */
export interface ChatObserver {
  /** An attempt begins. Returns the number of the last processed frame of its session, for a reopening. */
  beginAttempt?(opening: Opening): number | undefined
  /** The chat is open. The access token may still be missing. */
  handleConnected?(opening: Opening): void
  /** Messages may be written to this transport. */
  handleReady?(transport: Transport): void
  /** Messages must not be written for now. */
  handleInterrupted?(): void
  /** A frame has arrived. */
  handleFrame?(data: unknown): void
  /** An open connection has ended. Follows `handleInterrupted`, and `handleClosed` if no reconnect follows. */
  handleLost?(loss: ConnectionLoss): void
  /** The chat has ended: no reconnect follows. */
  handleClosed?(): void
}

type ChatScope = AgentScope<'stateChanged' | 'connected' | 'closed' | 'tokenExpiring'>

interface LeaveOptions {
  skipGracefulDisconnect?: boolean
  signal?: AbortSignal
}

/**
 * The chat of a conversation: a connection, the outgoing lane and the token dialogue, in the order of the protocol
 * (PROTOCOL.md, "Opening sequence"): token frame, `connected`, pending context, queued messages, new messages.
 */
export class Chat implements ConnectionOwner, TokenListener {
  readonly #scope: ChatScope
  readonly #session: ChatSession
  readonly #authentication: AuthenticationService
  readonly #connection: Connection
  readonly #token: TokenDialogue
  readonly #transcript: Transcript
  #observers: readonly ChatObserver[] = []
  /** The token step of the last opening: it ends with `connected`, or with the transport. */
  #greeting:
    | { readonly opening: Opening; isAnnounced: boolean; readonly done?: Promise<void>; end?(): void }
    | undefined
  /** Time of the last inbound frame of the open connection, on the monotonic clock. */
  #lastInboundAt: number | undefined
  /** The end of an open connection by this client: a disconnect frame, then the close. */
  #departure: { readonly transport: Transport; readonly done: Promise<void> } | undefined
  /** Ended by a disconnect of the host: earlier operations that are still pending are cancelled. */
  #era = new Era()
  /** The attempts during which the session is checked; undefined where it was not. */
  #check: Era | undefined
  /** Created with the first restart. */
  #restarting: JoinedTask<void> | undefined

  constructor(
    scope: ChatScope,
    policy: ReconnectPolicy,
    {
      session,
      authentication,
      transcript,
    }: { session: ChatSession; authentication: AuthenticationService; transcript: Transcript },
  ) {
    this.#scope = scope
    this.#session = session
    this.#authentication = authentication
    const { clock, page } = scope.environment
    this.#connection = new Connection(clock, page, policy, this)
    this.#token = new TokenDialogue(scope.facts, authentication, this)
    this.#transcript = transcript
    authentication.setTokenExpiringCallback(({ expiresAt }) =>
      scope.emit('tokenExpiring', () => ({ reason: 'expiring', expiresAt })),
    )
  }

  /** Adds a part that follows the connection. */
  observe(observer: ChatObserver): void {
    // An array that grows by push() reserves sixteen more places.
    this.#observers = this.#observers.concat(observer)
  }

  get state(): ConnectionState {
    return this.#connection.state
  }

  /** Reconnect attempts since the connection was last good; while it waits, the number of the next one. */
  get attempts(): number {
    return this.#connection.retry.attempts
  }

  /** Whether the chat is open and messages wait for the access token. */
  get isTokenOwed(): boolean {
    return this.isOpen && this.#token.isOwed
  }

  get isOpen(): boolean {
    return this.#connection.transport !== undefined
  }

  /** Whether the chat is closed, or about to close, and no reconnect follows. */
  get isLeft(): boolean {
    const { state } = this.#connection
    return state === ConnectionState.IDLE || state === ConnectionState.CLOSED || this.#departure !== undefined
  }

  /** Time of the last inbound frame of the open connection, on the monotonic clock. */
  get lastInboundAt(): number | undefined {
    return this.#lastInboundAt
  }

  /** Writes a frame of the extension of the wire, if the chat is open. */
  writeSignal(frame: string): void {
    try {
      this.#connection.transport?.send(frame)
    } catch {
      // The socket is closing; its close event follows.
    }
  }

  /** Replaces the connection, which is probably broken. */
  replace(): void {
    if (!this.#departure) this.#connection.replace()
  }

  /** Replaces the connection, whose frames nothing can take. */
  refuseFrames(): void {
    this.#connection.refuseFrames()
  }

  /** Resolves once the chat is open and the token has been sent if one is needed, or cannot be obtained. */
  async connect(signal?: AbortSignal): Promise<void> {
    const era = this.#era
    // One socket at a time: the service would close the older of two on the same session.
    while (this.#departure && !signal?.aborted) await untilAborted(this.#departure.done, signal).catch(() => {})
    if (era.isOver) throw leftMeanwhile('connect()')
    await this.#connection.open(signal)
    const transport = this.#connection.transport
    await untilAborted(Promise.resolve(this.#greeting?.done), signal).catch(() => {})
    if (signal?.aborted) throw abortedError('connect()', signal)
    if (!transport || this.#connection.transport !== transport || this.#departure?.transport === transport)
      throw new ConnectionError('The chat was closed right after it opened.', 'closed')
  }

  /**
   * Disconnects: sends the disconnect frame if open, and closes. Queued messages stay for a later connect. A connect or
   * restart in progress is cancelled.
   */
  disconnect(options: LeaveOptions = {}): Promise<void> {
    this.#era = this.#era.end()
    this.#restarting?.abort(leftMeanwhile('restartConnection()'))
    const left = this.#end(options)
    // Questions asked without a connection are rejected, too.
    if (!this.isOpen) for (const each of this.#observers) each.handleClosed?.()
    return left
  }

  /**
   * Moves the conversation to another session.
   *
   * Creates the new session before the old chat is left, so that a failure changes nothing.
   *
   * @param reset called between the two: removes the data of the old conversation
   */
  restart(options: { sessionId: string | undefined; signal: AbortSignal | undefined; reset(): void }): Promise<void> {
    const session = this.#session
    const { sessionId, reset } = options
    this.#restarting ??= new JoinedTask(RESTART_ABORTED)
    return this.#restarting.join(async signal => {
      const created = sessionId === undefined ? await session.create(signal) : undefined
      signal.throwIfAborted()
      await this.#end({ signal })
      signal.throwIfAborted()
      // A connect() that also waited for the disconnect may have begun with the old session.
      this.#close()
      reset()
      if (created !== undefined) session.adopt(created)
      else if (sessionId !== undefined) session.supply(sessionId)
      await this.connect(signal)
    }, options.signal)
  }

  /** The service requests a new token; `expired` when it no longer accepts the current one. */
  onRefreshRequired(expired: boolean): void {
    this.#token.renew(expired)
  }

  /** A new token is available. */
  offerToken(token: string): void {
    this.#token.offer(token)
  }

  /** The agent has answered: the connection works. */
  confirm(): void {
    this.#connection.retry.attempts = 0
  }

  // ── The connection ────────────────────────────────────────────────────────────────────────────────────────────────────

  async resolveAddress(signal: AbortSignal): Promise<string> {
    const opening = await this.#session.begin(signal, this.#connection.retry.attempts === 0)
    this.#authentication.checkExpiry()
    let lastSeq: number | undefined
    for (const each of this.#observers) lastSeq ??= each.beginAttempt?.(opening)
    return this.addressOf(opening.sessionId, lastSeq)
  }

  /** The address of a session's chat. `lastSeq` is the number of the last processed frame, for a reopening. */
  addressOf(sessionId: string, lastSeq: number | undefined): string {
    const { loaded, conversationId } = this.#scope.facts
    if (!loaded) throw new SDKError('connect() is not possible yet. Await initialize() first.', 'NOT_INITIALIZED')
    const { agent, deployment } = loaded
    return chatAddress({
      agent,
      deployment,
      sessionId: requireSessionId(sessionId, 'The session id'),
      lastSeq,
      conversationId,
    })
  }

  openTransport(address: string, listener: TransportListener): Transport {
    const { shared, environment } = this.#scope
    return shared?.open(address, listener) ?? new WebSocketTransport(new environment.WebSocket(address), listener)
  }

  handleStateChange(state: ConnectionState, previousState: ConnectionState, retryInMs?: number): void {
    const { logger, shared } = this.#scope
    logger.debug(`Connection: ${previousState} → ${state}`)
    this.#authentication.watchExpiry(state !== ConnectionState.CLOSED && !shared?.isFollower)
    reportState(this.#scope, state, retryInMs)
    if (state !== ConnectionState.CLOSED) return
    this.#check?.end()
    this.#check = undefined
    for (const each of this.#observers) each.handleClosed?.()
  }

  handleOpened(transport: Transport): void {
    this.#lastInboundAt = undefined
    const opening = this.#session.handleOpened()
    // A listener of the state change may have disconnected already.
    if (this.#departure?.transport === transport) return
    if (this.#token.isRequired) {
      let end = () => {}
      const done = new Promise<void>(resolve => {
        end = resolve
      })
      this.#greeting = { opening, isAnnounced: false, done, end }
      this.#token.begin(transport)
    } else {
      this.#greeting = { opening, isAnnounced: false }
      this.#token.attach(transport)
      this.handleTokenSent(transport)
    }
  }

  handleFrame(data: unknown): void {
    this.#lastInboundAt = this.#scope.environment.clock.monotonic()
    // The socket stays open for the goodbye: what arrives by then belongs to the user who leaves.
    if (!this.#scope.status.isLeaving) for (const each of this.#observers) each.handleFrame?.(data)
  }

  handleClosed(event: ChatClosed): void {
    const { status } = this.#scope
    this.#interrupt()
    const loss = { lastInboundAt: this.#lastInboundAt, isAbnormal: !isFinalCloseCode(event.code) }
    for (const each of this.#observers) each.handleLost?.(loss)
    status.closed = event
    status.failure = undefined
    this.#scope.emit('closed', () => event)
    this.#session.handleClosed()
  }

  handleFailure(error: SDKError): void {
    const isExplained = error instanceof ConnectionError && error.httpStatus !== undefined
    const isDoubtful = this.#session.handleFailure(isExplained)
    this.#report(error)
    if (isDoubtful && this.state !== ConnectionState.CLOSED) void this.#checkSession()
  }

  /** Runs beside the attempts, so that a call that hangs delays none, until the last of them. */
  async #checkSession(): Promise<void> {
    const check = (this.#check ??= new Era())
    const isForgotten = await check.during(signal => this.#session.check(signal)).catch(() => false)
    if (isForgotten) this.#connection.hurry()
  }

  handleSessionRefused(): void {
    this.#session.handleRefused()
  }

  handleEnded(): void {
    this.#session.handleEnded()
  }

  #report(error: SDKError): void {
    this.#scope.status.failure = error
    this.#scope.reportError(error)
  }

  // ── The token ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  handleTokenUnavailable(error: SDKError | undefined, transport: Transport, isUsable: boolean): void {
    if (!isUsable) for (const each of this.#observers) each.handleInterrupted?.()
    if (error) this.#report(error)
    this.#announce(transport)
    this.#scope.emit('tokenExpiring', () => ({ reason: 'transport_request' }))
  }

  /** Messages may now be written to this transport. */
  handleTokenSent(transport: Transport): void {
    this.#announce(transport)
    // A listener may have disconnected meanwhile.
    if (this.#connection.transport !== transport || this.#departure?.transport === transport) return
    this.#session.sendContext(transport)
    for (const each of this.#observers) each.handleReady?.(transport)
  }

  #announce(transport: Transport): void {
    const greeting = this.#greeting
    if (!greeting || greeting.isAnnounced || this.#connection.transport !== transport) return
    greeting.isAnnounced = true
    greeting.end?.()
    const { status } = this.#scope
    status.closed = status.failure = undefined
    for (const each of this.#observers) each.handleConnected?.(greeting.opening)
    this.#scope.emit('connected', () => ({}))
  }

  /** The transport is closed or closing. */
  #interrupt(): void {
    for (const each of this.#observers) each.handleInterrupted?.()
    this.#token.end()
    this.#greeting?.end?.()
  }

  #end({ skipGracefulDisconnect = false, signal }: LeaveOptions): Promise<void> {
    const transport = this.#connection.transport
    // Nothing else may be sent before the token, not even the disconnect frame.
    if (!transport || skipGracefulDisconnect || this.#token.isOwed) this.#close()
    else if (this.#departure?.transport !== transport) {
      this.#interrupt()
      const done = this.#sayGoodbye(transport, signal).finally(() => {
        if (this.#departure?.transport === transport) this.#departure = undefined
      })
      this.#departure = { transport, done }
    }
    return this.#departure?.done ?? Promise.resolve()
  }

  /** Sends the disconnect frame, and closes when it has left, at the time limit, or when the signal is aborted. */
  async #sayGoodbye(transport: Transport, signal: AbortSignal | undefined): Promise<void> {
    const { environment, facts } = this.#scope
    const { clock } = environment
    this.#connection.expectEnd()
    try {
      const goodbye = { persona: PERSONA.SYSTEM, role: ROLE.GRACEFUL_DISCONNECT }
      const frame = encodeMessage(goodbye)
      transport.send(facts.hasReceipts ? addMessageId(frame, this.#scope.newId()) : frame)
      recordOwnFrame(this.#scope, this.#transcript, goodbye)
    } catch {
      // Then the service detects it by the close.
    }
    const limit = clock.monotonic() + GOODBYE_LIMIT_MS
    while (transport.bufferedAmount > 0 && clock.monotonic() < limit && this.#connection.transport === transport) {
      if (signal?.aborted) break
      await sleep(clock, GOODBYE_POLL_MS, signal)
    }
    if (this.#connection.transport === transport) this.#close()
  }

  #close(): void {
    this.#connection.close(CLOSE_CODE.NORMAL, CLIENT_DISCONNECT_REASON)
  }
}

function leftMeanwhile(what: string): SDKError {
  return new SDKError(`${what} was given up because disconnect() came after it.`, 'ABORTED')
}
