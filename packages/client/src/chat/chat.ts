import { isFinalCloseCode } from '@aiagent/protocol'
import { abortedError, ConnectionError, SDKError } from '../errors.ts'
import type { Emit } from '../events.ts'
import { untilAborted } from '../util/abort.ts'
import { JoinedTask } from '../util/joined-task.ts'
import type { ChatSession } from './chat-session.ts'
import type { ChatClosed } from './close-cause.ts'
import { Connection, type ConnectionOptions, type ConnectionOwner } from './connection.ts'
import { ConnectionState } from './connection-state.ts'
import { ContextFrame, type ContextFrameOwner } from './context-frame.ts'
import { Departure } from './departure.ts'
import { TokenDialogue, type TokenDialogueOptions, type TokenListener } from './token-dialogue.ts'
import type { Transport } from './transport.ts'

const RESTART_ABORTED = (signal: AbortSignal) => abortedError('restartConnection()', signal)

/** How an open connection ended. */
export interface ConnectionLoss {
  /** Time of the last inbound frame on the monotonic clock; undefined when none arrived on this connection. */
  readonly lastInboundAt: number | undefined
  /** Whether neither side closed it in order, so that frames written last may not have arrived. */
  readonly isAbnormal: boolean
}

/** Receives the connection while messages may be written to it. */
export interface MessageSink {
  /** The chat is open. The access token may still be missing. */
  handleConnected(): void
  /** Messages may be written to this transport. */
  handleReady(transport: Transport): void
  /** Messages must not be written for now. */
  handleInterrupted(): void
  /** An open connection has ended. Follows `handleInterrupted`, and `handleClosed` if no reconnect follows. */
  handleLost(loss: ConnectionLoss): void
  /** The chat has ended: no reconnect follows. */
  handleClosed(): void
}

/** Who has a chat: what the chat uses of it, and reports to it. */
export interface ChatOwner extends ConnectionOptions, TokenDialogueOptions, ContextFrameOwner {
  readonly session: ChatSession
  readonly emit: Emit<'stateChanged' | 'connected' | 'closed' | 'tokenExpiring'>
  /** The address for a session; built for every attempt. */
  address(sessionId: string): string
  /** Called before `stateChanged` is emitted. */
  handleStateChange(state: ConnectionState, previousState: ConnectionState, retryInMs?: number): void
  /** Open, with the token sent if one is needed; `connected` and queued messages follow. */
  handleConnected(): void
  /** Called before `closed` is emitted. */
  handleClosed(event: ChatClosed): void
  handleFrame(data: unknown): void
  handleFailure(error: SDKError): void
}

interface LeaveOptions {
  skipGracefulDisconnect?: boolean
  signal?: AbortSignal
}

/**
 * The chat of a conversation: a connection, the outgoing lane and the token dialogue, in the order of the protocol
 * (PROTOCOL.md, "Opening sequence"): token frame, `connected`, pending context, queued messages, new messages.
 */
export class Chat implements ConnectionOwner, TokenListener {
  readonly #owner: ChatOwner
  readonly #connection: Connection
  readonly #token: TokenDialogue
  readonly #contextFrame: ContextFrame
  readonly #departure: Departure
  #sink: MessageSink | undefined
  /** The session of the last attempt: the host may have set another since. */
  #dialledSession: string | undefined
  /** The last opening. `done` is its token step, which ends with `connected` or with the transport. */
  #opening: { isAnnounced: boolean; readonly done?: Promise<void>; end?(): void } | undefined
  /** Time of the last inbound frame of the open connection, on the monotonic clock. */
  #lastInboundAt: number | undefined
  /** Number of disconnects by the host: earlier operations that are still pending are cancelled. */
  #departures = 0
  /** Created with the first restart. */
  #restarting: JoinedTask<void> | undefined

  constructor(owner: ChatOwner) {
    this.#owner = owner
    this.#connection = new Connection(owner, this)
    this.#token = new TokenDialogue(owner, this)
    this.#contextFrame = new ContextFrame(owner)
    this.#departure = new Departure(owner, this.#connection)
  }

  get state(): ConnectionState {
    return this.#connection.state
  }

  /** Reconnect attempts since the connection was last good; while it waits, the number of the next one. */
  get attempts(): number {
    return this.#connection.attempts
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
    return state === ConnectionState.IDLE || state === ConnectionState.CLOSED || this.#departure.done !== undefined
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
    if (!this.#departure.done) this.#connection.replace()
  }

  /** Replaces the connection, whose frames nothing can take. */
  refuseFrames(): void {
    this.#connection.refuseFrames()
  }

  /** Sets the part that writes the messages. */
  setMessageSink(sink: MessageSink): void {
    this.#sink = sink
  }

  /** Resolves once the chat is open and the token has been sent if one is needed, or cannot be obtained. */
  async connect(signal?: AbortSignal): Promise<void> {
    const departures = this.#departures
    // One socket at a time: the service would close the older of two on the same session.
    while (this.#departure.done && !signal?.aborted) await untilAborted(this.#departure.done, signal).catch(() => {})
    if (departures !== this.#departures) throw leftMeanwhile('connect()')
    await this.#connection.open(signal)
    const transport = this.#connection.transport
    await untilAborted(Promise.resolve(this.#opening?.done), signal).catch(() => {})
    if (signal?.aborted) throw abortedError('connect()', signal)
    if (!transport || this.#connection.transport !== transport || this.#departure.isFrom(transport))
      throw new ConnectionError('The chat was closed right after it opened.', 'closed')
  }

  /**
   * Disconnects: sends the disconnect frame if open, and closes. Queued messages stay for a later connect. A connect or
   * restart in progress is cancelled.
   */
  disconnect(options: LeaveOptions = {}): Promise<void> {
    this.#departures++
    this.#restarting?.abort(leftMeanwhile('restartConnection()'))
    const left = this.#end(options)
    // Questions asked without a connection are rejected, too.
    if (!this.isOpen) this.#sink?.handleClosed()
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
    const { session } = this.#owner
    const { sessionId, reset } = options
    this.#restarting ??= new JoinedTask(RESTART_ABORTED)
    return this.#restarting.join(async signal => {
      const giveUpIfAborted = () => {
        if (signal.aborted) throw abortedError('restartConnection()', signal)
      }
      const created =
        sessionId === undefined
          ? await untilAborted(session.create(signal), signal).finally(giveUpIfAborted)
          : undefined
      await this.#end({ signal })
      giveUpIfAborted()
      // A connect() that also waited for the disconnect may have begun with the old session.
      this.#departure.close()
      reset()
      if (created !== undefined) session.adopt(created)
      else if (sessionId !== undefined) session.supply(sessionId)
      await this.connect(signal)
    }, options.signal)
  }

  /** The service requests a new token; `expired` when it no longer accepts the current one. */
  renewToken(expired: boolean): void {
    this.#token.renew(expired)
  }

  /** The service has accepted or refused the frame with this id. */
  handleReceipt(id: string): void {
    this.#contextFrame.handleReceipt(id)
  }

  /** A new token is available. */
  offerToken(token: string): void {
    this.#token.offer(token)
  }

  /** The agent has answered: the connection works. */
  confirm(): void {
    this.#connection.confirm()
  }

  // ── The connection ────────────────────────────────────────────────────────────────────────────────────────────────────

  async resolveAddress(signal: AbortSignal): Promise<string> {
    const sessionId = await this.#owner.session.require(signal)
    signal.throwIfAborted()
    this.#dialledSession = sessionId
    return this.#owner.address(sessionId)
  }

  handleStateChange(state: ConnectionState, previousState: ConnectionState, retryInMs?: number): void {
    const { emit } = this.#owner
    this.#owner.handleStateChange(state, previousState, retryInMs)
    emit('stateChanged', () => ({ state, previousState, ...(retryInMs === undefined ? {} : { retryInMs }) }))
    if (state === ConnectionState.CLOSED) this.#sink?.handleClosed()
  }

  handleOpened(transport: Transport): void {
    this.#lastInboundAt = undefined
    this.#owner.session.markOpened(this.#dialledSession)
    // A listener of the state change may have disconnected already.
    if (this.#departure.isFrom(transport)) return
    if (this.#token.isRequired) {
      let end = () => {}
      const done = new Promise<void>(resolve => {
        end = resolve
      })
      this.#opening = { isAnnounced: false, done, end }
      this.#token.begin(transport)
    } else {
      this.#opening = { isAnnounced: false }
      this.#token.attach(transport)
      this.handleTokenSent(transport)
    }
  }

  handleFrame(data: unknown): void {
    this.#lastInboundAt = this.#owner.clock.monotonic()
    this.#owner.handleFrame(data)
  }

  handleClosed(event: ChatClosed): void {
    this.#interrupt()
    this.#sink?.handleLost({ lastInboundAt: this.#lastInboundAt, isAbnormal: !isFinalCloseCode(event.code) })
    this.#owner.handleClosed(event)
    this.#owner.emit('closed', () => event)
    this.#owner.session.markClosed()
  }

  handleFailure(error: SDKError): void {
    this.#owner.session.markUnverified(error instanceof ConnectionError && error.httpStatus !== undefined)
    this.#owner.handleFailure(error)
  }

  handleSessionRefused(): void {
    this.#owner.session.forget(this.#dialledSession)
  }

  handleEnded(): void {
    this.#owner.session.markEnded()
  }

  // ── The token ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  handleTokenUnavailable(error: SDKError | undefined, transport: Transport, isUsable: boolean): void {
    if (!isUsable) this.#sink?.handleInterrupted()
    if (error) this.#owner.handleFailure(error)
    this.#announce(transport)
    this.#owner.emit('tokenExpiring', () => ({ reason: 'transport_request' }))
  }

  /** Messages may now be written to this transport. */
  handleTokenSent(transport: Transport): void {
    this.#announce(transport)
    // A listener may have disconnected meanwhile.
    if (this.#connection.transport !== transport || this.#departure.isFrom(transport)) return
    this.#contextFrame.send(transport, this.#dialledSession)
    this.#sink?.handleReady(transport)
  }

  #announce(transport: Transport): void {
    const opening = this.#opening
    if (!opening || opening.isAnnounced || this.#connection.transport !== transport) return
    opening.isAnnounced = true
    opening.end?.()
    this.#sink?.handleConnected()
    this.#owner.handleConnected()
    this.#owner.emit('connected', () => ({}))
  }

  /** The transport is closed or closing. */
  #interrupt(): void {
    this.#sink?.handleInterrupted()
    this.#token.end()
    this.#opening?.end?.()
  }

  #end({ skipGracefulDisconnect = false, signal }: LeaveOptions): Promise<void> {
    const transport = this.#connection.transport
    // Nothing else may be sent before the token, not even the disconnect frame.
    if (!transport || skipGracefulDisconnect || this.#token.isOwed) this.#departure.close()
    else if (!this.#departure.isFrom(transport)) {
      this.#interrupt()
      this.#departure.begin(transport, signal)
    }
    return this.#departure.done ?? Promise.resolve()
  }
}

function leftMeanwhile(what: string): SDKError {
  return new SDKError(`${what} was given up because disconnect() came after it.`, 'ABORTED')
}
