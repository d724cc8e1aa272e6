import { ConnectionState } from '../chat/connection-state.ts'
import { MessageError, SDKError } from '../errors.ts'
import { addressMessage, detachMessage, type SendOptions } from './compose.ts'
import { Delivery, stateOf } from './delivery.ts'
import type { DeliveryOutcome, DeliveryReason, DeliveryUpdate } from './delivery-state.ts'
import { DeliveryLedger } from './ledger.ts'
import type { Message, MessageObject } from './message.ts'
import { createEntry, type OutboxEntry, type Question } from './outbox-entry.ts'
import { type OutboxOptions, queueFull } from './outbox-options.ts'
import type { OutboxStore } from './outbox-store.ts'
import { type AskOptions, FirstTurn, Questions, type QuestionsOwner, type Turns } from './questions.ts'
import { ResendPolicy } from './resend-policy.ts'
import type { Sending, SendingOwner } from './sending.ts'
import type { SendingOptions } from './sending-options.ts'

/*
 * Everything that is to be sent. The outbox owns each entry from `send()` or `ask()` to the wire; the ledger knows what
 * became of it (delivery.ts has the states).
 *
 *   send() ──────────────► held ── agent ready ──► queued ── connection ready ──► sent ──► acknowledged, unknown
 *   ask() ──► awaiting ──►  │                        │
 *             turn          └── withdraw, clear ─────┴──► cancelled, failed
 *
 * A state that needs no wait is passed at once. Entries leave in order: while one is held or queued, a new one goes
 * behind it. Every wait counts against one limit.
 */

/** Constructs the sending half, whose code loads later. */
type CreateSending = (outbox: OutboxOptions, options: SendingOptions, owner: SendingOwner) => Sending

export class Outbox implements QuestionsOwner, SendingOwner {
  readonly #options: OutboxOptions
  readonly #questions: Questions
  readonly policy: ResendPolicy
  readonly ledger: DeliveryLedger
  /** What writes entries to a connection, once its code is loaded. */
  #sending: Sending | undefined
  #late: SendingOptions | undefined
  turns: Turns = new FirstTurn()
  /** Entries that wait until the agent is ready. */
  #held: OutboxEntry[] = []

  constructor(options: OutboxOptions) {
    this.#options = options
    this.policy = new ResendPolicy(options)
    this.ledger = new DeliveryLedger(options, this)
    this.#questions = new Questions(options, this)
  }

  /**
   * From now on there is a chat to send to.
   *
   * @returns what its connection calls
   */
  attach(late: SendingOptions, create: CreateSending): Sending {
    this.#late = late
    const sending = create(this.#options, late, this)
    const { current } = this.turns
    this.#sending = sending
    this.turns = sending.turns
    if (current) sending.turns.start(current)
    late.chat.setMessageSink(sending)
    return sending
  }

  get #store(): OutboxStore | undefined {
    return this.#sending?.store
  }

  /** Number of entries that wait: for their turn, for the agent, or for the connection. */
  get size(): number {
    return this.#questions.size + this.#held.length + (this.#sending?.lane.queue.size ?? 0)
  }

  /** What became of a message; undefined for an id that the ledger does not know, or no longer. */
  delivery(id: string): Delivery | undefined {
    const entry = this.ledger.get(id)
    return entry && new Delivery(entry, this)
  }

  /**
   * Sends a message, or lets it wait.
   *
   * @returns its id
   * @throws {MessageError} reasons `invalid`, `encoding_failed`, `queue_full`, `masking_unavailable`; nothing has changed
   */
  send(data: string | MessageObject | Message, options: SendOptions = {}): string {
    const entry = createEntry(data, options, this.#options, this.canPass ? this.#options.origin : undefined)
    this.submit(entry)
    return entry.id
  }

  /** Sends a question when its turn comes, and resolves with the answer. See `AiAgent.ask()`. */
  ask(text: string, options: AskOptions = {}): Promise<Message> {
    return this.#questions.ask(text, options)
  }

  /** The agent is ready: what the previous page left and held entries go on, in order. */
  release(): void {
    this.#store?.takeIn()
    // One by one: an entry that a listener adds meanwhile goes behind those that are still held.
    for (let entry = this.#held.shift(); entry; entry = this.#held.shift()) {
      try {
        entry.message = addressMessage(entry.message, this.#options.origin)
        this.#sending?.pass(entry)
      } catch (error) {
        if (!(error instanceof MessageError)) throw error
        this.#drop(entry, error)
      }
    }
  }

  /** Takes a waiting entry out; returns false when no entry of that id waits. */
  withdraw(id: string): boolean {
    const entry = this.ledger.get(id)
    if (!entry || !this.#remove(entry)) return false
    this.#settleWaiting(entry, 'cancelled')
    return true
  }

  cancel(entry: OutboxEntry): boolean {
    if (!this.#remove(entry)) return false
    this.#drop(entry, new SDKError('The message was cancelled before it was sent.', 'ABORTED'), 'cancelled')
    return true
  }

  retry(entry: OutboxEntry): boolean {
    const { state, reason, id } = entry
    if (this.ledger.get(id) !== entry || (state !== 'unknown' && state !== 'failed')) return false
    if (!this.ledger.reopen(entry, state)) return false
    try {
      if (entry.data) {
        entry.message = addressMessage(entry.message, this.#options.origin)
        this.#sending?.enter(entry)
        this.#late?.accepted(entry.message, entry.data.length, true)
      } else this.submit(entry)
    } catch (error) {
      this.ledger.settle(entry, state, reason)
      throw error
    }
    this.ledger.report(entry)
    return true
  }

  /** Drops all waiting entries and reports each, so that no message is lost silently. */
  clear(reason: DeliveryReason = 'cleared'): void {
    for (const entry of this.#takeAll())
      this.#drop(
        entry,
        new MessageError('The message was dropped before it was sent.', 'cleared', { messageId: entry.id }),
        'failed',
        reason,
      )
  }

  /** As {@link clear}. Nothing of the conversation that is left goes into the next one by itself. */
  leaveConversation(): void {
    this.clear()
    for (const entry of this.ledger.unproven()) entry.isInDoubt = false
  }

  /** As {@link clear}, and forgets every message; questions that have been sent are rejected too (SEC-15). */
  forgetUser(): unknown {
    this.clear('signed_out')
    this.turns.forgetUser()
    this.ledger.endSession('signed_out')
    this.ledger.clear()
    return this.#sending?.forgetUser()
  }

  /**
   * Settles all entries without a report, and rejects every question.
   *
   * @returns a promise that is fulfilled when the queue is stored, if it is stored at all; it never rejects
   */
  destroy(error: SDKError): Promise<unknown> | undefined {
    const isStored = this.#store?.isActive
    const released = this.#store?.release()
    const { current } = this.turns
    const waiting = this.#takeAll()
    this.ledger.silence()
    this.#sending?.evidence.clear()
    this.turns.destroy()
    for (const entry of waiting)
      this.#settleWaiting(entry, isStored && entry.data && !entry.reply ? 'unknown' : 'failed', 'destroyed')
    this.ledger.endSession('destroyed')
    this.ledger.clear()
    for (const entry of new Set(current ? [current, ...waiting] : waiting)) entry.reply?.reject(error)
    return released
  }

  /** The chat has ended: no reconnect follows. */
  handleClosed(): void {
    const { current } = this.turns
    for (const question of [...(current ? [current] : []), ...this.#questions.takeAll()]) {
      this.#remove(question)
      const { id: messageId } = question
      this.#drop(question, new MessageError('The chat was closed before an answer came.', 'closed', { messageId }))
    }
    this.ledger.endSession('session_ended')
    this.#sending?.evidence.end()
  }

  /** Whether an entry need not be held until the agent is ready. */
  get canPass(): boolean {
    return this.#held.length === 0 && this.#options.isReady()
  }

  /** The state of the chat. */
  get chatState(): ConnectionState {
    return this.#late?.chat.state ?? ConnectionState.IDLE
  }

  /** The delivery of a message has changed. */
  handleUpdate(update: DeliveryUpdate): void {
    this.#options.updated(update)
    this.#store?.changed()
  }

  startNextQuestion(): void {
    this.#questions.startNext()
  }

  /** Lets an entry pass, or holds it until the agent is ready. */
  submit(entry: OutboxEntry): void {
    // An agent is ready only after the code that sends has loaded.
    if (this.canPass) return this.#sending?.pass(entry)
    this.requireSpace(entry.id)
    // A message that cannot be encoded is refused now, while the caller still waits.
    entry.message = detachMessage(entry.message, entry.message.toPayloadString())
    entry.state = 'held'
    this.#held.push(entry)
    this.ledger.add(entry)
  }

  /** The caller of a question no longer waits for the answer. */
  giveUp(question: Question): void {
    if (this.#remove(question)) this.#settleWaiting(question, 'cancelled')
    if (this.turns.end(question)) this.#questions.startNext()
  }

  #drop(
    entry: OutboxEntry,
    error: SDKError,
    outcome: DeliveryOutcome = 'failed',
    reason: DeliveryReason | undefined = error instanceof MessageError ? (error.reason as DeliveryReason) : undefined,
  ): void {
    const { reply } = entry
    const hadTurn = this.turns.end(entry)
    // A question that was sent is settled with its session.
    if (stateOf(entry) === 'queued') this.#settleWaiting(entry, outcome, reason)
    if (reply) reply.reject(error)
    else if (outcome === 'failed') this.#options.failed(error)
    if (hadTurn) this.#questions.startNext()
  }

  /** Settles an entry that was taken out. What was written once already may have arrived. */
  #settleWaiting(entry: OutboxEntry, outcome: DeliveryOutcome, reason?: DeliveryReason): void {
    this.ledger.settle(entry, entry.written ? 'unknown' : outcome, reason)
  }

  #remove(entry: OutboxEntry): boolean {
    if (this.#questions.remove(entry)) return true
    const index = this.#held.indexOf(entry)
    if (index >= 0) return this.#held.splice(index, 1).length > 0
    return entry.state === 'queued' && this.#sending?.lane.queue.remove(entry.id) === true
  }

  #takeAll(): OutboxEntry[] {
    return [...this.#questions.takeAll(), ...(this.#sending?.lane.takeAll() ?? []), ...this.#held.splice(0)]
  }

  /** @throws {MessageError} reason `queue_full` */
  requireSpace(messageId: string): void {
    const { maxQueueSize } = this.#options
    if (this.size >= maxQueueSize) throw queueFull(messageId, maxQueueSize)
  }
}
