import {
  CAPABILITY,
  CLOSE_CODE,
  type ClientIntent,
  type ClientMessage,
  encodeMessage,
  encodePong,
  encodeResumed,
  fencedReason,
  MAX_FRAME_BYTES,
  PERSONA,
  ProtocolError,
  parseClientMessage,
  readClientIntent,
  SERVICE_ERROR_CODE,
  type ServerMessage,
} from '@aiagent/protocol'
import type { Clock } from '../clock.ts'
import type { TokenKeys } from '../oauth/keys.ts'
import type { EmulatorSettings } from '../settings.ts'
import { requiresSignIn } from '../world/requires-sign-in.ts'
import type { SessionChange } from '../world/session-change.ts'
import type { HistoryEntry, SessionRecord } from '../world/session-record.ts'
import { AnswerQueue } from './answer-queue.ts'
import { validateContext } from './context-validation.ts'
import { sizeRefusal } from './frame-size.ts'
import { IdleTimer } from './idle-timer.ts'
import { isAccountable, Receipts } from './receipts.ts'
import type { Answer, Reply } from './reply.ts'
import { type Conversation, describeRequest } from './reply-request.ts'
import {
  answerFrame,
  contextReportFrame,
  errorFrame,
  expiredTokenFrame,
  failureFrame,
  HEARTBEAT,
  historyFrame,
  staleTokenFrame,
} from './service-frames.ts'
import type { ChatConnection, SocketEnd } from './socket-end.ts'
import { TokenGate } from './token-gate.ts'

const MESSAGES_PER_SPAN = 20
const SPAN_MS = 10_000

/** How many answers the fault `repeat-answers` sends again. */
const REPEATED_ANSWERS = 3

export interface ServiceSessionParts extends Conversation {
  clock: Clock
  settings: EmulatorSettings
  keys: TokenKeys
  /** Id of the tenant whose agent it is. */
  tenantId: string
  reply: Reply
  /** Whether a fault of this kind strikes the session now. Counts it. */
  isStruckBy: SessionStrike
  /** Applies changes to the session's record. */
  commit(...changes: readonly SessionChange[]): void
}

/** The faults that a session asks for when it is about to do something. */
export type SessionFaultKind = 'rate-limit' | 'lose-receipts' | 'ignore-pings' | 'repeat-answers'
export type SessionStrike = (kind: SessionFaultKind) => boolean

interface OpenConnection {
  readonly end: SocketEnd
  readonly gate: TokenGate
  readonly unreadable: SlidingWindow
  /** The last number that the client has processed; undefined when it asked for no replay. */
  readonly lastSeq: number | undefined
  /** Whether the client has got what it missed. */
  isCaughtUp: boolean
}

/**
 * The service's side of one conversation, from its first connection to its end, over any number of connections.
 *
 * Owns the current connection; data that outlives connections is in the session's record. Frames are handled in order,
 * except that answers take their time in a separate queue.
 */
export class ServiceSession {
  readonly record: SessionRecord
  readonly #parts: ServiceSessionParts
  readonly #lane: AnswerQueue
  readonly #rate = new SlidingWindow(SPAN_MS)
  /** Messages that arrived without a valid token. */
  #held: ClientMessage[] = []
  #connection: OpenConnection | undefined
  readonly #idleWatch: IdleTimer
  readonly #receipts: Receipts
  /** The last answer, or pushed text, as it was sent. */
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
      onAnswers: answers => this.#answer(answers),
      onFailure: error => this.#converse([failureFrame(error)], { type: 'answered' }),
    })
    this.#receipts = new Receipts(parts, text => this.#connection?.end.send(text))
    for (const message of [...this.record.unanswered]) this.#lane.add(message)
  }

  get isConnected(): boolean {
    return this.#connection !== undefined
  }

  /**
   * Takes over a connection. Closes an older one with code 1000, so that two tabs do not disconnect each other
   * endlessly. Refuses a connection whose fencing number is lower than an earlier one of the session.
   */
  open(
    end: SocketEnd,
    { callId, lastSeq, fence: given }: { callId?: string; lastSeq?: number; fence?: number } = {},
  ): ChatConnection {
    const { clock, commit, keys, settings, tenantId } = this.#parts
    const fence = settings.capabilities.includes(CAPABILITY.FENCING) ? given : undefined
    if (fence !== undefined && fence < this.record.fence) {
      end.close(CLOSE_CODE.FENCED, fencedReason(this.record.fence))
      return { receive: () => {}, closed: () => {} }
    }
    this.#leave()?.close(CLOSE_CODE.NORMAL, 'The session was opened elsewhere')
    const connection: OpenConnection = {
      end,
      gate: new TokenGate(keys, clock, requiresSignIn(this.record.agent, settings) ? tenantId : undefined, () =>
        this.#send(staleTokenFrame()),
      ),
      unreadable: new SlidingWindow(SPAN_MS),
      lastSeq: settings.capabilities.includes(CAPABILITY.RESUME) ? lastSeq : undefined,
      isCaughtUp: false,
    }
    this.#connection = connection
    commit({ type: 'opened', ...(callId !== undefined && { callId }), ...(fence !== undefined && { fence }) })
    this.#idleWatch.heard(clock.now())
    this.#idleWatch.start()
    const { contextIssues } = this.record
    if (contextIssues.length > 0) this.#converse([contextReportFrame(contextIssues, clock.now())], { type: 'told' })
    if (connection.gate.isOpen) this.#catchUp(connection)
    return {
      receive: data => {
        if (this.#connection === connection) this.#receive(connection, data)
      },
      closed: () => {
        if (this.#connection === connection) this.#leave()
      },
    }
  }

  /** Whether the idle limit of the session has passed. */
  isIdle(): boolean {
    return this.#idleWatch.isIdle
  }

  /** Ends the session: it cannot be opened again. */
  end(code: number, reason: string): void {
    if (!this.record.ended) this.#parts.commit({ type: 'ended' })
    this.disconnect(code, reason)
    this.stop()
  }

  /** Drops all pending answers, and leaves no timer. */
  stop(): void {
    this.#lane.stop()
    this.#held = []
    this.#leave()?.terminate()
  }

  /** Closes the current connection, if there is one. */
  disconnect(code: number, reason: string): void {
    this.#leave()?.close(code, reason)
  }

  /** Breaks the current connection without a close frame. */
  breakConnection(): void {
    this.#leave()?.terminate()
  }

  /** Has the agent say something by itself, whether or not a client is connected. Returns the id of its message. */
  say(answer: Answer): string {
    const [id = ''] = this.#converse([this.#agentFrame(answer)])
    return id
  }

  /** Sends text unchanged. Returns false without a connected client. */
  push(text: string): boolean {
    if (!this.#connection) return false
    this.#lastText = text
    this.#connection.end.send(text)
    return true
  }

  /** Repeats the last answer, or the last pushed text. Returns false without such a text or a connected client. */
  replay(times: number): boolean {
    if (!this.#connection || this.#lastText === undefined) return false
    for (let time = 0; time < times; time++) this.#connection.end.send(this.#lastText)
    return true
  }

  /** Checks the lifetime of the current token again. */
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
    const refusal = sizeRefusal(data)
    if (refusal === 'close') return this.disconnect(CLOSE_CODE.TOO_LARGE, 'Frame too large')
    let message: ClientMessage
    try {
      message = parseClientMessage(data)
    } catch (error) {
      this.#idleWatch.heard(at)
      this.record.received.add({ at, data })
      return refusal ? this.#refuseSize() : this.#refuseUnreadable(connection, error, at)
    }
    this.record.received.add(refusal ? { at, data } : { at, data, message })
    const intent = readClientIntent(message)
    // A probe of the connection says nothing about the person: the session may still run out.
    if (intent.kind === 'ping' && this.#parts.settings.capabilities.length > 0) {
      if (!this.#parts.isStruckBy('ignore-pings')) connection.end.send(encodePong(intent.id))
      return
    }
    this.#idleWatch.heard(at)
    if (refusal) this.#refuseSize(message)
    else this.#handle(connection, message, intent)
  }

  #handle(connection: OpenConnection, message: ClientMessage, intent: ClientIntent): void {
    if (intent.kind === 'user') return this.#handleUser(connection, message)
    if (intent.kind === 'token') return this.#handleToken(connection, intent.token)
    // A client may make up personas and roles; they are not the service's business, but it has read them.
    if (!isAccountable(message) || !this.#receipts.accept(message)) return
    switch (intent.kind) {
      case 'context':
        return this.#handleContext(intent.context)
      case 'feedback':
        return this.#parts.commit({
          type: 'feedback',
          rating: intent.rating,
          answerMessageId: intent.answerMessageId,
        })
      case 'escalation':
        return this.#parts.commit({ type: 'escalation', event: intent.event })
      case 'graceful disconnect':
        return this.#handleGoodbye()
      case 'ping':
      case 'other':
        return
      default:
        intent satisfies never
    }
  }

  #handleUser(connection: OpenConnection, message: ClientMessage): void {
    const { clock, isStruckBy, settings } = this.#parts
    if (this.#receipts.isRepeated(message)) return this.#accept(message)
    const isTooMany = settings.rateLimit && !this.#rate.take(clock.now(), MESSAGES_PER_SPAN)
    if (isStruckBy('rate-limit') || isTooMany)
      return this.#refuse(SERVICE_ERROR_CODE.TOO_MANY_MESSAGES, 'Too many messages. Wait a few seconds.', message)
    if (connection.gate.isOpen) return this.#accept(message)
    this.#held.push(message)
    this.#send(expiredTokenFrame())
  }

  #accept(message: ClientMessage): void {
    if (!this.#receipts.accept(message)) return
    const entry = this.record.unanswered.at(-1)
    if (entry) this.#lane.add(entry)
  }

  #handleToken(connection: OpenConnection, token: string): void {
    connection.gate.present(token)
    if (!connection.gate.isOpen) return
    this.#catchUp(connection)
    for (const message of this.#held.splice(0)) this.#accept(message)
  }

  #handleContext(given: Record<string, unknown>): void {
    const { clock, commit, settings } = this.#parts
    const { accepted, issues } = validateContext(given, {
      attributes: this.record.agent.contextAttributes,
      valueLimit: settings.contextValueLimit,
    })
    const change: SessionChange = { type: 'context', context: { ...this.record.context, ...accepted } }
    if (issues.length > 0) this.#converse([contextReportFrame(issues, clock.now())], change)
    else commit(change)
  }

  #handleGoodbye(): void {
    if (this.#parts.settings.endSessionOnGracefulDisconnect) this.end(CLOSE_CODE.NORMAL, 'Goodbye')
    else this.disconnect(CLOSE_CODE.NORMAL, 'Goodbye')
  }

  #refuseSize(message?: ClientMessage): void {
    this.#refuse(SERVICE_ERROR_CODE.FRAME_TOO_LARGE, `A frame may have ${MAX_FRAME_BYTES} bytes at most.`, message)
  }

  #refuseUnreadable(connection: OpenConnection, error: unknown, at: number): void {
    if (!connection.unreadable.take(at, this.#parts.settings.unreadableFrameLimit))
      return this.disconnect(CLOSE_CODE.POLICY_VIOLATION, 'Too many unreadable frames')
    const why = error instanceof ProtocolError ? error.message : 'The frame cannot be read.'
    this.#refuse(SERVICE_ERROR_CODE.UNREADABLE_FRAME, why)
  }

  /** Reports an error about a frame of the client, which is named if it has an id that counts. */
  #refuse(code: string, content: string, message?: ClientMessage): void {
    this.#send(errorFrame(code, content, message && this.#receipts.idOf(message)))
  }

  #answer(answers: readonly Answer[]): void {
    const frames: ServerMessage[] = []
    try {
      for (const answer of answers) {
        const frame = this.#agentFrame(answer, frames.length)
        encodeMessage(frame)
        frames.push(frame)
      }
    } catch (error) {
      frames.push(failureFrame(error))
    }
    this.#converse(frames, { type: 'answered' })
  }

  #agentFrame(answer: Answer, before = 0): HistoryEntry {
    return answerFrame(answer, `m-${this.record.agentMessages + before + 1}`, this.#parts.clock.now())
  }

  /**
   * Keeps frames of the conversation, with further changes, before it sends them. A client that still waits for its
   * replay gets them with the replay.
   *
   * @returns the ids of the frames
   */
  #converse(given: readonly ServerMessage[], ...further: readonly SessionChange[]): string[] {
    const isNumbered = this.#parts.settings.capabilities.includes(CAPABILITY.RESUME)
    const firstSeq = this.record.sent.lastSeq + 1
    const frames = given.map((frame, index) => (isNumbered ? { ...frame, seq: firstSeq + index } : frame))
    this.#parts.commit(...frames.flatMap(changeOf), ...further)
    for (const frame of frames) {
      const text = encodeMessage(frame)
      if (frame.persona === PERSONA.AGENT) this.#lastText = text
      const connection = this.#connection
      if (connection && (connection.isCaughtUp || connection.lastSeq === undefined)) connection.end.send(text)
    }
    return frames.flatMap(({ messageId }) => messageId ?? [])
  }

  /** Sends what the client missed: a replay if it asked for one and all of it is kept, else the history. */
  #catchUp(connection: OpenConnection): void {
    if (connection.isCaughtUp) return
    connection.isCaughtUp = true
    const { end, lastSeq } = connection
    const said = this.record.history.entries().filter(({ persona }) => persona === PERSONA.AGENT)
    if (said.length > 0 && this.#parts.isStruckBy('repeat-answers'))
      for (const answer of said.slice(-REPEATED_ANSWERS)) this.#send(answer)
    if (lastSeq !== undefined) {
      const missed = this.record.sent.after(lastSeq)
      for (const text of missed ?? []) end.send(text)
      end.send(encodeResumed(missed !== undefined))
      if (missed) return
    }
    const { clock, settings } = this.#parts
    const entries = this.record.history.entries()
    if (settings.sendHistory && (entries.length > 0 || lastSeq !== undefined))
      this.#send(historyFrame(entries, clock.now()))
  }

  #send(message: ServerMessage): void {
    this.#connection?.end.send(encodeMessage(message))
  }
}

/** How the record of a session changes with a frame of the conversation. A frame without a number is not kept for a replay. */
function changeOf(frame: ServerMessage): SessionChange[] {
  const { timestamp } = frame
  if (frame.persona === PERSONA.AGENT && typeof timestamp === 'number')
    return [{ type: 'said', frame: { ...frame, timestamp } }]
  return frame.seq === undefined ? [] : [{ type: 'numbered', frame }]
}

/** Counts events within a sliding time window. */
class SlidingWindow {
  readonly #spanMs: number
  #times: number[] = []

  constructor(spanMs: number) {
    this.#spanMs = spanMs
  }

  /** Records an event. Returns false, and does not record it, if the window is full. */
  take(now: number, limit: number): boolean {
    const first = this.#times.findIndex(time => time > now - this.#spanMs)
    this.#times = first < 0 ? [] : this.#times.slice(first)
    if (this.#times.length >= limit) return false
    this.#times.push(now)
    return true
  }
}
