import type { Chat, ConnectionLoss, MessageSink } from '../chat/chat.ts'
import { ConnectionState } from '../chat/connection-state.ts'
import type { Transport } from '../chat/transport.ts'
import { abortedError, MessageError, type SDKError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { Page } from '../platform/page.ts'
import { afterPause } from '../platform/pause.ts'
import {
  addressMessage,
  composeMessage,
  detachMessage,
  largeFrameBytes,
  maskMessage,
  type SendOptions,
} from './compose.ts'
import type { Message, MessageObject, MessageOrigin } from './message.ts'
import { MessageQueue, type QueuedMessage } from './message-queue.ts'
import { type AskOptions, askWith, type Question, type Reply, TurnTaking, validateQuestion } from './turn-taking.ts'

/*
 * Everything that is to be sent. The outbox owns each entry from `send()` or `ask()` to the wire.
 *
 *   send() ──────────────► held ── agent ready ──► queued ── connection ready ──► sending ──► sent
 *   ask() ──► awaiting ──►  │                        │
 *             turn          └──── withdraw, clear ───┴──► dropped
 *
 * A state that needs no wait is passed at once. Entries leave in order: while one is held or queued, a new one goes
 * behind it. Queued entries leave in bursts with a pause between them (FLOW-05), so that a long queue neither floods the
 * service nor blocks the page. Every wait counts against one limit.
 */

/** Entries of one burst. */
export const BURST_SIZE = 16

/** Pause between two bursts, in milliseconds. */
export const BURST_PAUSE_MS = 5

/** With more than this unsent in the socket, in bytes, a burst is skipped. */
const CONGESTED_BYTES = 256 * 1024

/** State of an entry. */
export type OutboxEntryState = 'awaiting-turn' | 'held' | 'queued' | 'sending' | 'sent' | 'dropped'

/** One message on its way out. */
export interface OutboxEntry extends QueuedMessage {
  /** Masked and detached from the caller's object once the entry is queued. */
  message: Message
  /** The text of the frame; empty until the entry is queued. */
  data: string
  state: OutboxEntryState
  /** Only entries of `ask()` have one. */
  reply?: Reply
}

export interface OutboxOptions {
  readonly clock: Clock
  readonly page?: Page | undefined
  /** Most entries that may wait. */
  readonly maxQueueSize: number
  readonly chat: Pick<Chat, 'state' | 'setMessageSink'>
  readonly origin: MessageOrigin
  newId(): string
  /** Whether the agent is known, so that messages can be addressed and masked. */
  isReady(): boolean
  /** Masks the text of the user. @throws {MessageError} reason `masking_unavailable` */
  mask(content: string, messageId: string): string
  readonly listener: OutboxListener
}

/** What the outbox reports. */
export interface OutboxListener {
  /** A message has been accepted: written, or queued for the connection. `size` is the length of its frame's text. */
  accepted(message: Message, size: number): void
  /** All queued messages have been written to the socket; `count` of them since the queue was last empty. */
  flushed(count: number): void
  /** A message was dropped. A question reports it by its promise instead. */
  failed(error: SDKError): void
  warn(text: string, details: Record<string, unknown>): void
}

type Channel =
  | { readonly at: 'closed'; readonly transport: undefined }
  | {
      readonly at: 'flushing'
      readonly transport: Transport
      cancel?: () => void
      /** Unsent bytes of the socket at the last look. */
      buffered: number
    }
  | { readonly at: 'open'; readonly transport: Transport }

const CLOSED: Channel = { at: 'closed', transport: undefined }

export class Outbox implements MessageSink {
  readonly #options: OutboxOptions
  readonly #turns: TurnTaking
  /** Questions whose turn has not come. */
  #awaiting: Question[] = []
  /** Entries that wait until the agent is ready. */
  #held: OutboxEntry[] = []
  /** Entries that wait until the connection is ready. */
  readonly #queue = new MessageQueue<OutboxEntry>(Number.POSITIVE_INFINITY)
  #channel: Channel = CLOSED
  /** Written from the queue since it was last empty. */
  #flushed = 0

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#turns = new TurnTaking({
      clock: options.clock,
      origin: options.origin,
      onFree: () => this.#startNextQuestion(),
    })
    options.chat.setMessageSink(this)
  }

  /** Number of entries that wait: for their turn, for the agent, or for the connection. */
  get size(): number {
    return this.#awaiting.length + this.#held.length + this.#queue.size
  }

  /**
   * Sends a message, or lets it wait.
   *
   * @returns its id
   * @throws {MessageError} reasons `invalid`, `encoding_failed`, `queue_full`, `masking_unavailable`; nothing has changed
   */
  send(data: string | MessageObject | Message, options: SendOptions = {}): string {
    const entry = this.#createEntry(data, options, this.#canPass() ? this.#options.origin : undefined)
    this.#submit(entry)
    return entry.id
  }

  /** Sends a question when its turn comes, and resolves with the answer. See `AiAgent.ask()`. */
  async ask(text: string, options: AskOptions = {}): Promise<Message> {
    if (options.signal?.aborted) throw abortedError('ask()', options.signal)
    validateQuestion(text, options)
    const { clock, listener } = this.#options
    const entry = this.#createEntry(text, {}, undefined)
    entry.state = 'awaiting-turn'
    if (this.#awaiting.length > 0 || !this.#turns.canStart()) this.#requireSpace(entry.id)
    return askWith(entry, options, clock, {
      send: question => {
        this.#awaiting.push(question)
        this.#startNextQuestion()
      },
      giveUp: question => this.#giveUp(question),
      isOffline: () => !this.#options.isReady() || this.#options.chat.state !== ConnectionState.CONNECTED,
      whyWaiting: each => this.#whyWaiting(each),
      warn: listener.warn,
    })
  }

  /** The agent is ready: held entries go on, in order. */
  release(): void {
    // One by one: an entry that a listener adds meanwhile goes behind those that are still held.
    for (let entry = this.#held.shift(); entry; entry = this.#held.shift()) {
      try {
        entry.message = addressMessage(entry.message, this.#options.origin)
        this.#pass(entry)
      } catch (error) {
        if (!(error instanceof MessageError)) throw error
        this.#drop(entry, error)
      }
    }
  }

  /** Takes a waiting entry out; returns false when no entry of that id waits. */
  withdraw(id: string): boolean {
    const hasId = (entry: OutboxEntry) => entry.id === id
    for (const list of [this.#awaiting, this.#held]) {
      const index = list.findIndex(hasId)
      if (index >= 0) return list.splice(index, 1).length > 0
    }
    return this.#queue.remove(id)
  }

  /** Drops all waiting entries and reports each, so that no message is lost silently. */
  clear(): void {
    for (const entry of this.#takeAll())
      this.#drop(
        entry,
        new MessageError('The message was dropped before it was sent.', 'cleared', { messageId: entry.id }),
      )
  }

  /** As {@link clear}; questions that have been sent are rejected too (SEC-15). */
  forgetUser(): void {
    this.clear()
    this.#turns.forgetUser()
  }

  /** Drops all entries without a report, and rejects every question. */
  destroy(error: SDKError): void {
    const { current } = this.#turns
    const waiting = this.#takeAll()
    this.#turns.destroy()
    for (const entry of new Set(current ? [current, ...waiting] : waiting)) entry.reply?.reject(error)
  }

  /** A message of the service has arrived. */
  handleMessage(message: Message): void {
    this.#turns.handleMessage(message)
  }

  /** What was said in the session, as the service sent it in the chat or returned it on request. */
  handleHistory(history: readonly unknown[]): void {
    this.#turns.handleHistory(history)
  }

  /** No further history of the present connection will come: there is no source of one, or it was read. */
  handleNoHistory(): void {}

  handleLost(_loss: ConnectionLoss): void {}

  handleConnected(): void {
    this.#turns.handleConnected()
  }

  handleReady(transport: Transport): void {
    if (this.#channel.transport === transport) return
    this.handleInterrupted()
    this.#channel = { at: 'flushing', transport, buffered: 0 }
    this.#flush(this.#channel, BURST_SIZE)
  }

  handleInterrupted(): void {
    if (this.#channel.at === 'flushing') this.#channel.cancel?.()
    this.#channel = CLOSED
  }

  handleClosed(): void {
    const { current } = this.#turns
    const questions = current ? [current, ...this.#awaiting.splice(0)] : this.#awaiting.splice(0)
    for (const question of questions) {
      this.withdraw(question.id)
      const { id: messageId } = question
      this.#drop(question, new MessageError('The chat was closed before an answer came.', 'closed', { messageId }))
    }
  }

  #createEntry(
    data: string | MessageObject | Message,
    options: SendOptions,
    origin: MessageOrigin | undefined,
  ): OutboxEntry {
    const message = composeMessage(data, options, this.#options, origin)
    return {
      id: message.messageId as string,
      data: '',
      // A text has just been given this time; reading the clock again is a tenth of a send.
      timestamp: (typeof data === 'string' && message.timestamp) || this.#options.clock.now(),
      attempts: 0,
      message,
      state: 'held',
    }
  }

  #canPass(): boolean {
    return this.#held.length === 0 && this.#options.isReady()
  }

  #submit(entry: OutboxEntry): void {
    if (this.#canPass()) return this.#pass(entry)
    this.#requireSpace(entry.id)
    // A message that cannot be encoded is refused now, while the caller still waits.
    entry.message = detachMessage(entry.message, entry.message.toPayloadString())
    entry.state = 'held'
    this.#held.push(entry)
  }

  /** Masks and encodes an entry, and writes or queues it. */
  #pass(entry: OutboxEntry): void {
    const { mask, listener } = this.#options
    const message = maskMessage(entry.message, mask)
    const frame = message.toPayloadString()
    entry.message = message
    entry.data = frame
    if (this.#channel.at !== 'open' || !this.#write(entry, this.#channel.transport)) {
      this.#requireSpace(entry.id)
      entry.state = 'queued'
      this.#queue.enqueue(entry)
    }
    const bytes = largeFrameBytes(frame)
    if (bytes !== undefined)
      listener.warn('A message is larger than 64 KiB: the service may refuse it.', { messageId: entry.id, bytes })
    entry.message = detachMessage(message, frame)
    listener.accepted(entry.message, frame.length)
  }

  /** Writes an entry to the socket. Returns false when the socket is closing; its close event follows. */
  #write(entry: OutboxEntry, transport: Transport): boolean {
    entry.state = 'sending'
    entry.attempts++
    try {
      transport.send(entry.data)
    } catch {
      entry.state = 'queued'
      this.handleInterrupted()
      return false
    }
    entry.state = 'sent'
    this.#turns.handleWritten(entry)
    return true
  }

  #flush(channel: Channel & { at: 'flushing' }, allowance: number): void {
    for (let left = allowance; left > 0 && this.#channel === channel; left--) {
      const entry = this.#queue.peek()
      if (!entry) break
      // A failed write leaves the entry first in line.
      if (!this.#write(entry, channel.transport)) return
      this.#queue.dequeue()
      this.#flushed++
    }
    if (this.#channel !== channel) return
    if (!this.#queue.isEmpty) return this.#pause(channel)
    this.#channel = { at: 'open', transport: channel.transport }
    const count = this.#flushed
    this.#flushed = 0
    if (count > 0) this.#options.listener.flushed(count)
  }

  #pause(channel: Channel & { at: 'flushing' }): void {
    const { clock, page } = this.#options
    const since = clock.monotonic()
    const unsent = channel.transport.bufferedAmount
    // A hidden page waits in tasks, which cost processor time: not while the socket takes nothing.
    const isStalled = unsent > 0 && unsent >= channel.buffered
    channel.buffered = unsent
    channel.cancel = afterPause(clock, isStalled ? undefined : page, BURST_PAUSE_MS, () => {
      // A late call, as in a tab that has just been hidden, writes what the elapsed time allows.
      const bursts = Math.max(1, Math.floor((clock.monotonic() - since) / BURST_PAUSE_MS))
      const buffered = channel.transport.bufferedAmount
      this.#flush(channel, buffered === 0 ? bursts * BURST_SIZE : buffered < CONGESTED_BYTES ? 1 : 0)
    })
  }

  #startNextQuestion(): void {
    while (this.#awaiting.length > 0 && this.#turns.canStart()) {
      const question = this.#awaiting.shift()
      if (!question) return
      this.#turns.start(question)
      try {
        const { clock, origin } = this.#options
        const message = question.message.clone({ timestamp: clock.now() })
        question.message = this.#canPass() ? addressMessage(message, origin) : message
        this.#submit(question)
      } catch (error) {
        // A question that is refused gives the turn to the next one.
        this.#turns.end(question)
        question.reply.reject(error)
      }
    }
  }

  #giveUp(question: Question): void {
    this.withdraw(question.id)
    question.state = question.state === 'sent' ? 'sent' : 'dropped'
    if (this.#turns.end(question)) this.#startNextQuestion()
  }

  #drop(entry: OutboxEntry, error: MessageError): void {
    if (entry.state !== 'sent') entry.state = 'dropped'
    if (!entry.reply) return this.#options.listener.failed(error)
    const hadTurn = this.#turns.end(entry)
    entry.reply.reject(error)
    if (hadTurn) this.#startNextQuestion()
  }

  #takeAll(): OutboxEntry[] {
    const entries = [...this.#awaiting, ...this.#queue.clear(), ...this.#held]
    this.#awaiting = []
    this.#held = []
    this.#flushed = 0
    return entries
  }

  /** @throws {MessageError} reason `queue_full` */
  #requireSpace(messageId: string): void {
    const { maxQueueSize } = this.#options
    if (this.size < maxQueueSize) return
    throw new MessageError(
      `The message was refused: ${maxQueueSize} messages are waiting already. Connect, or raise maxQueueSize.`,
      'queue_full',
      { messageId },
    )
  }

  /** What an entry waits for, as half a sentence for the developer; undefined for one that has been sent. */
  #whyWaiting({ state }: OutboxEntry): string | undefined {
    const { chat, isReady } = this.#options
    if (state === 'sent') return undefined
    if (!isReady()) return 'the agent is not initialized: await initialize() and make the selection that it asks for'
    if (chat.state === 'IDLE' || chat.state === 'CLOSED') return 'the chat is not connected: call connect()'
    if (chat.state !== 'CONNECTED') return `the chat is ${chat.state}`
    return state === 'awaiting-turn' ? 'an earlier question has no answer yet' : 'the chat waits for an access token'
  }
}
