import { addMessageId, EXTENSION_ROLE, PERSONA, ROLE } from '@aiagent/protocol'
import type { ConnectionLoss, MessageSink } from '../chat/chat.ts'
import type { Transport } from '../chat/transport.ts'
import { detachMessage } from './compose.ts'
import { Evidence } from './evidence.ts'
import { largeFrameBytes, maskMessage } from './frame.ts'
import { Lane } from './lane.ts'
import { type DeliveryLedger, WINDOW } from './ledger.ts'
import type { Message } from './message.ts'
import type { OutboxEntry } from './outbox-entry.ts'
import type { OutboxOptions, SendingOptions } from './outbox-options.ts'
import type { OutboxStore, QueueSnapshot } from './outbox-store.ts'
import type { ResendPolicy } from './resend-policy.ts'
import { TurnTaking } from './turn-taking.ts'

/** The outbox, as what sends uses it. */
export interface SendingHooks {
  readonly outbox: OutboxOptions
  readonly ledger: DeliveryLedger
  readonly policy: ResendPolicy
  /** @throws {MessageError} reason `queue_full` */
  requireSpace(messageId: string): void
  startNextQuestion(): void
  /** The chat has ended: no reconnect follows. */
  handleClosed(): void
}

/**
 * The half of the outbox that only a connection uses: the socket's lane, the turns of questions, the evidence of arrival,
 * the store. Its code loads later.
 */
export class Sending implements MessageSink {
  readonly #options: SendingOptions
  readonly #hooks: SendingHooks
  readonly turns: TurnTaking
  readonly evidence: Evidence
  readonly lane: Lane
  /** Only with `persistQueue` or `tabs`, once it has loaded. */
  store: OutboxStore | undefined

  constructor(options: SendingOptions, hooks: SendingHooks) {
    this.#options = options
    this.#hooks = hooks
    const { ledger, policy } = hooks
    const { clock, origin, listener, hasReceipts, hasResume } = hooks.outbox
    this.turns = new TurnTaking({
      clock,
      origin,
      onFree: hooks.startNextQuestion,
      policy,
      isResumed: () => hasResume() && hasReceipts(),
      gate: options.questionGate,
    })
    this.evidence = new Evidence({
      clock,
      origin,
      isOwnSession: options.isOwnSession,
      ledger,
      decided: () => this.#decide(),
    })
    this.lane = new Lane({
      clock,
      page: options.page,
      frameOf: entry => (policy.hasKey(entry) ? addMessageId(entry.data, entry.id) : entry.data),
      limit: () =>
        this.store?.isClaiming || (this.evidence.isPending && policy.isInsistent)
          ? 'none'
          : hasReceipts() && ledger.sentCount >= WINDOW
            ? 'resend'
            : undefined,
      written: entry => {
        ledger.handleWritten(entry)
        this.evidence.handleWritten()
        this.turns.handleWritten(entry)
      },
      left: entry => ledger.report(entry),
      flushed: listener.flushed,
    })
  }

  /** Reads what the previous page left. Resolves, also when the store fails, before the agent may become ready. */
  async restore(): Promise<void> {
    const { store, accepted, found } = this.#options
    const { outbox, ledger, policy } = this.#hooks
    await store?.(queue => {
      this.store ??= queue.join({ outbox, accepted, ...(found && { found }), lane: this.lane, ledger, policy })
      return this.store.restore()
    })
  }

  /** Masks and encodes an entry, and writes or queues it. @throws {MessageError} nothing has changed */
  pass(entry: OutboxEntry): void {
    const { mask, listener } = this.#hooks.outbox
    const message = maskMessage(entry.message, mask)
    const frame = message.toPayloadString()
    entry.message = message
    entry.data = frame
    this.enter(entry)
    const bytes = largeFrameBytes(frame)
    if (bytes !== undefined)
      listener.warn('A message is larger than 64 KiB: the service may refuse it.', { messageId: entry.id, bytes })
    entry.message = detachMessage(message, frame)
    this.#options.accepted(entry.message, frame.length)
    this.#hooks.ledger.report(entry)
  }

  /** Writes or queues an encoded entry. */
  enter(entry: OutboxEntry): void {
    if (!this.lane.write(entry)) {
      this.#hooks.requireSpace(entry.id)
      this.lane.enqueue(entry)
    }
    this.#hooks.ledger.add(entry)
    this.store?.changed()
  }

  /** What the next page needs. Only with a store. */
  snapshot(): QueueSnapshot {
    return this.store?.snapshot() ?? { entries: [], claim: undefined }
  }

  /** Sends again what another tab has written and not got evidence for, where the service drops repetitions. */
  repeatAdopted(): void {
    if (this.lane.isOpen && this.#hooks.outbox.hasReceipts()) this.#decide()
  }

  /** Forgets what belongs to the user. Returns a promise while a store is emptied. */
  forgetUser(): unknown {
    this.lane.sendAgain([])
    this.evidence.clear()
    this.store?.forgetUser()
    return this.#options.store?.(queue => queue.forgetUser())
  }

  /** A message of the service has arrived. */
  handleMessage(message: Message): void {
    this.evidence.handleMessage(message)
    this.turns.handleMessage(message)
  }

  /**
   * Reads a frame of the service that names one of our messages.
   *
   * @returns whether it is a receipt, which concerns nothing else
   */
  handleReceipt({ persona, role, messageData }: Message): boolean {
    const { ledger, outbox } = this.#hooks
    const id = messageData?.messageId
    if (persona !== PERSONA.METADATA || typeof id !== 'string' || !outbox.hasReceipts()) return false
    const isReceipt = role === EXTENSION_ROLE.RECEIPT
    this.#options.chat.handleReceipt(id)
    const entry = ledger.get(id)
    if (isReceipt && entry) ledger.acknowledge(entry)
    else if (role === ROLE.ERROR && entry?.state === 'sent') ledger.settle(entry, 'failed', 'refused')
    this.lane.resume()
    return isReceipt
  }

  /** What was said in the session, as the service sent it in the chat or returned it on request. */
  handleHistory(history: readonly Message[]): void {
    this.turns.handleHistory(history)
    void this.evidence.read(history)
  }

  /** No further history of the present connection will come: there is no source of one, or it was read. */
  handleNoHistory(): void {
    void this.evidence.read()
  }

  handleConnected(): void {
    const { ledger, outbox } = this.#hooks
    const { origin, hasReceipts } = outbox
    ledger.handleConnected()
    ledger.endSession('session_ended', origin.sessionId)
    this.lane.sendAgain([])
    this.evidence.handleConnected(hasReceipts())
    // The service drops duplicates, so that nothing has to be found out first.
    if (hasReceipts()) this.#decide()
    this.turns.handleConnected()
  }

  handleReady(transport: Transport): void {
    this.store?.mark()
    this.lane.open(transport)
  }

  handleInterrupted(): void {
    this.lane.close()
    this.store?.changed()
  }

  handleLost(loss: ConnectionLoss): void {
    this.#hooks.ledger.handleLost(loss)
    this.evidence.end()
  }

  handleClosed(): void {
    this.#hooks.handleClosed()
  }

  /** Nothing more will be found out about the messages in doubt. */
  #decide(): void {
    const { policy, ledger } = this.#hooks
    const again = policy.decide(ledger)
    for (const entry of again) this.store?.handleSentAgain(entry)
    this.lane.sendAgain(again)
    this.lane.resume()
  }
}
