import { CLOSE_CODE, isFinalCloseCode, isSessionRefusal } from '@aiagent/protocol'
import { abortedError, ConnectionError, SDKError } from '../errors.ts'
import type { ChatClosed, CloseCause } from '../events.ts'
import type { Clock } from '../platform/clock.ts'
import type { SocketCloseEvent } from '../platform/environment.ts'
import {
  FRAME_TOO_LARGE_CODE,
  FRAME_TOO_LARGE_REASON,
  FRAMES_WAIT_REASON,
  TOO_LARGE_PRIVATE_CODE,
} from '../platform/frame-limit.ts'
import type { Page } from '../platform/page.ts'
import { DEAD_CONNECTION_REASON } from '../platform/socket-pings.ts'
import { type ReconnectPolicy, Retry } from './backoff.ts'
import { ConnectionState } from './connection-state.ts'
import type { Transport, TransportListener } from './transport.ts'

/*
 * The reconnect loop over one transport at a time. It owns the connection's state, the transport, the one timer and the
 * count of attempts; the chat calls it and receives its events as its `ConnectionOwner`.
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

/** Who opens a connection, and receives its events. */
export interface ConnectionOwner {
  /** The address; built for every attempt. */
  resolveAddress(signal: AbortSignal): Promise<string>
  /** `retryInMs` is the wait before the next attempt, if one follows. */
  handleStateChange(state: ConnectionState, previousState: ConnectionState, retryInMs?: number): void
  /** Opens a socket. @throws when the runtime rejects the address */
  openTransport(address: string, listener: TransportListener): Transport
  handleOpened(transport: Transport): void
  handleFrame(data: unknown): void
  /** An open connection ended. */
  handleClosed(event: ChatClosed): void
  /** An attempt failed, or no further one follows. */
  handleFailure(error: SDKError): void
  /** The service no longer knows the session; the next attempt needs another. */
  handleSessionRefused(): void
  /** The service has closed an open connection with 1000 without a request: the conversation has ended. */
  handleEnded(): void
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

export class Connection {
  readonly #clock: Clock
  readonly #policy: ReconnectPolicy
  readonly #owner: ConnectionOwner
  /** The count of attempts, and the wait for the next one. */
  readonly retry: Retry
  #state: State = { at: 'idle' }

  constructor(clock: Clock, page: Page | undefined, policy: ReconnectPolicy, owner: ConnectionOwner) {
    this.#clock = clock
    this.#policy = policy
    this.#owner = owner
    this.retry = new Retry(clock, page, policy)
  }

  get state(): ConnectionState {
    return PUBLIC_STATE[this.#state.at]
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
      this.#owner.handleClosed({ code, reason, cause: 'left', willReconnect: false })
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
    if (!transport) return
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

  /** Ends a wait: the reason of the failures is gone. */
  hurry(): void {
    if (this.#state.at === 'waiting') this.retry.hurry()
  }

  handleAttemptOpened(attempt: Attempt): void {
    const { transport } = attempt
    if (!transport || !this.#isCurrent(attempt)) return
    this.#clock.clearTimeout(attempt.timer)
    attempt.timer = attempt.controller = undefined
    this.#become({ at: 'open', transport, since: this.#clock.monotonic() })
    if (this.transport === transport) this.#owner.handleOpened(transport)
    attempt.settle(this.transport === transport ? undefined : closedEarly())
  }

  handleAttemptFrame({ transport }: Attempt, data: unknown): void {
    if (transport && this.transport === transport) this.#owner.handleFrame(data)
  }

  handleAttemptClosed(attempt: Attempt, event: SocketCloseEvent): void {
    if (this.#isCurrent(attempt)) this.#refused(attempt, event)
    else if (attempt.transport) this.#lost(attempt.transport, event)
  }

  #become(next: State): void {
    const previous = this.#state
    if (next.at === 'closed') this.retry.stop()
    this.#state = next
    if (previous.at === next.at) return
    const retryInMs = next.at === 'waiting' ? next.delayMs : undefined
    this.#owner.handleStateChange(PUBLIC_STATE[next.at], PUBLIC_STATE[previous.at], retryInMs)
  }

  #isCurrent(attempt: Attempt): boolean {
    return this.#state.at === 'connecting' && this.#state.attempt === attempt
  }

  #attempt(background: boolean): Attempt {
    const attempt = new Attempt(this, background)
    this.#become({ at: 'connecting', attempt })
    this.#findAddress(attempt).then(
      address => address !== undefined && this.#dial(attempt, address),
      cause => this.#fail(attempt, asError(cause)),
    )
    return attempt
  }

  async #findAddress(attempt: Attempt): Promise<string | undefined> {
    // Yield once: a listener may call `open()` while the failure is still being delivered to the others.
    await null
    return attempt.controller && this.#isCurrent(attempt)
      ? this.#owner.resolveAddress(attempt.controller.signal)
      : undefined
  }

  #dial(attempt: Attempt, address: string): void {
    if (!this.#isCurrent(attempt)) return
    attempt.timer = this.#clock.setTimeout(() => {
      const seconds = CONNECT_TIMEOUT_MS / 1000
      this.#fail(attempt, new ConnectionError(`The chat did not open within ${seconds} s.`, 'timeout'))
    }, CONNECT_TIMEOUT_MS)
    try {
      attempt.transport = this.#owner.openTransport(address, attempt)
    } catch (cause) {
      this.#fail(attempt, new ConnectionError('The runtime refuses to open the chat.', 'refused', { cause }))
    }
  }

  #refused(attempt: Attempt, { code, httpStatus }: SocketCloseEvent): void {
    const status = httpStatus === undefined ? `close code ${code}` : `HTTP status ${httpStatus}`
    const sessionRefused = code === CLOSE_CODE.SESSION_UNKNOWN || isSessionRefusal(httpStatus)
    const error = new ConnectionError(
      sessionRefused
        ? `The service does not know the session (${status}). A new one is requested.`
        : `The chat could not be opened (${status}).`,
      httpStatus === undefined && code !== CLOSE_CODE.ABNORMAL ? 'closed' : 'refused',
      { closeCode: code, httpStatus },
    )
    this.#fail(attempt, error, { sessionRefused, final: isFinalCloseCode(code) })
  }

  #fail(attempt: Attempt, error: SDKError, { sessionRefused = false, final = isFatal(error) } = {}): void {
    if (!this.#isCurrent(attempt)) return
    this.#abandon(attempt)
    this.#comeBack(final, false, () => {
      this.#owner.handleFailure(error)
      if (sessionRefused) this.#owner.handleSessionRefused()
    })
    attempt.settle(error)
  }

  #lost(transport: Transport, event: SocketCloseEvent): void {
    const { code, reason } = event
    const state = this.#state
    if (state.at !== 'open' || state.transport !== transport) return
    if (this.#clock.monotonic() - state.since >= STABLE_AFTER_MS) this.retry.attempts = 0
    const sessionRefused = code === CLOSE_CODE.SESSION_UNKNOWN
    const final = isFinalCloseCode(code) || state.leaving === true
    const owner = this.#owner
    const cause = state.leaving ? 'left' : closeCauseOf(event)
    this.#comeBack(final, cause === 'dead_connection', () => {
      if (code === CLOSE_CODE.NORMAL && !state.leaving) owner.handleEnded()
      const closed = { code, reason, cause }
      // A listener of the state change may have opened or closed it again.
      const next = this.#state
      if (next.at !== 'closed')
        owner.handleClosed({ ...closed, willReconnect: true, retryInMs: next.at === 'waiting' ? next.delayMs : 0 })
      else owner.handleClosed({ ...closed, willReconnect: false, ...(!state.leaving && { remedy: REOPEN }) })
      if (cause === 'frame_too_large') owner.handleFailure(new ConnectionError(reason, 'closed', { closeCode: code }))
      if (!sessionRefused) return
      const message = 'The service ended the session while the chat was open. A new one is requested.'
      owner.handleFailure(new ConnectionError(message, 'closed', { closeCode: code }))
      owner.handleSessionRefused()
    })
  }

  /**
   * Moves to `waiting` or `closed`, then calls `tell`, so that listeners may safely call `open()` or `close()`.
   *
   * @param isUrgent whether the first attempt follows at once
   */
  #comeBack(final: boolean, isUrgent: boolean, tell: () => void): void {
    const delayMs = final ? undefined : this.retry.plan(() => void this.#attempt(true), isUrgent)
    if (delayMs === undefined) {
      this.#become({ at: 'closed' })
      tell()
      if (!final && this.#state.at === 'closed')
        this.#owner.handleFailure(
          new ConnectionError(
            `The chat is closed: ${this.#policy.maxAttempts} reconnect attempts are used up. Call connect() to try again.`,
            'attempts_used_up',
          ),
        )
      return
    }
    this.#become({ at: 'waiting', delayMs })
    tell()
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
    attempt.controller?.abort()
    attempt.transport?.close(CLOSE_CODE.NORMAL, '')
  }
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
export interface Caller {
  resolve(): void
  reject(error: SDKError): void
}

/** One attempt to open a socket, and the events of the socket until its end. */
export class Attempt implements TransportListener {
  readonly #connection: Connection
  /** Whether the reconnect loop started it: then it continues when its callers abort. */
  readonly background: boolean
  /** Absent once the connection is open: the transport keeps the attempt in memory. */
  controller: AbortController | undefined = new AbortController()
  /** Who waits for the outcome. */
  callers: Caller[] | undefined
  transport: Transport | undefined
  timer: unknown

  constructor(connection: Connection, background: boolean) {
    this.#connection = connection
    this.background = background
  }

  opened(): void {
    this.#connection.handleAttemptOpened(this)
  }

  received(data: unknown): void {
    this.#connection.handleAttemptFrame(this, data)
  }

  closed(event: SocketCloseEvent): void {
    this.#connection.handleAttemptClosed(this, event)
  }

  /** Tells the callers the outcome. */
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
