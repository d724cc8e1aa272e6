import { EXTENSION_ROLE, isJsonObject, PERSONA, ROLE } from '@aiagent/protocol'
import { storedUser } from '../auth/authentication-service.ts'
import type { Chat, ChatParts } from '../chat/chat.ts'
import type { Opening } from '../chat/chat-session.ts'
import type { ChatObserver, ConnectionLoss } from '../chat/connection.ts'
import { ConnectionState } from '../chat/connection-state.ts'
import type { ContextStore } from '../chat/context-store.ts'
import type { Liveness } from '../chat/liveness.ts'
import type { Transport } from '../chat/transport.ts'
import { abortedError, MessageError, SDKError } from '../errors.ts'
import {
  createRecord,
  Delivery,
  type DeliveryOutcome,
  type DeliveryReason,
  type DeliveryRecord,
  type Question,
  type Reply,
  stateOf,
} from '../log/delivery.ts'
import {
  addressMessage,
  detachMessage,
  isUserMessage,
  type Message,
  type MessageObject,
  type SendOptions,
} from '../log/message.ts'
import type { MessageLog } from '../log/message-log.ts'
import type { Masking } from '../masking/masking.ts'
import type { AgentScope } from '../scope.ts'
import { utf8Bytes } from '../util/text.ts'
import { BurstWriter } from './burst-writer.ts'
import { DeliveryLedger, type LedgerParts } from './delivery-ledger.ts'
import { TurnTaking } from './turn-taking.ts'

/** Options of `ask()`. */
export interface AskOptions {
  /** Gives up the question: the promise rejects with code ABORTED, and the next question takes its turn. */
  signal?: AbortSignal
  /**
   * Longest wait for the answer, in milliseconds, from the call on. It includes earlier questions and the connection.
   * `Infinity` sets no limit.
   *
   * @default 120_000
   */
  timeoutMs?: number
}

/** Slow agents answer within a minute; the caller must not wait endlessly. */
const ANSWER_LIMIT_MS = 120_000

/** How long a question may wait for the agent or the connection before the log warns, in milliseconds. */
export const WARN_AFTER_MS = 3_000

/*
 * Everything that is to be sent. The outbox owns each entry from `send()` or `ask()` to the wire; the ledger knows what
 * became of it (log/delivery.ts has the states).
 *
 *   send() ──────────────► held ── agent ready ──► queued ── connection ready ──► sent ──► acknowledged, unknown
 *   ask() ──► awaiting ──►  │                        │
 *             turn          └── cancel, clear ──────┴──► cancelled, failed
 *
 * A state that needs no wait is passed at once. Entries leave in order: while one is held or queued, a new one goes
 * behind it. Every wait counts against one limit.
 */

type OutboxScope = AgentScope<'queueFlushed' | 'deliveryUpdate'>

/** The parts that it uses. */
export interface OutboxParts extends ChatParts, LedgerParts {
  readonly masking: Masking
  readonly chat: Chat
  readonly context: ContextStore
  readonly liveness: Liveness
}

export class Outbox implements ChatObserver {
  readonly #scope: OutboxScope
  readonly #parts: OutboxParts
  readonly #turns: TurnTaking
  readonly writer: BurstWriter
  readonly log: MessageLog
  readonly ledger: DeliveryLedger
  /** Whether the log has said that nothing opens the chat for a message. */
  #hasWarned = false
  /** Runs after `initialize()`, until the host must have opened the chat. */
  #openingTimer: unknown

  constructor(scope: OutboxScope, parts: OutboxParts) {
    this.#scope = scope
    this.#parts = parts
    this.log = parts.log
    this.ledger = new DeliveryLedger(scope, parts, () => this.writer.resume())
    this.#turns = new TurnTaking(scope, this.ledger, () => this.#startNext())
    this.writer = new BurstWriter(scope, parts.log, this.ledger, this.#turns)
    parts.connection.observe(this)
  }

  /** Number of entries that wait: for their turn, for the agent, or for the connection. */
  get size(): number {
    return this.log.waitingCount
  }

  /** What became of a message; undefined for an id that the ledger does not know, or no longer. */
  delivery(id: string): Delivery | undefined {
    const entry = this.log.find(id)
    return entry && new Delivery(entry, this)
  }

  /**
   * Sends a message, or lets it wait.
   *
   * @returns its id
   * @throws {MessageError} reasons `invalid`, `encoding_failed`, `queue_full`, `masking_unavailable`; nothing has changed
   */
  send(data: string | MessageObject | Message, options: SendOptions = {}): string {
    const entry = createRecord(data, options, this.#scope, this.#canPass ? this.#scope.facts : undefined)
    this.#submit(entry)
    return entry.id
  }

  /** Sends a question when its turn comes, and resolves with the answer. See `AiAgent.ask()`. */
  async ask(text: string, { signal, timeoutMs = ANSWER_LIMIT_MS }: AskOptions = {}): Promise<Message> {
    if (signal?.aborted) throw abortedError('ask()', signal)
    if (typeof text !== 'string') throw new MessageError('ask() takes text.', 'invalid')
    if (!(timeoutMs > 0)) throw new MessageError('timeoutMs must be a number of milliseconds above zero.', 'invalid')
    const { environment, status, logger } = this.#scope
    const { clock } = environment
    const entry = createRecord(text, {}, this.#scope, undefined)
    const { id } = entry
    const why = () =>
      stateOf(entry) === 'queued'
        ? whyWaiting(entry.list === this.log.awaiting, status.isReady, this.#parts.connection.state)
        : undefined
    if (this.log.awaiting.size > 0 || !this.#turns.canStart()) this.#requireSpace(id)
    const isOffline = () => !status.isReady || this.#parts.connection.state !== ConnectionState.CONNECTED
    const hadWarned = this.#hasWarned
    const timers: unknown[] = []
    let abort = () => {}
    try {
      return await new Promise<Message>((resolve, reject) => {
        const question: Question = Object.assign(entry, { reply: { resolve, reject } })
        const end = (error: SDKError) => (this.#giveUp(question), reject(error))
        abort = () => end(abortedError('ask()', signal as AbortSignal))
        signal?.addEventListener('abort', abort)
        if (timeoutMs !== Infinity) timers.push(clock.setTimeout(() => end(noAnswer(id, timeoutMs, why())), timeoutMs))
        if (isOffline())
          timers.push(
            clock.setTimeout(() => {
              if (isOffline() && this.#hasWarned === hadWarned)
                logger.warn(`ask() is waiting: ${why()}.`, { messageId: id })
            }, WARN_AFTER_MS),
          )
        this.log.add(question, this.log.awaiting)
        this.#startNext()
      })
    } finally {
      // The promise, and with it the answer, would stay in memory as long as the question.
      if (entry.reply) entry.reply = SETTLED
      for (const timer of timers) clock.clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }

  /** The agent is ready: what the previous page left and held entries go on, in order. */
  release(): void {
    this.ledger.store?.takeIn()
    // One by one: an entry that a listener adds meanwhile goes behind those that are still held.
    const { held } = this.log
    for (let entry = held.first; entry; entry = held.first) {
      held.delete(entry)
      try {
        entry.message = addressMessage(entry.message, this.#scope.facts)
        this.#pass(entry)
      } catch (error) {
        if (!(error instanceof MessageError)) throw error
        this.#drop(entry, error)
      }
    }
  }

  cancel(entry: DeliveryRecord): boolean {
    if (entry.elsewhere) return this.#scope.shared?.replica.act(entry, 'cancel') === true
    if (!this.log.remove(entry)) return false
    this.#drop(entry, new SDKError('The message was cancelled before it was sent.', 'ABORTED'), 'cancelled')
    return true
  }

  retry(entry: DeliveryRecord): boolean {
    if (entry.elsewhere) return this.#scope.shared?.replica.act(entry, 'retry') === true
    const { state, reason, id } = entry
    const isPossible = (state === 'unknown' || state === 'failed') && !entry.trace
    if (!isPossible || this.log.find(id) !== entry) return false
    if (!this.ledger.reopen(entry, state)) return false
    try {
      if (entry.isMasked) this.#enterAgain(entry)
      else this.#submit(entry)
    } catch (error) {
      this.ledger.settle(entry, state, reason)
      throw error
    }
    this.ledger.report(entry)
    return true
  }

  /** Drops all waiting entries and reports each, so that no message is lost silently. */
  clear(reason: DeliveryReason = 'cleared'): void {
    for (const entry of this.writer.takeAll())
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
    this.ledger.leaveConversation()
  }

  /** As {@link clear}, and forgets every message; questions that have been sent are rejected too (SEC-15). */
  forgetUser(): unknown {
    this.clear('signed_out')
    this.#turns.endSession()
    this.ledger.endSession('signed_out')
    this.ledger.clear()
    if (!this.#parts.queue) return
    // The previous page may have stored a queue that this one has not read. The token is gone when the code has loaded.
    const user = storedUser(this.#scope, this.#parts.authentication, this.#parts.authentication.leavingToken)
    return this.ledger.store ? this.ledger.store.forgetUser(user) : this.#parts.queue(store => store?.forgetUser(user))
  }

  /**
   * Settles all entries without a report, and rejects every question.
   *
   * @returns a promise that is fulfilled when the queue is stored, if it is stored at all; it never rejects
   */
  destroy(error: SDKError): Promise<unknown> | undefined {
    const isStored = this.ledger.store?.isActive || this.#scope.shared?.isJoined
    const released = this.ledger.store?.release()
    this.ledger.silence()
    this.#turns.destroy(error)
    for (const entry of this.writer.takeAll()) {
      this.#settleWaiting(entry, isStored && entry.isMasked && !entry.reply ? 'unknown' : 'failed', 'destroyed')
      entry.reply?.reject(error)
    }
    this.ledger.endSession('destroyed')
    this.ledger.clear()
    return released
  }

  /** The chat has ended: no reconnect follows. */
  handleClosed(): void {
    if (this.#openingTimer !== undefined) this.#scope.environment.clock.clearTimeout(this.#openingTimer)
    const { current } = this.#turns
    for (const question of [...(current ? [current] : []), ...this.log.take(this.log.awaiting)]) {
      this.log.remove(question)
      const { id: messageId } = question
      this.#drop(question, new MessageError('The chat was closed before an answer came.', 'closed', { messageId }))
    }
    this.ledger.endSession('session_ended')
  }

  /** Whether an entry need not be held until the agent is ready. */
  get #canPass(): boolean {
    return this.log.held.size === 0 && this.#scope.status.isReady
  }

  /** Lets an entry pass, or holds it until the agent is ready. */
  #submit(entry: DeliveryRecord): void {
    if (this.#canPass) return this.#pass(entry)
    this.#requireSpace(entry.id)
    // A message that cannot be encoded is refused now, while the caller still waits.
    entry.message = detachMessage(entry.message, entry.message.toPayloadString())
    this.log.add(entry, this.log.held)
  }

  /** Sends the questions whose turn has come. */
  #startNext(): void {
    const { environment, facts } = this.#scope
    const { ledger, log } = this
    const turns = this.#turns
    const first = () => log.awaiting.first as Question | undefined
    for (let question = first(); question && turns.canStart(); question = first()) {
      log.awaiting.delete(question)
      turns.start(question)
      try {
        question.message = question.message.clone({ timestamp: environment.clock.now() })
        if (question.isMasked) this.#enterAgain(question)
        else {
          if (this.#canPass) question.message = addressMessage(question.message, facts)
          this.#submit(question)
        }
      } catch (error) {
        // A question that is refused gives the turn to the next one.
        turns.end(question)
        ledger.settle(question, 'failed', (error as MessageError).reason as DeliveryReason)
        question.reply.reject(error)
      }
    }
  }

  /** This tab has joined the others: a question that it has started without them waits until they have their answers. */
  async handleJoined(): Promise<void> {
    const { awaiting } = this.log
    const question = await this.#turns.handleJoined()
    if (!question) return
    for (const each of [question, ...awaiting]) awaiting.add(each)
    this.#startNext()
  }

  /** The caller of a question no longer waits for the answer. */
  #giveUp(question: Question): void {
    if (this.log.remove(question)) this.#settleWaiting(question, 'cancelled')
    this.#turns.end(question)
    this.#startNext()
  }

  #drop(
    entry: DeliveryRecord,
    error: SDKError,
    outcome: DeliveryOutcome = 'failed',
    reason: DeliveryReason | undefined = error instanceof MessageError ? (error.reason as DeliveryReason) : undefined,
  ): void {
    const { reply } = entry
    this.#turns.end(entry)
    // A question that was sent is settled with its session.
    if (stateOf(entry) === 'queued') this.#settleWaiting(entry, outcome, reason)
    if (reply) reply.reject(error)
    else if (outcome === 'failed') this.#scope.reportError(error)
    this.#startNext()
  }

  /** Settles an entry that was taken out. What was written once already may have arrived. */
  #settleWaiting(entry: DeliveryRecord, outcome: DeliveryOutcome, reason?: DeliveryReason): void {
    this.ledger.settle(entry, entry.written ? 'unknown' : outcome, reason)
  }

  /** @throws {MessageError} reason `queue_full` */
  #requireSpace(messageId: string): void {
    const { maxQueueSize } = this.#scope.config
    if (this.size < maxQueueSize) return
    const message = `The message was refused: ${maxQueueSize} messages are waiting already. Connect, or raise maxQueueSize.`
    throw new MessageError(message, 'queue_full', { messageId })
  }

  // ── To the connection ─────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * With `connectOnSend`, opens the chat for a message if nothing else does: a failed attempt is an `error` event. Without it,
   * warns once where nothing opens the chat.
   *
   * @param isStart the agent has become ready: the host has some time to open the chat. Otherwise it does so in the same turn
   */
  connectForMessage(isStart = false): void {
    const { config, status, logger, environment } = this.#scope
    if (!config.connectOnSend) {
      // The fields, not the methods of the connection: this runs for every message.
      const isUnopened = status.state === 'IDLE' || status.state === 'CLOSED'
      if (!isUnopened || this.#hasWarned) return
      const warn = () => this.#warnUnopened()
      if (!isStart) void Promise.resolve().then(warn)
      else if (this.log.queued.first)
        this.#openingTimer = environment.clock.setTimeout(warn, WARN_AFTER_MS, { background: true })
    } else if (status.isReady && this.#parts.connection.isLeft && this.size > 0)
      this.#parts.chat.connect().catch(error => logger.debug('A connection in the background failed.', { error }))
  }

  #warnUnopened(): void {
    const { config, status, logger } = this.#scope
    // During initialize() and at a gate, the host has yet to connect.
    const isUnplanned = status.isReady || !(status.isStarted || config.autoConnect)
    if (this.#hasWarned || !isUnplanned || !this.#parts.connection.isLeft || this.size === 0) return
    this.#hasWarned = true
    logger.warn(
      'A message waits, and nothing opens the chat. After initialize(), call connect(), or set autoConnect or connectOnSend.',
    )
  }

  /** Masks and encodes an entry, and writes or queues it. @throws {MessageError} nothing has changed */
  #pass(entry: DeliveryRecord): void {
    const { message: given, id } = entry
    const { content } = given
    // User text is masked (FLOW-19).
    const masked = isUserMessage(given) && content ? this.#parts.masking.maskOutgoing(content, id) : content
    const message = masked === content ? given : given.clone({ content: masked })
    const frame = message.toPayloadString()
    entry.message = message
    entry.isMasked = true
    this.#enter(entry, frame)
    const bytes = largeFrameBytes(frame)
    if (bytes !== undefined)
      this.#scope.logger.warn('A message is larger than 64 KiB: the service may refuse it.', {
        messageId: entry.id,
        bytes,
      })
    entry.message = detachMessage(message, frame)
    this.accepted(entry, frame.length)
    this.ledger.report(entry)
  }

  /** Writes or queues an encoded entry. */
  #enter(entry: DeliveryRecord, frame: string): void {
    if (!this.writer.write(entry, frame)) {
      this.#requireSpace(entry.id)
      this.writer.enqueue(entry)
    }
    this.log.add(entry)
    this.ledger.store?.changed()
  }

  /** As {@link #enter}, for one that was accepted before. */
  #enterAgain(entry: DeliveryRecord): void {
    entry.message = addressMessage(entry.message, this.#scope.facts)
    const frame = entry.message.toPayloadString()
    this.#enter(entry, frame)
    this.accepted(entry, frame.length, true)
  }

  /**
   * A message has been accepted: written, or queued for the connection.
   *
   * @param size length of its frame's text
   * @param isAgain whether it was accepted before
   */
  accepted(entry: DeliveryRecord, size: number, isAgain = false): void {
    const { environment, shared } = this.#scope
    const { log } = this
    const { message } = entry
    const context = message.role === ROLE.CONTEXT ? message.messageData?.context : undefined
    if (message.persona === PERSONA.SYSTEM && isJsonObject(context)) this.#parts.context.merge(context)
    const isShown = isAgain && log.shows(entry.id)
    shared?.handleAccepted(entry)
    const timestamp = message.timestamp ?? environment.clock.now()
    if (!isShown) log.record(message, 'sent', timestamp, undefined, size, false, entry)
    if (message.persona === PERSONA.CUSTOMER) this.#parts.liveness.handleSent()
  }

  /**
   * Adds what pages that have ended left: ahead of the queue what they have not written, and to the ledger what they were sending,
   * which is sent again where the service drops repetitions.
   *
   * @param handleAdopted called with each of them, once all are added
   */
  adopt(records: readonly DeliveryRecord[], handleAdopted: (record: DeliveryRecord) => void): void {
    const { log, ledger, writer } = this
    // What its tab was about to repeat has been written, too.
    const sent = records.filter(({ state }) => state !== 'queued')
    const unsent = records.filter(({ state }) => state === 'queued')
    for (const record of records) {
      record.elsewhere = undefined
      record.message = addressMessage(record.message, this.#scope.facts)
      log.add(record)
    }
    for (const record of sent) ledger.adopt(record)
    if (writer.isOpen) ledger.store?.mark()
    writer.prepend(unsent)
    // A listener may have signed the user out.
    for (const record of records) if (log.find(record.id) === record) handleAdopted(record)
    if (writer.isOpen && sent.some(record => ledger.isSentAgain(record))) ledger.decide()
  }

  // ── From the service ──────────────────────────────────────────────────────────────────────────────────────────────

  /** A message of the service has arrived. */
  handleMessage(message: Message): void {
    this.ledger.handleMessage(message, this.#parts.connection.lastInboundAt)
    this.#turns.handleMessage(message)
  }

  /**
   * Reads a frame of the service that names one of our messages.
   *
   * @returns whether it is a receipt, which concerns nothing else
   */
  handleReceipt({ persona, role, messageData }: Message): boolean {
    const { ledger, log } = this
    const id = messageData?.messageId
    if (persona !== PERSONA.METADATA || typeof id !== 'string' || !this.#scope.facts.wire.confirms) return false
    const isReceipt = role === EXTENSION_ROLE.RECEIPT
    this.#parts.session.handleReceipt(id)
    const known = log.find(id)
    // Of another tab's message that tab reports it: not every tab has a socket to get it.
    const entry = known?.elsewhere ? undefined : known
    if (isReceipt && entry) ledger.acknowledge(entry)
    else if (role === ROLE.ERROR && entry?.state === 'sent') ledger.settle(entry, 'failed', 'refused')
    this.writer.resume()
    return isReceipt
  }

  /** What was said in the session, as the service sent it in the chat or returned it on request. */
  handleHistory(history: readonly Message[]): void {
    this.#turns.handleHistory(history)
    this.ledger.handleHistory(history)
  }

  /** No history has come in time. @param isFinal whether none is awaited any longer */
  handleOverdue(isFinal: boolean): void {
    this.ledger.handleNoHistory(isFinal)
    this.#turns.handleOverdue()
  }

  handleConnected(opening: Opening): void {
    this.ledger.store?.handleConnected()
    if (this.ledger.handleConnected(opening)) this.#turns.handleReopened()
    else this.#turns.endSession()
  }

  /** The session goes on without this page, which stays connected to nothing until it has something to send. */
  handleSessionTaken(isAnswered: (id: string) => boolean): void {
    this.ledger.leaveSession(isAnswered)
    this.#turns.endSession()
  }

  handleReady(transport: Transport): void {
    this.ledger.store?.mark()
    this.writer.open(transport)
  }

  handleInterrupted(): void {
    this.writer.close()
    this.ledger.store?.changed()
  }

  handleLost(loss: ConnectionLoss): void {
    this.ledger.handleLost(loss)
  }
}

/** The reply of a question whose promise is settled. */
const SETTLED: Reply = { resolve() {}, reject() {} }

/** The service may reject larger frames; its limit is unknown (PROTOCOL.md, "Chat WebSocket"). */
const LARGE_BYTES = 64 * 1024

/** A UTF-16 unit takes at most three bytes of UTF-8, so a short frame needs no counting. */
const MAX_BYTES_PER_UNIT = 3

/** Size of a frame in bytes when it is above 64 KiB, else undefined. */
export function largeFrameBytes(frame: string): number | undefined {
  if (frame.length * MAX_BYTES_PER_UNIT <= LARGE_BYTES) return undefined
  const bytes = utf8Bytes(frame).length
  return bytes > LARGE_BYTES ? bytes : undefined
}

function noAnswer(messageId: string, timeoutMs: number, whyWaiting = 'the agent has not answered'): MessageError {
  return new MessageError(`No answer came within ${timeoutMs / 1000} s: ${whyWaiting}.`, 'timeout', { messageId })
}

/** What a queued question waits for, as half a sentence for the developer. */
function whyWaiting(isAwaitingTurn: boolean, isReady: boolean, chatState: ConnectionState): string {
  if (!isReady) return 'the agent is not initialized: await initialize() and make the selection that it asks for'
  if (chatState === 'IDLE' || chatState === 'CLOSED') return 'the chat is not connected: call connect()'
  if (chatState !== 'CONNECTED') return `the chat is ${chatState}`
  return isAwaitingTurn ? 'an earlier question has no answer yet' : 'the chat waits for an access token'
}
