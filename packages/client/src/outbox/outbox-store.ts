import { addressMessage } from '../log/compose.ts'
import type { Transcript } from '../log/transcript.ts'
import type { AgentScope } from '../scope.ts'
import { Era } from '../util/era.ts'
import { type ShownMessage, showsAgain } from './evidence.ts'
import type { QueueStore } from './ledger.ts'
import type { Outbox } from './outbox.ts'
import type { OutboxEntry } from './outbox-entry.ts'
import { fingerprintOf, isAdopted, type QueueSnapshot } from './stored-message.ts'
import type { StoredQueue } from './stored-queue.ts'

/**
 * With `persistQueue`: what the outbox takes over from the previous page, and leaves for the next one. Part of the chunk of
 * the stored queue.
 */
export class OutboxStore implements QueueStore {
  readonly #scope: AgentScope<never>
  readonly #queue: StoredQueue
  readonly #outbox: Outbox
  readonly #transcript: Transcript
  /** Entries of the previous page, until the agent is ready. */
  #restored: OutboxEntry[] = []
  /** Entries that the previous page wrote, until the present session is known. */
  #unplaced: OutboxEntry[] = []
  /** Messages of a history, each of which shows one of the previous page. */
  readonly #claimed = new WeakSet<ShownMessage>()
  /** Until the store has written the mark that must precede what is sent. A later mark ends it. */
  #claim: Era | undefined

  constructor(scope: AgentScope<never>, queue: StoredQueue, outbox: Outbox, transcript: Transcript) {
    this.#scope = scope
    this.#queue = queue
    this.#outbox = outbox
    this.#transcript = transcript
  }

  /** Whether nothing may be sent, because the store has not marked it yet. */
  get isClaiming(): boolean {
    return this.#claim !== undefined
  }

  /** Whether the queue is stored. */
  get isActive(): boolean {
    return this.#queue.isActive
  }

  /** Reads what the previous page left. Resolves, also when the store fails, before the agent may become ready. */
  restore(): Promise<void> {
    const deliver = (entries: OutboxEntry[]) => {
      this.#restored.push(...entries)
      if (!this.#scope.status.isReady) return
      this.takeIn()
      // Messages may have been queued before the store could take them.
      this.changed()
      if (entries.length > 0) this.#outbox.connectForMessage()
    }
    return this.#queue.restore(deliver, () => this.#forgetEntries())
  }

  /** What the next page needs. */
  snapshot(): QueueSnapshot {
    const { lane, ledger, policy } = this.#outbox
    const { origin } = this.#scope
    const sent = ledger.sent.filter(entry => policy.hasKey(entry))
    const claim = lane.isOpen ? { sessionId: origin.sessionId } : undefined
    return { entries: [...sent, ...this.#restored, ...lane.queue.getAll()], claim }
  }

  /** Adds what the previous page left: unsent messages first in the queue, and what it was sending to the ledger. */
  takeIn(): void {
    const { lane, ledger, policy } = this.#outbox
    const { origin } = this.#scope
    const entries = this.#restored
    this.#restored = []
    for (const entry of entries) {
      entry.message = addressMessage(entry.message, origin)
      if (entry.written) ledger.adopt(entry)
      else ledger.add(entry)
    }
    const present = new Set(entries.filter(entry => this.#locate(entry)))
    if (origin.sessionId === undefined) this.#unplaced.push(...entries.filter(isAdopted))
    // A slow store may deliver them when the chat is open already.
    if (lane.isOpen) this.mark()
    lane.prepend(entries.filter(({ written }) => !written))
    for (const entry of entries) {
      // A listener may have signed the user out.
      if (!this.#isKnown(entry)) continue
      if (!isAdopted(entry)) this.#accepted(entry, false)
      // With a receipt it can be sent again safely, in its session.
      else if (policy.isSentAgain(entry)) this.#accepted(entry, true)
      else if (!policy.hasKey(entry)) {
        ledger.settle(entry, 'unknown', 'page_ended')
        if (present.has(entry)) this.#show(entry)
      }
      // The sessions before the present one have ended already.
      else if (lane.isOpen) ledger.settle(entry, 'unknown', 'session_ended')
    }
  }

  /** The chat is open. The next page of a portal knows its session only now. */
  handleConnected(): void {
    const entries = this.#unplaced
    this.#unplaced = []
    for (const entry of entries)
      if (this.#isKnown(entry) && this.#locate(entry) && !this.#outbox.policy.hasKey(entry)) this.#show(entry)
  }

  /** Lets nothing leave until the store has marked it, so that the next page does not send it too. */
  mark(): void {
    this.#claim?.end()
    const claim = new Era()
    this.#claim = claim
    void this.#queue.claim().then(() => {
      if (claim.isOver) return
      this.#claim = undefined
      this.#outbox.lane.resume()
    })
  }

  /** The store is brought up to date. */
  changed(): void {
    this.#queue.changed()
  }

  /** An entry of the previous page is sent again. */
  handleSentAgain(entry: OutboxEntry): void {
    if (isAdopted(entry)) this.#accepted(entry, true)
  }

  leave(): Promise<void> {
    return this.#queue.leave()
  }

  forgetUser(): Promise<void> {
    this.#forgetEntries()
    return this.#queue.forgetUser()
  }

  /** Forgets the entries of the previous page, which are in the store. */
  #forgetEntries(): void {
    this.#restored = []
    this.#unplaced = []
  }

  /** Leaves to the next page what is queued now: nothing more is sent. */
  release(): Promise<unknown> {
    // Copied: all entries are settled afterwards.
    const last = { entries: this.snapshot().entries.map(entry => ({ ...entry })), claim: undefined }
    return this.#queue.release(last)
  }

  #isKnown(entry: OutboxEntry): boolean {
    return this.#outbox.ledger.get(entry.id) === entry
  }

  /** Notes in which session the previous page wrote an entry. Returns whether it is the present one. */
  #locate(entry: OutboxEntry): boolean {
    const { sessionId } = this.#scope.origin
    const { written } = entry
    if (!written || sessionId === undefined || written.sessionFingerprint !== fingerprintOf(sessionId)) return false
    if (isAdopted(entry)) entry.written = { ...written, sessionId }
    return true
  }

  /** A message without evidence appears in the conversation, unless the history shows it. */
  #show(entry: OutboxEntry): void {
    // A listener may have signed the user out.
    if (!this.#isKnown(entry)) return
    const { ledger } = this.#outbox
    const transcript = this.#transcript
    const { message, id, timestamp, data } = entry
    const claimed = this.#claimed
    const shown = transcript.get().find(each => {
      const { messageId = '' } = each.message
      if (messageId === id) return true
      const isOfHistory = each.sessionId === message.sessionId && !ledger.get(messageId)
      return isOfHistory && !claimed.has(each) && showsAgain(each, message)
    })
    if (shown) claimed.add(shown)
    else transcript.record(message, 'sent', timestamp, undefined, data.length)
  }

  /** A message is sent in the present conversation. */
  #accepted({ message, data }: OutboxEntry, isAgain: boolean): void {
    this.#outbox.accepted(message, data.length, isAgain)
  }
}
