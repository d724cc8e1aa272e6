import { addMessageId, EXTENSION_ROLE, PERSONA, ROLE } from '@aiagent/protocol'
import type { ConnectionLoss, MessageSink } from '../chat/chat.ts'
import type { Transport } from '../chat/transport.ts'
import type { Page } from '../platform/page.ts'
import { detachMessage } from './compose.ts'
import { Evidence, type EvidenceOwner } from './evidence.ts'
import { largeFrameBytes, maskMessage } from './frame.ts'
import { Lane, type LaneOwner } from './lane.ts'
import { type DeliveryLedger, WINDOW } from './ledger.ts'
import type { Message } from './message.ts'
import type { OutboxEntry } from './outbox-entry.ts'
import type { OutboxOptions } from './outbox-options.ts'
import type { OutboxStore } from './outbox-store.ts'
import type { QuestionGate } from './question-gate.ts'
import type { ResendPolicy } from './resend-policy.ts'
import type { SendingOptions } from './sending-options.ts'
import type { QueueSnapshot } from './stored-message.ts'
import { type TurnsOwner, TurnTaking } from './turn-taking.ts'

/** The outbox, as what sends uses it. */
export interface SendingOwner {
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
export class Sending implements MessageSink, LaneOwner, TurnsOwner, EvidenceOwner {
  readonly #outbox: OutboxOptions
  readonly #options: SendingOptions
  readonly #owner: SendingOwner
  readonly turns: TurnTaking
  readonly evidence: Evidence
  readonly lane: Lane
  /** Only with `persistQueue` or `tabs`, once it has loaded. */
  store: OutboxStore | undefined

  constructor(outbox: OutboxOptions, options: SendingOptions, owner: SendingOwner) {
    this.#outbox = outbox
    this.#options = options
    this.#owner = owner
    this.turns = new TurnTaking(outbox, this)
    this.evidence = new Evidence(outbox, this)
    this.lane = new Lane(outbox, this)
  }

  get ledger(): DeliveryLedger {
    return this.#owner.ledger
  }

  get policy(): ResendPolicy {
    return this.#owner.policy
  }

  get page(): Page | undefined {
    return this.#options.page
  }

  get gate(): QuestionGate | undefined {
    return this.#options.questionGate
  }

  get isOwnSession(): boolean {
    return this.#options.isOwnSession()
  }

  /** Reads what the previous page left. Resolves, also when the store fails, before the agent may become ready. */
  async restore(): Promise<void> {
    const outbox = this.#outbox
    const options = this.#options
    const { lane, ledger, policy } = this
    await options.store?.(queue => {
      this.store ??= queue.join({
        outbox,
        accepted: (message, size, isAgain) => options.accepted(message, size, isAgain),
        transcript: options.transcript,
        found: () => options.found?.(),
        lane,
        ledger,
        policy,
      })
      return this.store.restore()
    })
  }

  /** Masks and encodes an entry, and writes or queues it. @throws {MessageError} nothing has changed */
  pass(entry: OutboxEntry): void {
    const message = maskMessage(entry.message, this.#outbox)
    const frame = message.toPayloadString()
    entry.message = message
    entry.data = frame
    this.enter(entry)
    const bytes = largeFrameBytes(frame)
    if (bytes !== undefined)
      this.#outbox.logger.warn('A message is larger than 64 KiB: the service may refuse it.', {
        messageId: entry.id,
        bytes,
      })
    entry.message = detachMessage(message, frame)
    this.#options.accepted(entry.message, frame.length)
    this.ledger.report(entry)
  }

  /** Writes or queues an encoded entry. */
  enter(entry: OutboxEntry): void {
    if (!this.lane.write(entry)) {
      this.#owner.requireSpace(entry.id)
      this.lane.enqueue(entry)
    }
    this.ledger.add(entry)
    this.store?.changed()
  }

  /** What the next page needs. Only with a store. */
  snapshot(): QueueSnapshot {
    return this.store?.snapshot() ?? { entries: [], claim: undefined }
  }

  /** Sends again what another tab has written and not got evidence for, where the service drops repetitions. */
  repeatAdopted(): void {
    if (this.lane.isOpen && this.#outbox.hasReceipts()) this.handleDecided()
  }

  frameOf(entry: OutboxEntry): string {
    return this.policy.hasKey(entry) ? addMessageId(entry.data, entry.id) : entry.data
  }

  limit(): 'none' | 'resend' | undefined {
    if (this.store?.isClaiming || (this.evidence.isPending && this.policy.isInsistent)) return 'none'
    return this.#outbox.hasReceipts() && this.ledger.sentCount >= WINDOW ? 'resend' : undefined
  }

  handleWritten(entry: OutboxEntry): void {
    this.ledger.handleWritten(entry)
    this.evidence.handleWritten()
    this.turns.handleWritten(entry)
  }

  handleLeft(entry: OutboxEntry): void {
    this.ledger.report(entry)
  }

  startNextQuestion(): void {
    this.#owner.startNextQuestion()
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
    const { ledger } = this
    const id = messageData?.messageId
    if (persona !== PERSONA.METADATA || typeof id !== 'string' || !this.#outbox.hasReceipts()) return false
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
    const hasReceipts = this.#outbox.hasReceipts()
    this.store?.handleConnected()
    this.ledger.endSession('session_ended', this.#outbox.origin.sessionId)
    this.lane.sendAgain([])
    this.evidence.handleConnected(hasReceipts)
    // The service drops duplicates, so that nothing has to be found out first.
    if (hasReceipts) this.handleDecided()
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
    this.ledger.handleLost(loss)
    this.evidence.end()
  }

  handleClosed(): void {
    this.#owner.handleClosed()
  }

  /** Nothing more will be found out about the messages in doubt. */
  handleDecided(): void {
    const { policy, ledger } = this
    const again = policy.decide(ledger)
    for (const entry of again) this.store?.handleSentAgain(entry)
    this.lane.sendAgain(again)
    this.lane.resume()
  }
}
