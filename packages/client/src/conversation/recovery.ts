import { EXTENSION_ROLE, PERSONA, ROLE } from '@aiagent/protocol'
import type { Chat, ChatObserver } from '../chat/chat.ts'
import type { ChatSession } from '../chat/chat-session.ts'
import type { RecoverySource } from '../events.ts'
import type { HistoryElement, Message } from '../log/message.ts'
import type { Transcript } from '../log/transcript.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { OptionalFeature } from '../platform/feature.ts'
import type { AgentScope } from '../scope.ts'
import { GapFill } from './gap-fill.ts'
import type { MessageProcessor } from './message-processor.ts'
import type { MessageStreams } from './message-streams.ts'
import type { WorkingState } from './working-state.ts'

/** Restores what the previous page had of the session, with `resume` or `tabs`. */
interface HistoryReader {
  /** The chat has sent the history of the session. */
  historyArrived(history: readonly HistoryElement[]): void
}

/** What waits on an open connection. */
interface OpenConnection {
  /** Missed messages that the service is repeating. */
  replayed?: Message[] | undefined
  /** Frames that the outbox gets after the recovered messages, so that a question is not answered by a later message. */
  held?: Message[] | undefined
}

interface Frame {
  readonly messageId?: unknown
  readonly content?: unknown
}

const identityOf = ({ messageId, content }: Frame): string => `${messageId ?? content ?? ''}`

/** How many numbers of processed frames are kept, by which repeated frames are recognized. */
const KEPT_NUMBERS = 1_000

/** A session, and its processed frames by their numbers. */
class FollowedSession {
  readonly id: string
  /** Number of the last processed frame; undefined where it is unknown. */
  lastSeq: number | undefined
  /** The latest processed numbers, each with what identifies its frame: a service may use a number twice by mistake. */
  #processed: Map<number, string> | undefined

  constructor(id: string, lastSeq: number | undefined) {
    this.id = id
    this.lastSeq = lastSeq
  }

  has(seq: number, frame: Frame): boolean {
    return this.#processed?.get(seq) === identityOf(frame)
  }

  add(seq: number, frame: Frame): void {
    this.#processed ??= new Map()
    const kept = this.#processed
    kept.set(seq, identityOf(frame))
    if (kept.size > KEPT_NUMBERS) for (const oldest of kept.keys()) return void kept.delete(oldest)
  }
}

/*
 * The recovery of missed messages: by a replay of the service, for which it has the last processed number (PROTOCOL.md,
 * "Resume"), or by a history. It holds the frames that must wait for a history.
 */
export class Recovery implements ChatObserver {
  readonly #scope: AgentScope<'messagesRecovered' | 'agentMessage' | 'escalation'>
  readonly #session: ChatSession
  readonly #outbox: Outbox
  readonly #streams: MessageStreams
  readonly #working: WorkingState
  readonly #resume: OptionalFeature<HistoryReader> | undefined
  readonly #gapFill: GapFill
  /** The session that is followed, and the frames of it that were processed. */
  #followed: FollowedSession | undefined
  /** The session of the last attempt. */
  #attempted: string | undefined
  /** The open connection; undefined while there is none. */
  #connection: OpenConnection | undefined
  #hasWarned = false

  constructor(
    scope: AgentScope<'messagesRecovered' | 'agentMessage' | 'escalation'>,
    {
      chat,
      session,
      outbox,
      transcript,
      processor,
      streams,
      working,
      resume,
    }: {
      chat: Chat
      session: ChatSession
      outbox: Outbox
      transcript: Transcript
      processor: MessageProcessor
      streams: MessageStreams
      working: WorkingState
      resume: OptionalFeature<HistoryReader> | undefined
    },
  ) {
    this.#scope = scope
    this.#session = session
    this.#outbox = outbox
    this.#streams = streams
    this.#working = working
    this.#resume = resume
    this.#gapFill = new GapFill(scope, session, transcript, processor, this)
    chat.observe(this)
  }

  /** Whether the service is repeating missed messages. */
  get isReplaying(): boolean {
    return this.#connection?.replayed !== undefined
  }

  /** An attempt to open a session begins. Returns the number of its last processed frame, for a reopening. */
  beginAttempt(sessionId: string): number | undefined {
    // The service may have seen an opening that failed here, so that the agent has spoken since.
    if (sessionId === this.#attempted && sessionId !== this.#followed?.id && this.#session.isOwn)
      this.#followed = new FollowedSession(sessionId, 0)
    this.#attempted = sessionId
    return this.#lastSeqOf(sessionId)
  }

  /** The chat is open. */
  handleConnected(): void {
    this.#release()
    const connection: OpenConnection = {}
    this.#connection = connection
    const session = this.#session
    const { id } = session
    if (id === undefined) return
    const isReopening = id === this.#followed?.id
    if (this.#lastSeqOf(id) !== undefined) connection.replayed = []
    // In a session that was resumed or supplied, frames were sent before this page opened it.
    if (!isReopening) this.#followed = new FollowedSession(id, session.isOwn ? 0 : undefined)
    this.#begin(isReopening && !connection.replayed)
  }

  /** Whether a frame belongs to the extension, or was processed before. */
  isConsumed(message: Message, seq: number | undefined): boolean {
    const { persona, role, messageData } = message
    if (persona === PERSONA.METADATA && role === EXTENSION_ROLE.PONG) return this.#scope.facts.hasPing
    if (this.#scope.facts.hasResume) {
      if (persona === PERSONA.METADATA && role === EXTENSION_ROLE.RESUMED) {
        this.#handleResumed(messageData?.complete === true)
        return true
      }
      if (seq !== undefined) {
        if (this.#followed?.has(seq, message)) return true
        this.#advance(seq, message)
        this.#connection?.replayed?.push(message)
      }
    }
    return this.#gapFill.isRepeated(message)
  }

  /** A message has been handled. `history` is the list of a history. */
  handleMessage(message: Message, history: readonly unknown[] | undefined): void {
    const outbox = this.#outbox
    if (history) {
      // A service without a replay sends a history instead.
      if (this.isReplaying) this.#begin(true)
      this.#noteNumbers(history)
      return this.#gapFill.handleHistory(history)
    }
    const held = this.#connection?.held
    if (!held) return outbox.handleMessage(message)
    held.push(message)
    // A service that sends a history sends it before anything else of the conversation.
    if (message.persona === PERSONA.AGENT || message.role === ROLE.HEARTBEAT) this.#gapFill.requestTranscript()
  }

  /** The connection was lost. */
  handleLost(): void {
    const held = this.#connection?.held
    this.#connection = undefined
    this.#gapFill.cancel()
    for (const message of held ?? []) this.#outbox.handleMessage(message)
  }

  /** The conversation was left: nothing of it is recovered. */
  clear(): void {
    this.#attempted = this.#followed = undefined
    if (this.#connection) this.#connection = {}
    this.#gapFill.forget()
  }

  /** There is nothing more to recover: the outbox gets what waited. */
  end(): void {
    this.#outbox.handleNoHistory()
    this.#release()
  }

  #lastSeqOf(sessionId: string): number | undefined {
    return sessionId === this.#followed?.id && this.#scope.facts.hasResume ? this.#followed.lastSeq : undefined
  }

  #begin(isReopening: boolean): void {
    const sessionId = this.#followed?.id
    if (sessionId === undefined) return
    const connection = this.#connection
    if (isReopening && connection) {
      connection.replayed = undefined
      connection.held = []
    }
    this.#gapFill.begin({ sessionId, isReopening, isFromStart: !this.#session.isSupplied })
  }

  #handleResumed(isComplete: boolean): void {
    const connection = this.#connection
    const messages = connection?.replayed
    if (!messages) return
    connection.replayed = undefined
    if (isComplete) {
      if (messages.length > 0) this.reportRecovered(messages, 'resume')
      return this.end()
    }
    // The history follows. Its elements have the numbers from which on the next reopening continues.
    if (this.#followed) this.#followed.lastSeq = undefined
    this.#begin(true)
  }

  #noteNumbers(history: readonly unknown[]): void {
    const followed = this.#followed
    if (!followed || !this.#scope.facts.hasResume) return
    let hasNumber = history.length === 0
    for (const element of history) {
      const { seq, ...rest } = (element ?? {}) as Frame & { readonly seq?: unknown }
      if (typeof seq !== 'number') continue
      hasNumber = true
      followed.add(seq, rest)
      if (seq > (followed.lastSeq ?? 0)) followed.lastSeq = seq
    }
    // As from the leader of tabs: a replay would repeat what the history has shown.
    if (!hasNumber) followed.lastSeq = undefined
  }

  /** The numbers increase: a new frame with a lower number shows that the last one was wrong. */
  #advance(seq: number, frame: Frame): void {
    const followed = this.#followed
    if (!followed) return
    const last = followed.lastSeq ?? 0
    if (seq <= last && !this.#hasWarned) {
      this.#hasWarned = true
      this.#scope.logger.warn(
        'The service numbers its frames out of order. The last number is taken as the present one.',
        { last, seq },
      )
    }
    followed.lastSeq = seq
    followed.add(seq, frame)
  }

  // ── What the gaps were filled with ────────────────────────────────────────────────────────────────────────────────

  /** The agent has answered, now or while the connection was down. */
  handleAnswer(message: Message): void {
    this.#streams.push(message)
    this.#working.end()
  }

  /** A history has been read: its messages are in the transcript. */
  handleHistory(history: readonly HistoryElement[]): void {
    void this.#resume?.(part => part.historyArrived(history))
    const messages = history.map(({ message }) => message)
    this.#scope.shared?.shown.handleHistory(messages)
    this.#outbox.handleHistory(messages)
  }

  reportRecovered(messages: Message[], source: RecoverySource): void {
    this.#scope.emit('messagesRecovered', () => ({ messages, source }))
  }

  #release(): void {
    const connection = this.#connection
    const held = connection?.held
    if (connection) connection.held = undefined
    for (const message of held ?? []) this.#outbox.handleMessage(message)
  }
}
