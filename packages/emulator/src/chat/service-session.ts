import {
  CLOSE_CODE,
  type ClientMessage,
  type ContextValidationIssue,
  encodeMessage,
  MAX_FRAME_BYTES,
  PERSONA,
  ProtocolError,
  parseClientMessage,
  ROLE,
  readClientIntent,
  SERVICE_ERROR_CODE,
  type ServerMessage,
} from '@aiagent/protocol'
import type { Clock } from '../clock.ts'
import type { TokenKeys } from '../oauth/keys.ts'
import type { EmulatorSettings } from '../settings.ts'
import { requiresSignIn } from '../world/requires-sign-in.ts'
import type { SessionRecord } from '../world/world.ts'
import { AnswerQueue } from './answer-queue.ts'
import { validateContext } from './context-validation.ts'
import { sizeRefusal } from './frame-size.ts'
import { IdleTimer } from './idle-timer.ts'
import type { Answer, Reply } from './reply.ts'
import { type Conversation, describeRequest } from './reply-request.ts'
import {
  answerFrame,
  contextReportFrame,
  customerEntry,
  errorFrame,
  expiredTokenFrame,
  failureFrame,
  HEARTBEAT,
  historyFrame,
  staleTokenFrame,
} from './service-frames.ts'
import { SlidingWindow } from './sliding-window.ts'
import type { ChatConnection, SocketEnd } from './socket-end.ts'
import { TokenGate } from './token-gate.ts'

const MESSAGES_PER_SPAN = 20
const SPAN_MS = 10_000

export interface ServiceSessionParts extends Conversation {
  clock: Clock
  settings: EmulatorSettings
  keys: TokenKeys
  reply: Reply
  /** Whether the next message is one too many. Counts it. */
  isRateLimited(): boolean
}

interface OpenConnection {
  readonly end: SocketEnd
  readonly gate: TokenGate
  readonly unreadable: SlidingWindow
  historyTold: boolean
}

/**
 * The service's half of one conversation, from its first connection to its end, over as many connections as it takes.
 *
 * Owns the present connection; what is to outlive connections is in the session's record. Frames are handled in the
 * order they came, except that answers take their time in a separate queue.
 */
export class ServiceSession {
  readonly record: SessionRecord
  readonly #parts: ServiceSessionParts
  readonly #lane: AnswerQueue
  readonly #rate = new SlidingWindow(SPAN_MS)
  /** Messages that came without a valid token. */
  #held: ClientMessage[] = []
  #connection: OpenConnection | undefined
  readonly #idleWatch: IdleTimer
  #messageCount = 0
  /** The last answer, or text that was pushed, as it was sent. */
  #lastText: string | undefined

  constructor(parts: ServiceSessionParts) {
    this.#parts = parts
    this.record = parts.record
    this.#idleWatch = new IdleTimer(
      parts.clock,
      () => parts.settings.idleTimeoutMs,
      () => this.end(CLOSE_CODE.NORMAL, 'Idle for too long'),
    )
    this.#lane = new AnswerQueue({
      reply: parts.reply,
      clock: parts.clock,
      settings: parts.settings,
      requestFor: message => describeRequest(message, parts, this.#lane),
      onHeartbeat: () => this.#connection?.end.send(HEARTBEAT),
      onAnswer: answer => this.#answer(answer),
      onFailure: error => this.#send(failureFrame(error)),
    })
  }

  get isConnected(): boolean {
    return this.#connection !== undefined
  }

  /** Takes over a connection. An older one is closed for good, so that two tabs do not evict each other for ever. */
  open(end: SocketEnd): ChatConnection {
    this.#leave()?.close(CLOSE_CODE.NORMAL, 'The session was opened elsewhere')
    const { clock, keys, settings } = this.#parts
    const connection: OpenConnection = {
      end,
      gate: new TokenGate(keys, clock, requiresSignIn(this.record.agent, settings), () =>
        this.#send(staleTokenFrame()),
      ),
      unreadable: new SlidingWindow(SPAN_MS),
      historyTold: false,
    }
    this.#connection = connection
    this.record.connections++
    this.#idleWatch.heard(clock.now())
    this.#idleWatch.start()
    this.#reportContext(this.record.contextIssues)
    this.record.contextIssues = []
    if (connection.gate.isOpen) this.#tellHistory(connection)
    return {
      receive: data => {
        if (this.#connection === connection) this.#receive(connection, data)
      },
      closed: () => {
        if (this.#connection === connection) this.#leave()
      },
    }
  }

  /** Whether nothing has been heard for so long that the session is over. */
  isIdle(): boolean {
    return this.#idleWatch.isIdle
  }

  /** Ends the session: it cannot be opened again. */
  end(code: number, reason: string): void {
    this.record.ended = true
    this.disconnect(code, reason)
    this.stop()
  }

  /** Gives up whatever was to be answered, and leaves no timer. */
  stop(): void {
    this.#lane.stop()
    this.#held = []
    this.#leave()?.terminate()
  }

  /** Closes the present connection, if there is one. */
  disconnect(code: number, reason: string): void {
    this.#leave()?.close(code, reason)
  }

  /** Breaks the present connection without a close frame. */
  breakConnection(): void {
    this.#leave()?.terminate()
  }

  /** Sends text as it is. Returns false without a connected client. */
  push(text: string): boolean {
    if (!this.#connection) return false
    this.#lastText = text
    this.#connection.end.send(text)
    return true
  }

  /** Sends the last answer, or the last text that was pushed, again. Returns false without such a text or a connected client. */
  replay(times: number): boolean {
    if (!this.#connection || this.#lastText === undefined) return false
    for (let time = 0; time < times; time++) this.#connection.end.send(this.#lastText)
    return true
  }

  /** Looks again at how long the present token lives. */
  reviewToken(): void {
    this.#connection?.gate.watch()
  }

  #leave(): SocketEnd | undefined {
    const connection = this.#connection
    this.#connection = undefined
    connection?.gate.stop()
    this.#idleWatch.stop()
    return connection?.end
  }

  #receive(connection: OpenConnection, data: unknown): void {
    const at = this.#parts.clock.now()
    this.#idleWatch.heard(at)
    const refusal = sizeRefusal(data)
    if (refusal === 'close') return this.disconnect(CLOSE_CODE.TOO_LARGE, 'Frame too large')
    if (refusal === 'answer') {
      this.record.received.add({ at, data })
      return this.#sendError(SERVICE_ERROR_CODE.FRAME_TOO_LARGE, `A frame may have ${MAX_FRAME_BYTES} bytes at most.`)
    }
    let message: ClientMessage
    try {
      message = parseClientMessage(data)
    } catch (error) {
      this.record.received.add({ at, data })
      return this.#refuseUnreadable(connection, error, at)
    }
    this.record.received.add({ at, data, message })
    this.#handle(connection, message)
  }

  #handle(connection: OpenConnection, message: ClientMessage): void {
    // The most frequent frame by far; the codec has checked all that its schema would.
    if (message.persona === PERSONA.CUSTOMER && message.role === ROLE.HUMAN)
      return this.#handleUser(connection, message)
    const intent = readClientIntent(message)
    switch (intent.kind) {
      case 'token':
        return this.#handleToken(connection, intent.token)
      case 'context':
        return this.#handleContext(intent.context)
      case 'feedback':
        this.record.feedback.push({ rating: intent.rating, answerMessageId: intent.answerMessageId })
        return
      case 'escalation':
        this.record.escalationEvents.push(intent.event)
        return
      case 'graceful disconnect':
        return this.#handleGoodbye()
      case 'ping':
      case 'user':
      case 'other':
        // A client may make up personas and roles; they are not the service's business.
        return
      default:
        intent satisfies never
    }
  }

  #handleUser(connection: OpenConnection, message: ClientMessage): void {
    const { clock, isRateLimited, settings } = this.#parts
    const isTooMany = settings.rateLimit && !this.#rate.take(clock.now(), MESSAGES_PER_SPAN)
    if (isRateLimited() || isTooMany)
      return this.#sendError(SERVICE_ERROR_CODE.TOO_MANY_MESSAGES, 'Too many messages. Wait a few seconds.')
    if (connection.gate.isOpen) return this.#accept(message)
    this.#held.push(message)
    this.#send(expiredTokenFrame())
  }

  #accept(message: ClientMessage): void {
    const entry = customerEntry(message, this.#parts.clock.now())
    this.record.history.add(entry)
    this.#lane.add(entry)
  }

  #handleToken(connection: OpenConnection, token: string): void {
    connection.gate.present(token)
    if (!connection.gate.isOpen) return
    this.#tellHistory(connection)
    for (const message of this.#held.splice(0)) this.#accept(message)
  }

  #handleContext(context: Record<string, unknown>): void {
    const { accepted, issues } = validateContext(context, {
      attributes: this.record.agent.contextAttributes,
      valueLimit: this.#parts.settings.contextValueLimit,
    })
    this.record.context = { ...this.record.context, ...accepted }
    this.#reportContext(issues)
  }

  #handleGoodbye(): void {
    if (this.#parts.settings.endSessionOnGracefulDisconnect) this.end(CLOSE_CODE.NORMAL, 'Goodbye')
    else this.disconnect(CLOSE_CODE.NORMAL, 'Goodbye')
  }

  #refuseUnreadable(connection: OpenConnection, error: unknown, at: number): void {
    if (!connection.unreadable.take(at, this.#parts.settings.unreadableFrameLimit))
      return this.disconnect(CLOSE_CODE.POLICY_VIOLATION, 'Too many unreadable frames')
    const why = error instanceof ProtocolError ? error.message : 'The frame cannot be read.'
    this.#sendError(SERVICE_ERROR_CODE.UNREADABLE_FRAME, why)
  }

  #answer(answer: Answer): void {
    const frame = answerFrame(answer, `m-${++this.#messageCount}`, this.#parts.clock.now())
    const text = encodeMessage(frame)
    this.record.history.add(frame)
    this.#lastText = text
    this.#connection?.end.send(text)
  }

  #tellHistory(connection: OpenConnection): void {
    if (connection.historyTold) return
    connection.historyTold = true
    if (this.record.history.total === 0) return
    this.#send(historyFrame(this.record.history.entries(), this.#parts.clock.now()))
  }

  #reportContext(issues: readonly ContextValidationIssue[]): void {
    if (issues.length > 0) this.#send(contextReportFrame(issues, this.#parts.clock.now()))
  }

  #sendError(code: string, content: string): void {
    this.#send(errorFrame(code, content))
  }

  #send(message: ServerMessage): void {
    this.#connection?.end.send(encodeMessage(message))
  }
}
