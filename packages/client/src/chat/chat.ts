import { CLIENT_DISCONNECT_REASON, CLOSE_CODE, encodeMessage, isFinalCloseCode, PERSONA, ROLE } from '@aiagent/protocol'
import { abortedError, ConnectionError, SDKError } from '../errors.ts'
import { type Clock, sleep } from '../platform/clock.ts'
import type { Page } from '../platform/page.ts'
import { untilAborted } from '../util/abort.ts'
import { JoinedTask } from '../util/joined-task.ts'
import type { ChatSession } from './chat-session.ts'
import type { ChatClosed } from './close-cause.ts'
import { Connection } from './connection.ts'
import { ConnectionState } from './connection-state.ts'
import type { ReconnectPolicy } from './reconnect-policy.ts'
import { TokenDialogue } from './token-dialogue.ts'
import type { OpenTransport, Transport } from './transport.ts'

/** Longest wait for the goodbye frame to leave before the socket is closed, in milliseconds. */
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

/** Receives the connection while messages may be written to it. */
export interface MessageSink {
  /** The chat is open. The access token may still be missing. */
  handleConnected(): void
  /** Messages may be written to this transport. */
  handleReady(transport: Transport): void
  /** Messages must not be written for now. */
  handleInterrupted(): void
  /** An open connection has ended. Follows `handleInterrupted`, and `handleClosed` where nothing is retried. */
  handleLost(loss: ConnectionLoss): void
  /** The chat has ended: nothing is retried. */
  handleClosed(): void
}

/** What the chat reports. */
export interface ChatListener {
  stateChanged(state: ConnectionState, previousState: ConnectionState, retryInMs?: number): void
  /** Open, with the token sent where one is needed; waiting messages follow. */
  connected(): void
  closed(event: ChatClosed): void
  received(data: unknown): void
  failed(error: SDKError): void
  /** The service requires a token, and none could be obtained. */
  tokenNeeded(): void
}

export interface ChatOptions {
  clock: Clock
  page?: Page | undefined
  policy: ReconnectPolicy
  openTransport: OpenTransport
  session: ChatSession
  /** The address for a session; built for every attempt. */
  address(sessionId: string): string
  token: { required(): boolean; getToken(): Promise<string>; refresh(): Promise<string> }
  /** The stored context as a frame, for a session that was not created with it. */
  contextFrame(): string | undefined
  listener: ChatListener
}

interface LeaveOptions {
  skipGracefulDisconnect?: boolean
  signal?: AbortSignal
}

/**
 * The conversation's line to the service: a connection, the lane out, and the token dialogue, in the order the protocol
 * wants them (PROTOCOL.md, "Opening sequence"): token frame, `connected`, owed context, what waits, what is new.
 */
export class Chat {
  readonly #options: ChatOptions
  readonly #connection: Connection
  #sink: MessageSink | undefined
  readonly #token: TokenDialogue
  /** The session of the last attempt: the host may have set another since. */
  #dialledSession: string | undefined
  /** The token step of the present opening: over when `connected` is told or the transport is gone. */
  #opening: Promise<void> = Promise.resolve()
  #endOpening: () => void = () => {}
  /** The transport that `connected` was told for. */
  #announced: Transport | undefined
  /** Time of the last inbound frame of the open connection, on the monotonic clock. */
  #lastInboundAt: number | undefined
  /** The goodbye under way. */
  #leaving: { readonly transport: Transport; readonly done: Promise<void> } | undefined
  /** How often the host has left: what it asked for before and is still waiting is not wanted any more. */
  #departures = 0
  readonly #restarting = new JoinedTask<void>(RESTART_ABORTED)

  constructor(options: ChatOptions) {
    this.#options = options
    const { clock, page, listener, session } = options
    this.#connection = new Connection({
      clock,
      page,
      policy: options.policy,
      openTransport: options.openTransport,
      address: async signal => {
        const sessionId = await session.require(signal)
        signal.throwIfAborted()
        this.#dialledSession = sessionId
        return options.address(sessionId)
      },
      listener: {
        stateChanged: (state, previousState, retryInMs) => {
          listener.stateChanged(state, previousState, retryInMs)
          if (state === ConnectionState.CLOSED) this.#sink?.handleClosed()
        },
        opened: transport => this.#opened(transport),
        received: data => {
          this.#lastInboundAt = clock.monotonic()
          listener.received(data)
        },
        closed: event => {
          this.#interrupt()
          this.#announced = undefined
          this.#sink?.handleLost({ lastInboundAt: this.#lastInboundAt, isAbnormal: !isFinalCloseCode(event.code) })
          listener.closed(event)
        },
        failed: error => {
          session.markUnverified(error instanceof ConnectionError && error.httpStatus !== undefined)
          listener.failed(error)
        },
        sessionRefused: () => session.forget(this.#dialledSession),
        ended: () => session.markEnded(),
      },
    })
    this.#token = new TokenDialogue({
      // Named one by one: a spread gives each object a separate hidden class.
      required: options.token.required,
      getToken: options.token.getToken,
      refresh: options.token.refresh,
      onReady: transport => this.#ready(transport),
      onUnavailable: (error, transport, isUsable) => {
        if (!isUsable) this.#sink?.handleInterrupted()
        listener.failed(error)
        this.#announce(transport)
        listener.tokenNeeded()
      },
    })
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
    return state === ConnectionState.IDLE || state === ConnectionState.CLOSED || this.#leaving !== undefined
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

  /** Replaces the connection, which is probably dead. */
  replace(): void {
    if (!this.#leaving) this.#connection.replace()
  }

  /** Names the one part that messages are written by. */
  setMessageSink(sink: MessageSink): void {
    this.#sink = sink
  }

  /** Resolves once the chat is open and the token has been sent where one is needed, or found impossible to get. */
  async connect(signal?: AbortSignal): Promise<void> {
    const departures = this.#departures
    // One socket at a time: the service would close the older of two on the same session.
    while (this.#leaving && !signal?.aborted) await untilAborted(this.#leaving.done, signal).catch(() => {})
    if (departures !== this.#departures) throw leftMeanwhile('connect()')
    await this.#connection.open(signal)
    const transport = this.#connection.transport
    await untilAborted(this.#opening, signal).catch(() => {})
    if (signal?.aborted) throw abortedError('connect()', signal)
    if (!transport || this.#connection.transport !== transport || this.#isLeaving(transport))
      throw new ConnectionError('The chat was closed right after it opened.', 'closed')
  }

  /**
   * Leaves: says goodbye when open, and closes. Waiting messages stay for a later connect. A connect or a restart that
   * has not come to its end is given up.
   */
  disconnect(options: LeaveOptions = {}): Promise<void> {
    this.#departures++
    this.#restarting.abort(leftMeanwhile('restartConnection()'))
    const left = this.#end(options)
    // Questions that were asked without a connection are given up, too.
    if (!this.isOpen) this.#sink?.handleClosed()
    return left
  }

  /**
   * Moves the conversation to another session.
   *
   * A new session is asked for before the old chat is left, so that a failure changes nothing.
   *
   * @param reset called between the two: what belonged to the old conversation goes
   */
  restart(options: { sessionId: string | undefined; signal: AbortSignal | undefined; reset(): void }): Promise<void> {
    const { session } = this.#options
    const { sessionId, reset } = options
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
      // A connect() that waited for the goodbye as well may have begun with the old session.
      this.#close()
      reset()
      if (created !== undefined) session.adopt(created)
      else if (sessionId !== undefined) session.supply(sessionId)
      await this.connect(signal)
    }, options.signal)
  }

  /** The service asks for a new token; `expired` when it takes the present one no longer. */
  renewToken(expired: boolean): void {
    this.#token.renew(expired)
  }

  /** A new token is there. */
  offerToken(token: string): void {
    this.#token.offer(token)
  }

  /** The agent has spoken: the connection is good. */
  confirm(): void {
    this.#connection.confirm()
  }

  #opened(transport: Transport): void {
    this.#lastInboundAt = undefined
    this.#options.session.markOpened()
    // A listener of the state change may have left already.
    if (this.#isLeaving(transport)) return
    if (this.#token.isRequired) {
      this.#opening = new Promise(resolve => {
        this.#endOpening = resolve
      })
      this.#token.begin(transport)
    } else {
      this.#token.attach(transport)
      this.#ready(transport)
    }
  }

  /** Nothing stands between the messages and this transport any more. */
  #ready(transport: Transport): void {
    this.#announce(transport)
    // A listener may have left in between.
    if (this.#connection.transport !== transport || this.#isLeaving(transport)) return
    this.#sendContextFrame(transport)
    this.#sink?.handleReady(transport)
  }

  #announce(transport: Transport): void {
    if (this.#announced === transport || this.#connection.transport !== transport) return
    this.#announced = transport
    this.#endOpening()
    this.#sink?.handleConnected()
    this.#options.listener.connected()
  }

  #sendContextFrame(transport: Transport): void {
    const { session, contextFrame } = this.#options
    // A session set for the next connection gets its context there.
    if (!session.needsContextFrame || session.id !== this.#dialledSession) return
    const frame = contextFrame()
    try {
      if (frame !== undefined) transport.send(frame)
      session.markContextSent()
    } catch {
      // The socket is closing: the next opening sends it.
    }
  }

  /** The transport is gone or about to go. */
  #interrupt(): void {
    this.#sink?.handleInterrupted()
    this.#token.end()
    this.#endOpening()
  }

  #isLeaving(transport: Transport): boolean {
    return this.#leaving?.transport === transport
  }

  #end({ skipGracefulDisconnect = false, signal }: LeaveOptions): Promise<void> {
    const transport = this.#connection.transport
    // Before the token nothing else may leave, not even the goodbye.
    if (!transport || skipGracefulDisconnect || this.#token.isOwed) {
      this.#close()
      return this.#leaving?.done ?? Promise.resolve()
    }
    if (!this.#isLeaving(transport)) {
      const done = this.#leave(transport, signal).finally(() => {
        if (this.#isLeaving(transport)) this.#leaving = undefined
      })
      this.#leaving = { transport, done }
    }
    return this.#leaving?.done ?? Promise.resolve()
  }

  async #leave(transport: Transport, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#options
    this.#interrupt()
    this.#connection.expectEnd()
    try {
      transport.send(GOODBYE)
    } catch {
      // Then the service learns it from the close.
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

const GOODBYE = encodeMessage({ persona: PERSONA.SYSTEM, role: ROLE.GRACEFUL_DISCONNECT })
