import { PERSONA } from '@aiagent/protocol'
import type { Opening } from '../chat/chat-session.ts'
import type { ConnectionLoss } from '../chat/connection.ts'
import {
  type DeliveryOutcome,
  type DeliveryReason,
  type DeliveryRecord,
  type DeliveryState,
  type DeliveryUpdate,
  hasWordsOf,
  isSettled,
  isWrittenIn,
  type Question,
  stateOf,
} from '../log/delivery.ts'
import type { Message } from '../log/message.ts'
import { type MessageLog, OBSERVED_LIMIT } from '../log/message-log.ts'
import { type FoundAnswer, findAnswer, findShown, type Point } from '../log/reconcile.ts'
import type { OptionalFeature } from '../platform/feature.ts'
import type { AgentScope } from '../scope.ts'

/** How often the texts of messages are looked for that are not needed any more, in milliseconds. */
const FORGET_EVERY_MS = 10_000

type LedgerScope = AgentScope<'deliveryUpdate'>

/** Stores the queue for the next page. Its code loads with `persistQueue` only. */
export interface QueueStore {
  /** Whether the queue is stored. */
  readonly isActive: boolean
  /** Whether nothing may be sent, because the store has not marked it yet. */
  readonly isClaiming: boolean
  /**
   * Reads what the previous page left. Resolves, also when the store fails, before the agent may become ready.
   *
   * @param ended the tabs of the conversation that have ended
   */
  restore(ended?: readonly string[]): Promise<void>
  /** Adds what the previous page left. */
  takeIn(): void
  /** The chat is open. */
  handleConnected(): void
  /** Lets nothing leave until the store has marked it. */
  mark(): void
  /** The store is brought up to date. */
  changed(): void
  /** An entry of the previous page is sent again. */
  handleSentAgain(entry: DeliveryRecord): void
  /** The user of the agent is another one soon, and keeps the queue: {@link restore} then stores it for that user. */
  leave(): Promise<void>
  /**
   * Forgets everything of the user, in the store too.
   *
   * @param user as `storedUser()` returns it
   */
  forgetUser(user: string | undefined): Promise<void>
  /** Leaves to the next page what is queued now: nothing more is sent. */
  release(): Promise<unknown>
}

/** The parts that it uses. */
export interface LedgerParts {
  readonly log: MessageLog
  /** Only with `persistQueue`. */
  readonly queue?: OptionalFeature<QueueStore | undefined> | undefined
}

/**
 * The policy of delivery: what is known of every outbound message of the log. Owns the evidence of the session. The recovery of
 * messages reports a history, or that none has come in time, which decides about messages in doubt.
 */
export class DeliveryLedger {
  readonly #scope: LedgerScope
  readonly #parts: LedgerParts
  readonly #log: MessageLog
  readonly #onDecided: () => void
  /** Stores the queue, once its code has loaded. */
  store: QueueStore | undefined
  /** Entries to send again, ahead of the queue and in this order. Settled ones are skipped. */
  again: DeliveryRecord[] | undefined
  #writes = 0
  /** The opening of the last connection, until its session is left. */
  #opening: Opening | undefined
  #isConnected = false
  #isSilent = false
  /** The point of the session before every unproven message: from it on, a history counts. */
  #point: Point
  /** How many messages were no longer observed at that point. */
  #unobserved = 0
  /** Whether a message was written after that point. */
  #hasWritten = false
  /** The last message of the agent: in a history, what comes after it is new. */
  #lastAgentMessage: Point
  /** Number of the first write after that message. */
  #firstWriteAfter = 0
  /** When the texts of messages are forgotten next, on the monotonic clock. */
  #forgetAt = 0
  /** Whether messages are in doubt that a history of the opened session may show. */
  #isWaiting = false

  /** @param onDecided it is known which entries are sent again: everything that could show them has been read */
  constructor(scope: LedgerScope, parts: LedgerParts, onDecided: () => void) {
    this.#scope = scope
    this.#parts = parts
    this.#log = parts.log
    this.#onDecided = onDecided
  }

  /** Reads what the previous page left, as {@link QueueStore.restore}. */
  async restore(ended?: readonly string[]): Promise<void> {
    await this.#parts.queue?.(store => {
      this.store = store
      return store?.restore(ended)
    })
  }

  /** The tab continues as that of another user and keeps its messages: they are stored under the keys of that user. */
  async leaveStore(): Promise<void> {
    await this.#parts.queue?.(store => store?.leave())
  }

  /** Whether nothing may be written at present, or only what is sent again. */
  get limit(): 'none' | 'resend' | undefined {
    const { store } = this
    // The store has not marked it yet, or messages in doubt may have to be sent first.
    if (store?.isClaiming || (this.#isWaiting && this.#isAtLeastOnce)) return 'none'
    return this.#log.sent.size >= this.#scope.facts.wire.window ? 'resend' : undefined
  }

  /** Whether messages in doubt are repeated, although the service may have them. */
  get #isAtLeastOnce(): boolean {
    return this.#scope.config.delivery === 'at-least-once'
  }

  /** Whether the service recognizes a repetition of the message. */
  hasKey({ message: { persona } }: DeliveryRecord): boolean {
    return this.#scope.facts.wire.recognized.includes(persona)
  }

  /** Whether an entry was written in the present session, as far as is known. */
  isOfSession(entry: DeliveryRecord): boolean {
    return isWrittenIn(entry, this.#scope.facts.sessionId)
  }

  /** Whether an entry without evidence is sent again by itself. Only the tab that wrote a message does so. */
  isSentAgain(entry: DeliveryRecord): boolean {
    return !entry.elsewhere && (this.isRepeatable(entry) || (this.#isAtLeastOnce && entry.isInDoubt === true))
  }

  /** Whether an entry can be sent again without a risk: the service has it once, in the present session. */
  isRepeatable(entry: DeliveryRecord): boolean {
    return this.hasKey(entry) && this.isOfSession(entry) && !entry.trace
  }

  /** Another page has written an entry. */
  adopt(entry: DeliveryRecord): void {
    if (entry.written) entry.written = { ...entry.written, order: this.#writes++ }
    if (entry.list !== this.#log.sent) this.#log.sent.add(entry)
  }

  /** The frame of an entry has been written. {@link report} tells the host. */
  handleWritten(entry: DeliveryRecord): void {
    const { environment, facts } = this.#scope
    const { written, state } = entry
    const number = this.#writes++
    // Reported as unknown, and recognized as a repetition: only the receipt is news.
    entry.isUnreported = state !== 'unknown' || !facts.wire.confirms || !this.isOfSession(entry)
    entry.written = {
      // What is sent again keeps its place: the connection may break before the rest of it is written. A retry does not.
      order: written && state !== 'queued' ? written.order : number,
      number,
      at: environment.clock.monotonic(),
      opening: this.#opening,
    }
    entry.isInDoubt = false
    this.#hasWritten = true
    if (entry.list !== this.#log.sent) this.#log.sent.add(entry)
  }

  /** Reports the last write. */
  report(entry: DeliveryRecord): void {
    if (!entry.isUnreported) return
    entry.isUnreported = false
    const previousState = stateOf(entry)
    entry.state = 'sent'
    entry.reason = undefined
    this.tell(entry, previousState, 'sending')
    // A listener may have ended the chat.
    if (stateOf(entry) === 'sent') this.tell(entry, 'sending', 'sent')
    // Never with receipts, where new messages wait instead.
    if (this.#log.sent.size > OBSERVED_LIMIT) this.settle(this.#log.sent.first as DeliveryRecord, 'unknown', 'limit')
    this.#log.trim()
  }

  settle(entry: DeliveryRecord, state: DeliveryOutcome, reason?: DeliveryReason): void {
    this.report(entry)
    const previousState = stateOf(entry)
    // A listener of the report may have settled it.
    if (isSettled(previousState) && previousState !== 'unknown') return
    entry.state = state
    entry.reason = reason
    this.#log.addSettled(entry)
    if (previousState === state) return
    const { waiting } = entry
    entry.waiting = undefined
    this.tell(entry, previousState, state, reason)
    if (waiting) for (const resolve of waiting) resolve(state)
  }

  /** The service has shown that it has the message. */
  acknowledge(entry: DeliveryRecord): void {
    const state = stateOf(entry)
    // It is in no list any more where the user has changed in the meantime.
    if (entry.list && (state === 'sent' || state === 'unknown')) this.settle(entry, 'acknowledged')
  }

  /** A settled entry is sent once more. Returns false if a listener has signed the user out or destroyed the agent. */
  reopen(entry: DeliveryRecord, outcome: DeliveryOutcome): boolean {
    const { reason } = entry
    entry.list?.delete(entry)
    entry.state = 'queued'
    entry.reason = entry.reply = undefined
    this.tell(entry, outcome, 'queued')
    if (this.#log.find(entry.id) === entry) return true
    entry.state = outcome
    entry.reason = reason
    for (const resolve of entry.waiting ?? []) resolve(outcome)
    entry.waiting = undefined
    return false
  }

  /** Removes every message that has been settled. What a listener has sent meanwhile waits on. */
  clear(): void {
    this.#log.forgetSettled()
    this.again = undefined
    this.#point = this.#lastAgentMessage = this.#opening = undefined
  }

  /** Reports no change from now on. */
  silence(): void {
    this.#isSilent = true
  }

  /** Reports the change of a message of this page, or of another tab, which tells the others itself. */
  tell(entry: DeliveryRecord, previousState: DeliveryState, state: DeliveryState, reason?: DeliveryReason): void {
    if (this.#isSilent) return
    const { id, elsewhere } = entry
    // Two literals: spreading is slow, and each message passes here twice.
    const update: DeliveryUpdate = reason ? { id, state, previousState, reason } : { id, state, previousState }
    this.#scope.emit('deliveryUpdate', () => update)
    if (elsewhere) return
    this.#scope.shared?.handleUpdate(update)
    this.store?.changed()
  }

  // ── What the session shows ────────────────────────────────────────────────────────────────────────────────────────

  /**
   * The chat is open. Other sessions have ended, so that no evidence of what was sent in them will arrive.
   *
   * @returns whether the previous connection had the same session
   */
  handleConnected(opening: Opening): boolean {
    const { facts, config } = this.#scope
    const isReopening = opening.sessionId === this.#opening?.sessionId
    this.#opening = opening
    this.#isConnected = true
    this.endSession('session_ended', facts.sessionId)
    this.again = undefined
    if (!isReopening) {
      // Another tab may write the same text.
      this.#point = this.#lastAgentMessage = opening.isOwn && !config.tabs ? 'start' : undefined
      this.#hasWritten = false
      this.#firstWriteAfter = this.#writes
    }
    // The service drops repetitions, so that nothing has to be found out first.
    if (facts.wire.confirms) this.decide()
    else if (this.#log.unproven.some(({ isInDoubt }) => isInDoubt)) {
      // The history of a session that this page has just created shows no message of an earlier one.
      this.#isWaiting = !opening.isCreated || opening.isReopening
      if (!this.#isWaiting) this.decide()
    }
    return isReopening
  }

  /**
   * The connection has ended, and another one follows: the messages that were written last may not have arrived, unless the end
   * was in order.
   */
  handleLost({ lastInboundAt = -Infinity, isAbnormal }: ConnectionLoss): void {
    this.#isWaiting = false
    const wasConnected = this.#isConnected
    this.#isConnected = false
    if (!isAbnormal || !wasConnected) return
    for (const entry of this.#log.unproven)
      if (entry.written && entry.written.opening === this.#opening)
        entry.isInDoubt = entry.written.at > lastInboundAt - this.#scope.config.doubtAfterMs
  }

  /**
   * A message of the service has arrived.
   *
   * @param arrivedAt time of the last frame, on the monotonic clock
   */
  handleMessage(message: Message, arrivedAt = -Infinity): void {
    const { facts, config } = this.#scope
    // What was sent long before that is not written again; with receipts it is until there is one.
    if (!facts.wire.confirms && arrivedAt >= this.#forgetAt) {
      this.#forgetAt = arrivedAt + FORGET_EVERY_MS
      this.#log.forgetTexts(arrivedAt - config.doubtAfterMs)
    }
    if (message.persona !== PERSONA.AGENT) return
    if (!this.#hasWritten) this.#point = message
    this.handleAgentMessage(message)
  }

  /** The agent has sent a message. It answers nothing that was written before. */
  handleAgentMessage(message: Message): void {
    this.#lastAgentMessage = message
    this.#firstWriteAfter = this.#writes
  }

  /** The answer to a question in a history of the session. */
  findAnswer(history: readonly Message[], { message }: Question): FoundAnswer | undefined {
    // The same words may have been written before.
    const isSame = (entry: DeliveryRecord) =>
      entry.written && entry.written.number >= this.#firstWriteAfter && hasWordsOf(entry, message)
    const count = this.#log.accepted.filter(isSame).length
    return findAnswer(history, message, this.#lastAgentMessage, count)
  }

  /** A history of the session has arrived. */
  handleHistory(history: readonly Message[]): void {
    const { facts, shared } = this.#scope
    const { sessionId, wire } = facts
    const isWaiting = this.#isWaiting
    const last = history.at(-1)
    const { unobserved } = this.#log
    // With receipts the words may be those of a message that has its receipt: the service is asked by a repetition instead.
    // Another tab may have written the same text: the tabs compare the words of all of them.
    const point = unobserved > this.#unobserved || wire.confirms || shared ? undefined : this.#point
    const unproven = this.#log.unproven.filter(entry => isWrittenIn(entry, sessionId))
    if (last) {
      this.#point = last
      this.#unobserved = unobserved
      this.#hasWritten = this.#log.sent.size > 0
    }
    if (last && unproven.length > 0) for (const entry of findShown(history, unproven, point)) this.acknowledge(entry)
    // A listener may have lost or ended the session.
    if (isWaiting && this.#isWaiting) this.decide()
  }

  /**
   * No history of the session will come, or none has come in time.
   *
   * @param isFinal whether none is awaited any longer: until then a late one may save the user a message that arrives twice
   */
  handleNoHistory(isFinal = false): void {
    if (this.#isWaiting && (isFinal || !this.#isAtLeastOnce)) this.decide()
  }

  /** Nothing more will be found out about the messages in doubt: they are sent again, or they are `unknown`. */
  decide(): void {
    this.#isWaiting = false
    const again: DeliveryRecord[] = []
    for (const entry of this.#log.unproven)
      if (this.isSentAgain(entry)) again.push(entry)
      else this.#giveUp(entry)
    for (const entry of again) this.store?.handleSentAgain(entry)
    this.again = again
    this.#onDecided()
  }

  /** Nothing of the conversation goes into the next one by itself. */
  leaveConversation(): void {
    for (const entry of this.#log.unproven) this.#giveUp(entry)
  }

  #giveUp(entry: DeliveryRecord): void {
    if (!entry.isInDoubt) return
    entry.isInDoubt = false
    if (entry.state === 'sent') this.settle(entry, 'unknown', 'connection_lost')
  }

  /** Settles what was sent, except in the session that continues: no evidence of it will arrive. */
  endSession(reason: DeliveryReason, present?: string): void {
    this.#isWaiting = false
    for (const entry of [...this.#log.sent])
      if (present === undefined || !(entry.isAnswered || isWrittenIn(entry, present)))
        this.settle(entry, 'unknown', reason)
  }

  /** The session goes on without this page. What was sent is not sent again in another one. */
  leaveSession(isAnswered: (id: string) => boolean): void {
    this.#isWaiting = false
    this.#opening = undefined
    this.#isConnected = false
    for (const entry of this.#log.unproven) {
      entry.isInDoubt = false
      entry.isAnswered = entry.state === 'sent' && isAnswered(entry.id)
      if (!entry.isAnswered) this.settle(entry, 'unknown', 'session_ended')
    }
  }
}
