import { EXTENSION_ROLE, PERSONA, ROLE } from '@aiagent/protocol'
import type { ChatParts } from '../chat/chat.ts'
import type { Opening } from '../chat/chat-session.ts'
import type { ChatObserver } from '../chat/connection.ts'
import type { RecoverySource } from '../events.ts'
import type { HistoryElement, Message } from '../log/message.ts'
import {
  groupBy,
  type HistoryMergeOptions,
  haveSameMark,
  type KnownMessage,
  knownMessage,
  mergeHistory,
  readHistory,
} from '../log/reconcile.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { OptionalFeature } from '../platform/feature.ts'
import type { AgentScope } from '../scope.ts'
import { Era } from '../util/era.ts'
import { isPromiseLike } from '../util/values.ts'
import type { MessageProcessor } from './handlers.ts'
import { emitAgentMessage } from './inbound-events.ts'
import type { HandlerResult, MessageHandlerResult } from './message-handler.ts'
import type { MessageStreams } from './message-streams.ts'
import type { WorkingState } from './working-state.ts'

/** How long the service may take to send a history after a reopening, before it is requested, in milliseconds. */
const HISTORY_WAIT_MS = 1_000

/** From when on a history counts as late, counted from the opening, in milliseconds. */
export const OVERDUE_MS = 5_000

/** As {@link OVERDUE_MS}, before a message is sent a second time. */
export const FINAL_MS = 15_000

/** Restores what the previous page had of the session, with `resume` or `tabs`. */
interface HistoryReader {
  /** The chat has sent the history of the session. */
  historyArrived(history: readonly HistoryElement[]): void
}

/** The wait for a history, and the request for it. */
interface Wait {
  readonly followed: FollowedSession
  readonly timer: unknown
  readonly era: Era
  /** Resolves with whether a history was read. */
  request?: Promise<boolean>
}

/** The parts that it uses. */
export interface RecoveryParts extends Pick<ChatParts, 'connection' | 'session' | 'log'> {
  readonly outbox: Outbox
  readonly processor: MessageProcessor
  readonly streams: MessageStreams | undefined
  readonly working: WorkingState
  readonly resume: OptionalFeature<HistoryReader> | undefined
}

/*
 * The recovery of messages that were missed while the connection was down. Owns the frames that must wait for it.
 *
 *   opened again ──┬─ numbers known ── replay of the service ─┬─► complete
 *                  │                                          └─► not complete ──┐
 *                  └─────────────────────────────────────────────────────────────┴─┬─ history frame ──► merged
 *                                                                                   └─ 1 s, or another frame
 *                                                       failed: one warning ◄─┬── history call ──┘
 *                                                                    merged ◄─┘
 *
 * Five seconds after the opening a replay that has not ended gives way to a history, and what only a history could show is
 * decided. A message that would be sent a second time waits for fifteen. Nothing is held or requested for that alone.
 */
export class Recovery implements ChatObserver {
  readonly #scope: AgentScope<'messagesRecovered' | 'agentMessage' | 'escalation'>
  readonly #parts: RecoveryParts
  /** The session that is followed; undefined after the conversation was left. */
  #followed: FollowedSession | undefined
  /** Missed messages that the service is repeating. */
  #replayed: Message[] | undefined
  /** Frames that the outbox gets after the recovered messages, so that a question is not answered by a later message. */
  #held: Message[] | undefined
  #wait: Wait | undefined
  /** Timer of the deadline for everything that the opening has left undecided. */
  #deadline: unknown
  #hasWarnedOfOrder = false
  #hasWarnedOfGap = false

  constructor(scope: AgentScope<'messagesRecovered' | 'agentMessage' | 'escalation'>, parts: RecoveryParts) {
    this.#scope = scope
    this.#parts = parts
    parts.connection.observe(this)
  }

  // ── The connection ────────────────────────────────────────────────────────────────────────────────────────────────

  /** Whether the service is repeating missed messages. */
  get isReplaying(): boolean {
    return this.#replayed !== undefined
  }

  /** An attempt begins. Returns the number of the last processed frame of its session, where earlier frames may be missed. */
  beginAttempt(opening: Opening): number | undefined {
    const followed = this.#followed?.isOf(opening) ? this.#followed : new FollowedSession(opening)
    this.#followed = followed
    // The service may have seen an opening that failed here, so that the agent has spoken since.
    const isUnseen = opening.number > 1 && !opening.isReopening && opening.isRestored
    followed.isMissing = followed.heardAt !== undefined || isUnseen
    const lastSeq = followed.isMissing && this.#scope.facts.wire.replays ? followed.lastSeq : undefined
    // Frames may arrive before the chat counts as open: a token is still awaited.
    this.#replayed = lastSeq === undefined ? undefined : []
    return lastSeq
  }

  /** The chat is open. */
  handleConnected(opening: Opening): void {
    this.#release()
    this.#followed ??= new FollowedSession(opening)
    const { isMissing } = this.#followed
    // The transcript of the previous page was read a while ago.
    const isResumed = opening.isRestored && !opening.isOwn
    this.#begin(this.#followed, !this.#replayed && (isMissing || isResumed), isMissing && !this.#replayed)
    // A session that this page has just created shows nothing of an earlier one.
    if (opening.isCreated && !opening.isReopening) return
    const { config, environment } = this.#scope
    const { clock } = environment
    this.#deadline = clock.setTimeout(() => {
      if (config.delivery === 'at-least-once')
        this.#deadline = clock.setTimeout(() => this.#handleOverdue(true), FINAL_MS - OVERDUE_MS)
      this.#handleOverdue(false)
    }, OVERDUE_MS)
  }

  /** @param isFinal whether nothing is awaited any longer */
  #handleOverdue(isFinal: boolean): void {
    if (this.#followed) this.#handleResumed(this.#followed, false)
    this.#parts.outbox.handleOverdue(isFinal)
  }

  /** The connection was lost. */
  handleLost(): void {
    const held = this.#held ?? []
    this.#replayed = this.#held = undefined
    this.#endWait()
    this.#scope.environment.clock.clearTimeout(this.#deadline)
    for (const message of held) this.#pass(message)
  }

  /** The conversation was left: nothing of it is recovered. */
  clear(): void {
    this.#followed = this.#replayed = this.#held = undefined
    this.#endWait()
    this.#scope.environment.clock.clearTimeout(this.#deadline)
  }

  // ── Frames ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Whether a frame belongs to the extension, or was processed before. */
  isConsumed(message: Message, seq: number | undefined): boolean {
    const { persona, role, messageData } = message
    if (persona === PERSONA.METADATA && role === EXTENSION_ROLE.PONG) return this.#scope.facts.wire.answersPings
    const followed = this.#followed
    if (!followed) return false
    const isNew = !this.#parts.log.noteAnswer(message)
    if (this.#scope.facts.wire.replays) {
      if (persona === PERSONA.METADATA && role === EXTENSION_ROLE.RESUMED) {
        this.#handleResumed(followed, messageData?.complete === true)
        return true
      }
      if (seq !== undefined) {
        if (followed.has(seq, message)) return true
        this.#advance(followed, seq, message)
        if (isNew) this.#replayed?.push(message)
      }
    }
    return !isNew || followed.isRepeated(message)
  }

  /** A message has been handled. `history` is the list of a history. */
  handleMessage(message: Message, history: readonly unknown[] | undefined): void {
    const followed = this.#followed
    if (followed && history) {
      // A service without a replay sends a history instead.
      if (this.isReplaying) this.#begin(followed, true)
      this.#noteNumbers(followed, history)
      return this.#handleHistory(followed, history)
    }
    if (!this.#held) return this.#pass(message)
    this.#held.push(message)
    // A service that sends a history sends it before anything else of the conversation.
    if (message.persona === PERSONA.AGENT || message.role === ROLE.HEARTBEAT) void this.requestHistory()
  }

  /** The agent has answered, now or while the connection was down. */
  handleAnswer(message: Message): void {
    this.#parts.streams?.push(message)
    this.#parts.working.end()
  }

  // ── The numbers of the frames: PROTOCOL.md, "Resume" ──────────────────────────────────────────────────────────────

  #handleResumed(followed: FollowedSession, isComplete: boolean): void {
    const messages = this.#replayed
    if (!messages) return
    this.#replayed = undefined
    if (isComplete) {
      followed.isMissing = false
      if (messages.length > 0) this.#reportRecovered(messages, 'resume')
      return this.#end()
    }
    // The history follows. Its elements have the numbers from which on the next reopening continues.
    followed.lastSeq = undefined
    this.#begin(followed, true)
  }

  #noteNumbers(followed: FollowedSession, history: readonly unknown[]): void {
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
  #advance(followed: FollowedSession, seq: number, frame: Frame): void {
    const last = followed.lastSeq ?? 0
    if (seq <= last && !this.#hasWarnedOfOrder) {
      this.#hasWarnedOfOrder = true
      this.#scope.logger.warn(
        'The service numbers its frames out of order. The last number is taken as the present one.',
        { last, seq },
      )
    }
    followed.lastSeq = seq
    followed.add(seq, frame)
  }

  // ── The history ───────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * @param isAwaited whether a history has to show what is not known
   * @param isMissing whether that is what this page has missed
   */
  #begin(followed: FollowedSession, isAwaited: boolean, isMissing = isAwaited): void {
    this.#endWait()
    const { clock } = this.#scope.environment
    followed.heardAt ??= clock.now()
    followed.isMissing = isMissing
    if (!isAwaited) return
    this.#replayed = undefined
    this.#held = []
    const timer = clock.setTimeout(() => this.requestHistory(), HISTORY_WAIT_MS)
    this.#wait = { followed, timer, era: new Era() }
  }

  /** Neither waits for a history nor requests it any more. */
  #endWait(): void {
    const wait = this.#wait
    this.#wait = undefined
    this.#scope.environment.clock.clearTimeout(wait?.timer)
    wait?.era.end()
  }

  /**
   * Requests the history that is awaited, once: when none has arrived in time, before another frame, or earlier.
   *
   * @returns whether one has been read; false where none is awaited
   */
  async requestHistory(): Promise<boolean> {
    const wait = this.#wait
    if (!wait) return false
    wait.request ??= this.#load(wait)
    return wait.request
  }

  async #load(wait: Wait): Promise<boolean> {
    this.#scope.environment.clock.clearTimeout(wait.timer)
    const loading = wait.era.during(signal => this.#parts.session.loadHistory(signal))
    const list = await loading.catch((error: unknown) => {
      if (!wait.era.isOver && !this.#hasWarnedOfGap) {
        this.#hasWarnedOfGap = true
        this.#scope.logger.warn(
          'Messages of an outage may be missing: the service sent no history on the reopening, and the transcript could not be loaded.',
          { error },
        )
      }
    })
    if (wait.era.isOver) return false
    this.#endWait()
    if (!list) this.#end()
    else if (wait.followed.isMissing) this.#recover(wait.followed, list, 'rest')
    else this.#complete(wait.followed, list, 'rest')
    return list !== undefined
  }

  /** The service has sent the history of the session. */
  #handleHistory(followed: FollowedSession, list: readonly unknown[]): void {
    this.#parts.session.handleHistory()
    this.#endWait()
    if (followed.isMissing) this.#recover(followed, list, 'history')
    else this.#complete(followed, list, 'history')
  }

  /** Takes what a history shows of the time before this page. */
  #complete(followed: FollowedSession, list: readonly unknown[], source: RecoverySource): void {
    const options = this.#mergeOptions(followed)
    const history = readHistory(list, this.#scope.facts)
    if (source === 'rest') followed.addRecovered(mergeHistory(history, options).map(({ message }) => message))
    this.#handOver(followed, history)
    if (!followed.isFromStart) {
      // The `chatHistory` event has reported these messages. They are not missed ones after an outage.
      for (const { message, direction } of mergeHistory(history, { ...options, isFromStart: true }))
        this.#parts.log.noteMissing(message, direction)
      followed.isFromStart = true
    }
    this.#release()
  }

  #mergeOptions({ opening, heardAt = 0, isFromStart }: FollowedSession): HistoryMergeOptions {
    const log = this.#parts.log
    return { log, sessionId: opening.sessionId, openedAt: heardAt, isFromStart: isFromStart && log.isComplete }
  }

  /** Adds the messages that were missed to the transcript, and reports them. */
  #recover(followed: FollowedSession, list: readonly unknown[], source: RecoverySource): void {
    const log = this.#parts.log
    const options = this.#mergeOptions(followed)
    const history = readHistory(list, this.#scope.facts)
    const typeOf = (message: Message) => this.#parts.processor.handlerFor(message)?.resultType
    const { inserted, removed } = log.insert(mergeHistory(history, options), options.sessionId, typeOf, true)
    const messages = inserted.map(({ message }) => message)
    if (source === 'rest') followed.addRecovered(messages)
    // A listener may sign out or restart.
    const isLeft = () => this.#followed !== followed
    for (const { message, entry } of inserted) {
      if (entry) log.report(entry)
      if (isLeft()) return
      if (message.persona === PERSONA.AGENT) this.#report(message, isLeft)
      if (isLeft()) return
    }
    log.reportTrimmed(removed)
    if (messages.length > 0) this.#reportRecovered(messages, source)
    if (isLeft()) return
    this.#handOver(followed, history)
    this.#end()
  }

  /** Emits the events of a recovered message of the agent, with the result of its handler. */
  #report(message: Message, isLeft: () => boolean): void {
    const scope = this.#scope
    const report = (result: HandlerResult | undefined) => {
      if (isLeft()) return
      const known = result as MessageHandlerResult | undefined
      if (known?.type === 'agent_message') emitAgentMessage(scope, known, true)
    }
    const failed = (error: unknown) => scope.logger.error('A message handler failed.', error)
    try {
      const result = this.#parts.processor.process(message)
      if (isPromiseLike(result)) Promise.resolve(result).then(report).catch(failed)
      else report(result)
    } catch (error) {
      failed(error)
    }
    if (!isLeft()) this.handleAnswer(message)
  }

  #reportRecovered(messages: Message[], source: RecoverySource): void {
    this.#scope.emit('messagesRecovered', () => ({ messages, source }))
  }

  /** A history has been read: its messages are in the transcript. */
  #handOver(followed: FollowedSession, history: readonly HistoryElement[]): void {
    void this.#parts.resume?.(part => part.historyArrived(history))
    const messages = history.map(({ message }) => message)
    followed.heardAt = messages.at(-1)?.timestamp ?? followed.heardAt
    this.#scope.shared?.replica.handleHistory(messages)
    this.#parts.outbox.handleHistory(messages)
  }

  /** There is nothing more to recover: the outbox gets what waited. */
  #end(): void {
    this.#parts.outbox.ledger.handleNoHistory()
    this.#release()
  }

  #release(): void {
    const held = this.#held
    if (!held) return
    this.#held = undefined
    for (const message of held) this.#pass(message)
  }

  /** A message that awaits no history any more. */
  #pass(message: Message): void {
    if (this.#followed) this.#followed.heardAt = message.timestamp ?? this.#followed.heardAt
    this.#parts.outbox.handleMessage(message)
  }
}

interface Frame {
  readonly messageId?: unknown
  readonly content?: unknown
}

function identityOf({ messageId, content }: Frame): string {
  return `${messageId ?? content}`
}

/** How many numbers of processed frames are kept, by which repeated frames are recognized. */
const KEPT_NUMBERS = 1_000

/** A session, and what this page has of it: the processed frames by their numbers, and the recovered messages. */
class FollowedSession {
  readonly opening: Opening
  /** Number of the last processed frame; undefined where it is unknown. */
  lastSeq: number | undefined
  /**
   * The latest processed numbers, each with what identifies its frame: a service may use a number twice by mistake. A number is at
   * the place of its remainder.
   */
  #processed: { readonly seq: number; readonly identity: string }[] | undefined
  /** What a history call has recovered, by fingerprint: the chat may send it too, also after another reconnect. */
  readonly #recovered = new Map<string, KnownMessage[]>()
  /** Time of the last message before those that a history may show: at first that of the opening, by the clock of the page. */
  heardAt: number | undefined
  /** Whether this page knows the session from its start, or restores its beginning. */
  isFromStart: boolean
  /** Whether messages may have been missed before the present connection, which a history has to show. */
  isMissing = false

  /** @param opening one of the session */
  constructor(opening: Opening) {
    this.opening = opening
    // In a session that was resumed or supplied, frames were sent before this page opened it.
    this.lastSeq = opening.isOwn ? 0 : undefined
    this.isFromStart = !opening.isSupplied
  }

  isOf({ sessionId }: Opening): boolean {
    return sessionId === this.opening.sessionId
  }

  has(seq: number, frame: Frame): boolean {
    const kept = this.#processed?.[seq % KEPT_NUMBERS]
    return kept?.seq === seq && kept.identity === identityOf(frame)
  }

  add(seq: number, frame: Frame): void {
    this.#processed ??= []
    this.#processed[seq % KEPT_NUMBERS] = { seq, identity: identityOf(frame) }
  }

  addRecovered(messages: readonly Message[]): void {
    const arrived = messages.map(message => knownMessage(message))
    for (const [fingerprint, known] of groupBy(arrived, each => each.fingerprint))
      this.#recovered.set(fingerprint, [...(this.#recovered.get(fingerprint) ?? []), ...known])
  }

  /** Whether a message that arrives was recovered before. True once for each. */
  isRepeated(message: Message): boolean {
    if (this.#recovered.size === 0) return false
    const arrived = knownMessage(message)
    const known = this.#recovered.get(arrived.fingerprint) ?? []
    const index = known.findIndex(each => haveSameMark(each, arrived))
    if (index < 0) return false
    known.splice(index, 1)
    return true
  }
}
