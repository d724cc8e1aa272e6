import { type FeedbackRating, ROLE, type TranscriptEntry } from '../index.ts'
import {
  type ConversationDelivery,
  type ConversationEscalation,
  type ConversationMessage,
  conversationMessage,
  NONE,
  type TextRange,
} from './conversation-message.ts'
import { keepSame } from './keep-same.ts'

type Changes = Partial<ConversationMessage>

interface Feedback {
  readonly answerMessageId: string
  readonly rating: FeedbackRating
}

/** What belongs to the messages and is not in the transcript, as it is stored over a reload. */
export interface MessageNotes {
  /** Key of the message, see `ratingKey()`, and rating. */
  readonly ratings: readonly (readonly [key: string, rating: FeedbackRating])[]
  /** Masked text, and where masking replaced something. */
  readonly masked: readonly (readonly [content: string, ranges: readonly TextRange[]])[]
}

/** Most masked texts whose ranges are kept. */
const MAX_MASKED = 100

/**
 * The visible messages: a fold over the entries of the transcript. It owns the messages, the ratings and the masked ranges.
 *
 * A message that does not change stays the same object, also when all entries are read again.
 */
export class MessageList {
  readonly #maskContent: (text: string) => string
  #items: ConversationMessage[] = []
  /** Number of the entry of each item, counted since the entries were read; parallel to `#items`. */
  #numbers: number[] = []
  #entryCount = 0
  /** Number of entries that the transcript dropped from its start. */
  #dropped = 0
  /** Messages that no entry holds yet, since they wait for `initialize()`. */
  #held: ConversationMessage[] = []
  /** Messages as their entries alone make them, so that reading an entry again makes the same. */
  readonly #plain = new WeakMap<TranscriptEntry, ConversationMessage>()
  readonly #ratings = new Map<string, FeedbackRating>()
  readonly #masked = new Map<string, readonly TextRange[]>()
  #escalation: ConversationEscalation | undefined
  #snapshot: readonly ConversationMessage[] | undefined

  /** @param maskContent what masking makes of a text, to recognize a chosen option */
  constructor(maskContent: (text: string) => string) {
    this.#maskContent = maskContent
  }

  /** The messages in order; the same frozen list until one changes. */
  get(): readonly ConversationMessage[] {
    this.#snapshot ??= Object.freeze(this.#held.length ? this.#items.concat(this.#held) : this.#items.slice())
    return this.#snapshot
  }

  /** The last hand-over. */
  get escalation(): ConversationEscalation | undefined {
    return this.#escalation
  }

  find(id: string): ConversationMessage | undefined {
    return this.get().findLast(item => item.id === id)
  }

  /** Adds the message of a new entry, and returns it where it is shown. */
  add(entry: TranscriptEntry, delivery?: ConversationDelivery): ConversationMessage | undefined {
    const number = this.#entryCount++
    const { message, sessionId } = entry
    const feedback = message.role === ROLE.FEEDBACK && (message.messageData?.feedback as Feedback | undefined)
    if (feedback) this.rate(sessionId, feedback.answerMessageId, feedback.rating)
    const plain = this.#plainOf(entry)
    if (!plain) return undefined
    const { author, content, options, id, messageId } = plain
    const isUser = author === 'user'
    if (isUser || options.length) this.#closeQuestion(isUser ? content : undefined)
    const item = changed(
      plain,
      isUser
        ? { delivery, maskedRanges: this.#masked.get(content) ?? NONE }
        : { rating: this.#ratings.get(ratingKey(sessionId, messageId)) },
    )
    this.#items.push(item)
    this.#escalation = item.escalation ?? this.#escalation
    this.#numbers.push(number)
    if (this.#held.length) this.#held = this.#held.filter(held => held.id !== id)
    this.#snapshot = undefined
    return item
  }

  /**
   * Reads all entries again.
   *
   * @param delivery of messages of the user that are new in the list
   */
  read(entries: readonly TranscriptEntry[], delivery?: ConversationDelivery): void {
    const before = new Map(this.#items.map(item => [item.id, item]))
    this.#items = []
    this.#numbers = []
    this.#entryCount = this.#dropped = 0
    this.#escalation = undefined
    this.#snapshot = undefined
    for (const entry of entries) {
      const old = before.get(this.#plainOf(entry)?.id ?? '')
      this.add(entry, old ? old.delivery : delivery)
    }
    this.#items = this.#items.map(item => keepSame(before.get(item.id), item))
  }

  /** Removes the messages of the oldest entries, until so many entries are left. */
  trimTo(size: number): void {
    this.#dropped = Math.max(this.#dropped, this.#entryCount - size)
    const count = this.#numbers.findIndex(number => number >= this.#dropped)
    const gone = count === -1 ? this.#items.length : count
    if (!gone) return
    this.#items.splice(0, gone)
    this.#numbers.splice(0, gone)
    this.#snapshot = undefined
  }

  /** Removes every message. Ratings stay: the history of the session may bring its messages back. */
  clear(): void {
    this.#held = []
    this.read([])
  }

  /** Removes everything of the user. */
  forget(): void {
    this.clear()
    this.#ratings.clear()
    this.#masked.clear()
  }

  /** Shows a message that waits for `initialize()`. */
  hold(item: ConversationMessage): void {
    this.#held.push(item)
    this.#snapshot = undefined
  }

  /** The messages that waited are in the transcript now, or were dropped. */
  release(): void {
    if (!this.#held.length) return
    this.#held = []
    this.#snapshot = undefined
  }

  rate(sessionId: string | undefined, messageId: string | undefined, rating: FeedbackRating): void {
    const key = ratingKey(sessionId, messageId)
    this.#ratings.set(key, rating)
    this.#change(item => item.author === 'agent' && ratingKey(item.sessionId, item.messageId) === key, { rating })
  }

  setDelivery(id: string, delivery: ConversationDelivery): void {
    this.#change(item => item.author === 'user' && item.id === id, { delivery })
    this.#held = this.#held.map(item => (item.id === id ? changed(item, { delivery }) : item))
  }

  /** Remembers where masking replaced something in a text. */
  setMasked(content: string, ranges: readonly TextRange[]): void {
    this.#masked.set(content, ranges)
    for (const [oldest] of this.#masked) if (this.#masked.size > MAX_MASKED) this.#masked.delete(oldest)
  }

  /** What the transcript does not hold. */
  get notes(): MessageNotes {
    return { ratings: [...this.#ratings], masked: [...this.#masked] }
  }

  /** Adds what was stored before. It comes from a store, so that nothing in it is certain. */
  addNotes({ ratings, masked }: { ratings?: unknown; masked?: unknown }): void {
    for (const [key, rating] of pairsOf(ratings))
      if (rating === 'up' || rating === 'down') this.#ratings.set(key, rating)
    for (const [content, ranges] of pairsOf(masked))
      if (Array.isArray(ranges)) this.#masked.set(content, Object.freeze(ranges))
  }

  /** The last options that wait are answered by a message of the user, or replaced by newer ones. */
  #closeQuestion(content: string | undefined): void {
    const isTaken = (option: string) => option === content || this.#maskContent(option) === content
    this.#change(
      item => item.canChoose,
      ({ options }) => ({ canChoose: false, chosenOption: options.find(isTaken) }),
    )
  }

  /** Changes the last message that matches. */
  #change(
    isMatch: (item: ConversationMessage) => boolean,
    changes: Changes | ((item: ConversationMessage) => Changes),
  ): void {
    const index = this.#items.findLastIndex(isMatch)
    const item = this.#items[index]
    if (!item) return
    this.#items[index] = changed(item, typeof changes === 'function' ? changes(item) : changes)
    this.#snapshot = undefined
  }

  #plainOf(entry: TranscriptEntry): ConversationMessage | undefined {
    const known = this.#plain.get(entry)
    if (known) return known
    const plain = conversationMessage(entry)
    if (plain) this.#plain.set(entry, plain)
    return plain
  }
}

/** Identifies a message in the service, which may count its ids from 1 in each session. */
function ratingKey(sessionId: string | undefined, messageId: string | undefined): string {
  return `${sessionId} ${messageId}`
}

function pairsOf(value: unknown): [string, unknown][] {
  return Array.isArray(value) ? value.filter(pair => Array.isArray(pair) && typeof pair[0] === 'string') : []
}

/** The message with some values replaced; the same object where nothing differs. */
function changed(item: ConversationMessage, changes: Changes): ConversationMessage {
  return keepSame(item, Object.freeze({ ...item, ...changes }))
}
