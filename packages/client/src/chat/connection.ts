import { CLOSE_CODE, isFinalCloseCode, isSessionRefusal } from '@aiagent/protocol'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import { abortedError, ConnectionError, notInitialized, SDKError } from '../errors.ts'
import type { ChatClosed, CloseCause } from '../events.ts'
import type { Clock, SocketCloseEvent } from '../platform/environment.ts'
import { readRetryAfter } from '../platform/http.ts'
import {
  DEAD_CONNECTION_REASON,
  FRAME_TOO_LARGE_CODE,
  FRAME_TOO_LARGE_REASON,
  FRAMES_WAIT_REASON,
  TOO_LARGE_PRIVATE_CODE,
} from '../platform/socket-limits.ts'
import type { AgentScope } from '../scope.ts'
import { requireSessionId } from '../session-id.ts'
import { Era } from '../util/era.ts'
import { type ReconnectPolicy, Retry, type RetryPace, reportState } from './backoff.ts'
import type { ChatSession, Opening } from './chat-session.ts'
import { ConnectionState } from './connection-state.ts'
import { chatAddress, type Transport, type TransportListener, WebSocketTransport } from './transport.ts'

/*
 * The reconnect loop over one transport at a time. It owns the connection's state, the transport, the one timer and the
 * count of attempts, tells the session how attempts end, and the parts above, its observers, what they need to know.
 *
 *   idle ── open() ──► connecting ── opened ──► open
 *                        ▲   │ fails             │ close code other than 1000, 1005
 *                        │   ▼                   ▼
 *                        └─ timer ── waiting ◄───┘        attempts used up, 1000, 1005, or close() ──► closed
 *
 * Every attempt asks for its address again. Whatever arrives late for an attempt or a transport that is no longer the
 * present one changes nothing: each callback first compares itself with the state.
 */

/** Time limit for opening a socket, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 10_000

/** A connection that was open for this long resets the backoff, in milliseconds. */
const STABLE_AFTER_MS = 5_000

/** How an open connection ended. */
export interface ConnectionLoss {
  /** Time of the last inbound frame on the monotonic clock; undefined when none arrived on this connection. */
  readonly lastInboundAt: number | undefined
  /** Whether neither side closed it in order, so that frames written last may not have arrived. */
  readonly isAbnormal: boolean
}

/**
 * A part that follows the chat. All of them are called in the order in which they were added, before the events. The connection
 * tells what happens to it, the token dialogue when the host may know of it and when messages may be written.
 */
export interface ChatObserver {
  /** An attempt begins. Returns the number of the last processed frame of its session, for a reopening. */
  beginAttempt?(opening: Opening): number | undefined
  /** The socket is open. Nothing may be written yet. */
  handleOpened?(transport: Transport, opening: Opening): void
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

type State =
  | { readonly at: 'idle' | 'closed' }
  | { readonly at: 'connecting'; readonly attempt: Attempt }
  | { readonly at: 'open'; readonly transport: Transport; readonly since: number; readonly leaving?: true }
  | { readonly at: 'waiting'; readonly delayMs: number }

const PUBLIC_STATE = {
  idle: ConnectionState.IDLE,
  connecting: ConnectionState.CONNECTING,
  open: ConnectionState.CONNECTED,
  waiting: ConnectionState.RECONNECTING,
  closed: ConnectionState.CLOSED,
} as const satisfies Record<State['at'], ConnectionState>

/** The parts that it uses. */
export interface ConnectionParts {
  readonly session: ChatSession
  readonly authentication: AuthenticationService
}

export class Connection implements TransportListener {
  readonly #scope: AgentScope<'stateChanged' | 'closed'>
  readonly #clock: Clock
  readonly #policy: ReconnectPolicy
  readonly #parts: ConnectionParts
  /** The count of attempts, and the wait for the next one. */
  readonly retry: Retry
  /** The parts that follow the chat, in the order in which they are called. */
  observers: readonly ChatObserver[] = []
  /** Time of the last inbound frame of the open connection, on the monotonic clock. */
  lastInboundAt: number | undefined
  #state: State = { at: 'idle' }
  /** The attempts during which the session is checked; undefined where it was not. */
  #check: Era | undefined

  constructor(scope: AgentScope<'stateChanged' | 'closed'>, policy: ReconnectPolicy, parts: ConnectionParts) {
    const { clock, page } = scope.environment
    this.#scope = scope
    this.#clock = clock
    this.#policy = policy
    this.#parts = parts
    this.retry = new Retry(clock, page, policy)
  }

  /** The agent has answered: the connection works. */
  confirm(): void {
    this.retry.reset()
  }

  /** Adds a part that follows the chat. */
  observe(observer: ChatObserver): void {
    // An array that grows by push() reserves sixteen more places.
    this.observers = this.observers.concat(observer)
  }

  get state(): ConnectionState {
    return PUBLIC_STATE[this.#state.at]
  }

  /** Whether it is closed, or about to close, and no reconnect follows. */
  get isLeft(): boolean {
    return this.#state.at === 'idle' || this.#state.at === 'closed' || this.isLeaving
  }

  /** Whether this client closes the open connection. */
  get isLeaving(): boolean {
    return this.#state.at === 'open' && this.#state.leaving === true
  }

  /** The open transport. */
  get transport(): Transport | undefined {
    return this.#state.at === 'open' ? this.#state.transport : undefined
  }

  /**
   * Resolves when the connection is open, and rejects when the attempt in progress fails. Joins an attempt in progress;
   * ends a wait for the next one. After a failure the loop continues.
   *
   * @throws {SDKError} code ABORTED when the signal is aborted or {@link close} is called first
   */
  open(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(abortedError('connect()', signal))
    switch (this.#state.at) {
      case 'open':
        return Promise.resolve()
      case 'connecting':
        return this.#join(this.#state.attempt, signal)
      case 'waiting':
        this.retry.skip()
        return this.#join(this.#attempt(true), signal)
      case 'idle':
      case 'closed':
        this.retry.start()
        return this.#join(this.#attempt(false), signal)
      default:
        return this.#state satisfies never
    }
  }

  /** The open connection is being closed by the client: no reconnect follows its end. */
  expectEnd(): void {
    if (this.#state.at === 'open') this.#state = { ...this.#state, leaving: true }
  }

  /** Closes the connection or the attempt to open one. No reconnect follows. */
  close(code: number = CLOSE_CODE.NORMAL, reason = ''): void {
    const state = this.#state
    if (state.at === 'idle' || state.at === 'closed') return
    this.#become({ at: 'closed' })
    if (state.at === 'open') {
      state.transport.close(code, reason)
      this.#reportClosed({ code, reason, cause: 'left', willReconnect: false })
    } else if (state.at === 'connecting') {
      this.#abandon(state.attempt)
      state.attempt.settle(closedEarly())
    }
  }

  /**
   * Replaces an open connection that is probably broken. Its close is not awaited, and later frames of it are dropped.
   */
  replace(): void {
    const { transport } = this
    if (!transport || this.isLeaving) return
    transport.close(CLOSE_CODE.NORMAL, '')
    this.#lost(transport, { code: CLOSE_CODE.ABNORMAL, reason: DEAD_CONNECTION_REASON })
  }

  /** Replaces an open connection whose frames nothing can take: a history gives back what was not received. */
  refuseFrames(): void {
    const { transport } = this
    if (!transport) return
    transport.close(TOO_LARGE_PRIVATE_CODE, FRAMES_WAIT_REASON)
    this.#lost(transport, { code: FRAME_TOO_LARGE_CODE, reason: FRAMES_WAIT_REASON })
  }

  /** Writes a frame of the extension of the wire, if the chat is open. */
  writeSignal(frame: string): void {
    try {
      this.transport?.send(frame)
    } catch {
      // The socket is closing; its close event follows.
    }
  }

  /** The address of a session's chat. `lastSeq` is the number of the last processed frame, for a reopening. */
  addressOf(sessionId: string, lastSeq: number | undefined): string {
    const { loaded, conversationId } = this.#scope.facts
    if (!loaded) throw notInitialized('connect() is not possible yet')
    const { agent, deployment } = loaded
    return chatAddress({
      agent,
      deployment,
      sessionId: requireSessionId(sessionId, 'The session id'),
      lastSeq,
      conversationId,
    })
  }

  // ── The events of the transport ───────────────────────────────────────────────────────────────────────────────────────

  /** The socket is open. */
  opened(transport: Transport): void {
    const attempt = this.#attemptOver(transport)
    if (!attempt) return
    this.#clock.clearTimeout(attempt.timer)
    this.#become({ at: 'open', transport, since: this.#clock.monotonic() })
    if (this.transport === transport) this.#greet(transport)
    attempt.settle(this.transport === transport ? undefined : closedEarly())
  }

  /** A frame has arrived. */
  received(transport: Transport, data: unknown): void {
    if (this.transport !== transport) return
    this.lastInboundAt = this.#clock.monotonic()
    // The socket stays open for the goodbye: what arrives by then belongs to the user who leaves.
    if (!this.#scope.status.isLeaving) for (const each of this.observers) each.handleFrame?.(data)
  }

  /** The socket has ended, or did not open. */
  closed(transport: Transport, event: SocketCloseEvent): void {
    const attempt = this.#attemptOver(transport)
    if (attempt) this.#refused(attempt, event)
    else this.#lost(transport, event)
  }

  /** The attempt in progress, if it is over this transport. */
  #attemptOver(transport: Transport): Attempt | undefined {
    return this.#state.at === 'connecting' && this.#state.attempt.transport === transport
      ? this.#state.attempt
      : undefined
  }

  // ── The loop ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  #become(next: State): void {
    const previous = this.#state
    if (next.at === 'closed') this.retry.stop()
    this.#state = next
    if (previous.at === next.at) return
    const state = PUBLIC_STATE[next.at]
    const { logger, shared } = this.#scope
    logger.debug(`Connection: ${PUBLIC_STATE[previous.at]} → ${state}`)
    this.#parts.authentication.watchExpiry(next.at !== 'closed' && !shared?.isFollower)
    reportState(this.#scope, state, next.at === 'waiting' ? next.delayMs : undefined)
    if (next.at !== 'closed') return
    this.#check?.end()
    this.#check = undefined
    for (const each of this.observers) each.handleClosed?.()
  }

  #isCurrent(attempt: Attempt): boolean {
    return this.#state.at === 'connecting' && this.#state.attempt === attempt
  }

  #attempt(background: boolean): Attempt {
    const attempt = new Attempt(background)
    this.#become({ at: 'connecting', attempt })
    this.#findAddress(attempt).then(
      address => address !== undefined && this.#dial(attempt, address),
      cause => this.#fail(attempt, asError(cause)),
    )
    return attempt
  }

  /** Asks for the address of the session's chat; built for every attempt. */
  async #findAddress(attempt: Attempt): Promise<string | undefined> {
    // Yield once: a listener may call `open()` while the failure is still being delivered to the others.
    await null
    if (!this.#isCurrent(attempt)) return undefined
    const opening = await this.#parts.session.begin(attempt.controller.signal, this.retry.attempts === 0)
    this.#parts.authentication.checkExpiry()
    let lastSeq: number | undefined
    for (const each of this.observers) lastSeq ??= each.beginAttempt?.(opening)
    return this.addressOf(opening.sessionId, lastSeq)
  }

  #dial(attempt: Attempt, address: string): void {
    if (!this.#isCurrent(attempt)) return
    attempt.timer = this.#clock.setTimeout(() => {
      const seconds = CONNECT_TIMEOUT_MS / 1000
      this.#fail(attempt, new ConnectionError(`The chat did not open within ${seconds} s.`, 'timeout'))
    }, CONNECT_TIMEOUT_MS)
    try {
      const { shared, environment } = this.#scope
      attempt.transport =
        shared?.open(address, this) ?? new WebSocketTransport(new environment.WebSocket(address), this)
    } catch (cause) {
      this.#fail(attempt, refusedByRuntime(address, cause))
    }
  }

  #greet(transport: Transport): void {
    this.lastInboundAt = undefined
    const opening = this.#parts.session.handleOpened()
    // A listener of the state change may have disconnected already.
    if (!this.isLeaving) for (const each of this.observers) each.handleOpened?.(transport, opening)
  }

  #refused(attempt: Attempt, { code, httpStatus, retryAfter, date, error: cause, why }: SocketCloseEvent): void {
    const status = httpStatus === undefined ? `close code ${code}` : `HTTP status ${httpStatus}`
    const sessionRefused = code === CLOSE_CODE.SESSION_UNKNOWN || isSessionRefusal(httpStatus)
    const error = new ConnectionError(
      sessionRefused
        ? `The service does not know the session (${status}). A new one is requested.`
        : `The chat could not be opened (${status})${why ? `: ${why}` : ''}.`,
      httpStatus === undefined && code !== CLOSE_CODE.ABNORMAL ? 'closed' : 'refused',
      { closeCode: code, httpStatus, cause, retryAfterMs: readRetryAfter(retryAfter, date, this.#clock.now()) },
    )
    this.#fail(attempt, error, { sessionRefused, final: isFinalCloseCode(code) })
  }

  #fail(attempt: Attempt, error: SDKError, { sessionRefused = false, final = isFatal(error) } = {}): void {
    if (!this.#isCurrent(attempt)) return
    this.#abandon(attempt)
    this.#retryOrClose(final, { leastMs: error.retryAfterMs }, () => {
      this.#reportFailure(error)
      if (sessionRefused) this.#parts.session.handleRefused()
    })
    attempt.settle(error)
  }

  #lost(transport: Transport, event: SocketCloseEvent): void {
    const { code, reason } = event
    const state = this.#state
    if (state.at !== 'open' || state.transport !== transport) return
    if (this.#clock.monotonic() - state.since >= STABLE_AFTER_MS) this.retry.reset()
    const sessionRefused = code === CLOSE_CODE.SESSION_UNKNOWN
    const final = isFinalCloseCode(code) || state.leaving === true
    const cause = state.leaving ? 'left' : closeCauseOf(event)
    this.#retryOrClose(final, { isUrgent: cause === 'dead_connection' }, () => {
      if (code === CLOSE_CODE.NORMAL && !state.leaving) this.#parts.session.handleEnded()
      const closed = { code, reason, cause }
      // A listener of the state change may have opened or closed it again.
      const next = this.#state
      if (next.at !== 'closed')
        this.#reportClosed({ ...closed, willReconnect: true, retryInMs: next.at === 'waiting' ? next.delayMs : 0 })
      else this.#reportClosed({ ...closed, willReconnect: false, ...(!state.leaving && { remedy: REOPEN }) })
      if (cause === 'frame_too_large') this.#reportFailure(new ConnectionError(reason, 'closed', { closeCode: code }))
      if (!sessionRefused) return
      const message = 'The service ended the session while the chat was open. A new one is requested.'
      this.#reportFailure(new ConnectionError(message, 'closed', { closeCode: code }))
      this.#parts.session.handleRefused()
    })
  }

  /**
   * Moves to `waiting` or `closed`, then calls `notify`, so that listeners may safely call `open()` or `close()`.
   */
  #retryOrClose(final: boolean, pace: RetryPace, notify: () => void): void {
    const delayMs = final ? undefined : this.retry.plan(() => void this.#attempt(true), pace)
    if (delayMs === undefined) {
      this.#become({ at: 'closed' })
      notify()
      if (!final && this.#state.at === 'closed')
        this.#reportFailure(
          new ConnectionError(
            `The chat is closed: ${this.#policy.maxAttempts} reconnect attempts are used up. Call connect() to try again.`,
            'attempts_used_up',
          ),
        )
      return
    }
    this.#become({ at: 'waiting', delayMs })
    notify()
  }

  #join(attempt: Attempt, signal: AbortSignal | undefined): Promise<void> {
    // A listener of the state change may have closed it again.
    if (!this.#isCurrent(attempt)) return Promise.reject(closedEarly())
    return new Promise((resolve, reject) => {
      const done = () => {
        attempt.callers = attempt.callers?.filter(each => each !== caller)
        signal?.removeEventListener('abort', giveUp)
      }
      const caller: Caller = {
        resolve: () => (done(), resolve()),
        reject: error => (done(), reject(error)),
      }
      const giveUp = () => {
        caller.reject(abortedError('connect()', signal as AbortSignal))
        if (!attempt.callers?.length && !attempt.background && this.#isCurrent(attempt)) this.close()
      }
      attempt.callers ??= []
      attempt.callers.push(caller)
      signal?.addEventListener('abort', giveUp)
    })
  }

  #abandon(attempt: Attempt): void {
    this.#clock.clearTimeout(attempt.timer)
    attempt.controller.abort()
    attempt.transport?.close(CLOSE_CODE.NORMAL, '')
  }

  // ── What is reported ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** An open connection ended. */
  #reportClosed(event: ChatClosed): void {
    const { status } = this.#scope
    const loss = { lastInboundAt: this.lastInboundAt, isAbnormal: !isFinalCloseCode(event.code) }
    for (const each of this.observers) each.handleLost?.(loss)
    status.closed = event
    status.failure = undefined
    this.#scope.emit('closed', () => event)
    this.#parts.session.handleClosed()
  }

  /** An attempt failed, or no further one follows. */
  #reportFailure(error: SDKError): void {
    const isExplained = error instanceof ConnectionError && error.httpStatus !== undefined
    const isDoubtful = this.#parts.session.handleFailure(isExplained)
    this.#scope.status.failure = error
    this.#scope.reportError(error)
    if (isDoubtful && this.state !== ConnectionState.CLOSED) void this.#checkSession()
  }

  /** Runs beside the attempts, so that a call that hangs delays none, until the last of them. */
  async #checkSession(): Promise<void> {
    const check = (this.#check ??= new Era())
    const isForgotten = await check.during(signal => this.#parts.session.check(signal)).catch(() => false)
    // The reason of the failures is gone.
    if (isForgotten && this.#state.at === 'waiting') this.retry.hurry()
  }
}

/** The error of a runtime that opens no socket. Its own error is dropped where it quotes the address, which has the session id. */
function refusedByRuntime(address: string, cause: unknown): ConnectionError {
  const { origin, search } = new URL(address)
  const isPrivate = `${cause} ${(cause as Error | undefined)?.stack}`.includes(search)
  const options = isPrivate ? undefined : { cause }
  return new ConnectionError(`The runtime refuses to open the chat at ${origin}.`, 'refused', options)
}

function closedEarly(): SDKError {
  return new SDKError('The connection was closed before it was open.', 'ABORTED')
}

/** Errors that another attempt cannot fix. */
function isFatal(error: SDKError): boolean {
  return (
    error.code === 'SESSION_ID_INVALID' ||
    error.code === 'NOT_INITIALIZED' ||
    (error instanceof ConnectionError && error.reason === 'no_address')
  )
}

function asError(cause: unknown): SDKError {
  if (cause instanceof SDKError) return cause
  return new ConnectionError('Could not determine the address of the chat.', 'no_address', { cause })
}

/** Who waits for an attempt. */
interface Caller {
  resolve(): void
  reject(error: SDKError): void
}

/** One attempt to open a socket. */
class Attempt {
  /** Whether the reconnect loop started it: then it continues when its callers abort. */
  readonly background: boolean
  readonly controller = new AbortController()
  /** Who waits for the outcome. */
  callers: Caller[] | undefined
  transport: Transport | undefined
  timer: unknown

  constructor(background: boolean) {
    this.background = background
  }

  /** Reports the outcome to the callers. */
  settle(error?: SDKError): void {
    const { callers } = this
    this.callers = undefined
    for (const caller of callers ?? []) error ? caller.reject(error) : caller.resolve()
  }
}

// ── The end of a connection ───────────────────────────────────────────────────────────────────────────────────────

/** Why the service, or the network, closed a connection. */
function closeCauseOf({ code, reason }: SocketCloseEvent): CloseCause {
  if (reason === DEAD_CONNECTION_REASON) return 'dead_connection'
  if (reason === FRAME_TOO_LARGE_REASON || reason === FRAMES_WAIT_REASON) return 'frame_too_large'
  if (code === CLOSE_CODE.NORMAL || code === CLOSE_CODE.NO_STATUS) return 'ended_by_service'
  if (code === CLOSE_CODE.GOING_AWAY || code === SERVICE_RESTART || code === TRY_AGAIN_LATER) return 'service_restart'
  if (code === CLOSE_CODE.SESSION_UNKNOWN) return 'session_unknown'
  return code === CLOSE_CODE.ABNORMAL ? 'network' : 'service_error'
}

const SERVICE_RESTART = 1012
const TRY_AGAIN_LATER = 1013

/** The remedy for a chat that the service has ended. */
const REOPEN = 'Call connect(). It reopens the session, or creates a new one if the service has ended it.'
