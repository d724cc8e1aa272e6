import { addMessageId, CLIENT_DISCONNECT_REASON, CLOSE_CODE, encodeMessage, PERSONA, ROLE } from '@aiagent/protocol'
import { abortedError, ConnectionError, SDKError } from '../errors.ts'
import { type MessageLog, recordOwnFrame } from '../log/message-log.ts'
import type { AgentScope } from '../scope.ts'
import { sleep, untilAborted } from '../util/abort.ts'
import { Era } from '../util/era.ts'
import { JoinedTask } from '../util/joined-task.ts'
import { TokenDialogue, type TokenDialogueParts } from './token-dialogue.ts'
import type { Transport } from './transport.ts'

/** Time limit for sending the disconnect frame before the socket is closed, in milliseconds. */
const GOODBYE_LIMIT_MS = 100

const GOODBYE_POLL_MS = 5

const RESTART_ABORTED = (signal: AbortSignal) => abortedError('restartConnection()', signal)

interface LeaveOptions {
  skipGracefulDisconnect?: boolean
  signal?: AbortSignal
}

/** The parts that it uses. */
export interface ChatParts extends TokenDialogueParts {
  readonly log: MessageLog
}

/** How the host enters and leaves the chat of a conversation: it connects, disconnects, and moves to another session. */
export class Chat {
  readonly #scope: AgentScope<'connected' | 'tokenExpiring'>
  readonly #parts: ChatParts
  readonly #token: TokenDialogue
  /** The end of an open connection by this client: a disconnect frame, then the close. */
  #departure: { readonly transport: Transport; readonly done: Promise<void> } | undefined
  /** Ended by a disconnect of the host: earlier operations that are still pending are cancelled. */
  #era = new Era()
  /** Created with the first restart. */
  #restarting: JoinedTask<void> | undefined

  constructor(scope: AgentScope<'connected' | 'tokenExpiring'>, parts: ChatParts) {
    this.#scope = scope
    this.#parts = parts
    this.#token = new TokenDialogue(scope, parts)
  }

  /** Whether the chat is open and messages wait for the access token. */
  get isTokenMissing(): boolean {
    return this.#parts.connection.transport !== undefined && this.#token.isMissing
  }

  /** Resolves once the chat is open and the token has been sent if one is needed, or cannot be obtained. */
  async connect(signal?: AbortSignal): Promise<void> {
    const era = this.#era
    // One socket at a time: the service would close the older of two on the same session.
    while (this.#departure && !signal?.aborted) await untilAborted(this.#departure.done, signal).catch(() => {})
    if (era.isOver) throw leftMeanwhile('connect()')
    await this.#parts.connection.open(signal)
    const transport = this.#parts.connection.transport
    await untilAborted(Promise.resolve(this.#token.greeted), signal).catch(() => {})
    if (signal?.aborted) throw abortedError('connect()', signal)
    if (!transport || this.#parts.connection.transport !== transport || this.#parts.connection.isLeaving)
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
    if (!this.#parts.connection.transport) for (const each of this.#parts.connection.observers) each.handleClosed?.()
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
    const session = this.#parts.session
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
      // What the host has stored with a session that the service has forgotten belongs to the conversation that ends.
      if (session.id === undefined) session.forget(undefined)
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

  #end({ skipGracefulDisconnect = false, signal }: LeaveOptions): Promise<void> {
    const transport = this.#parts.connection.transport
    // Nothing else may be sent before the token, not even the disconnect frame.
    if (!transport || skipGracefulDisconnect || this.#token.isMissing) this.#close()
    else if (this.#departure?.transport !== transport) {
      this.#token.end()
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
    this.#parts.connection.expectEnd()
    try {
      const goodbye = { persona: PERSONA.SYSTEM, role: ROLE.GRACEFUL_DISCONNECT }
      const frame = encodeMessage(goodbye)
      transport.send(facts.wire.confirms ? addMessageId(frame, this.#scope.newId()) : frame)
      recordOwnFrame(this.#scope, this.#parts.log, goodbye)
    } catch {
      // Then the service detects it by the close.
    }
    const limit = clock.monotonic() + GOODBYE_LIMIT_MS
    while (
      transport.bufferedAmount > 0 &&
      clock.monotonic() < limit &&
      this.#parts.connection.transport === transport
    ) {
      if (signal?.aborted) break
      await sleep(clock, GOODBYE_POLL_MS, signal)
    }
    if (this.#parts.connection.transport === transport) this.#close()
  }

  #close(): void {
    this.#parts.connection.close(CLOSE_CODE.NORMAL, CLIENT_DISCONNECT_REASON)
  }
}

function leftMeanwhile(what: string): SDKError {
  return new SDKError(`${what} was given up because disconnect() came after it.`, 'ABORTED')
}
