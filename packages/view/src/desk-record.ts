import type { EscalationOption } from '@aiagent/client'
import type { ConversationEscalation, ConversationMessage } from './conversation-message.ts'
import type { DeskViews } from './desk-views.ts'
import type { MessageList } from './message-list.ts'

/** Number of items that are stored. */
const STORED = 200

/** Number of items that are kept in memory. */
const KEPT = 1_000

/** Longest text that is kept, in UTF-16 code units. */
const LONGEST = 100_000

/** The last time that a `Date` can have. */
const LAST_TIME = 8.64e15

/** What a stored mark can be. */
const MARKS = ['desk_opened', 'desk_joined', 'desk_left', 'desk_closed'] as const

/** Where an item is: so many messages of the transcript behind one that also the next page has. */
interface Anchor {
  /** See `keyOf()`; undefined for the start. */
  readonly key?: string | undefined
  readonly skip: number
}

interface DeskItem {
  readonly anchor: Anchor
  readonly message: ConversationMessage
}

/** The fields that an item of a desk has. An invalid `time` counts as now. */
export type DeskFields = Pick<ConversationMessage, 'author' | 'authorName'> &
  Partial<Pick<ConversationMessage, 'content' | 'mark' | 'messageId' | 'maskedRanges'>> & { time?: number | undefined }

/** A desk that is open in this tab, as the next page needs it. */
export interface RecordedDesk {
  readonly escalation?: ConversationEscalation | undefined
  readonly handle?: string | undefined
}

/** The chats with colleagues. It owns their messages, which no transcript has, the places of those in the list, and what is stored. */
export class DeskRecord {
  /** The desk that is open in this tab. */
  open: RecordedDesk | undefined
  readonly #views: DeskViews
  readonly #now: () => number
  /** By id, in their order. */
  readonly #items = new Map<string, DeskItem>()
  /** The end of a transcript, which most messages of a desk have in common. */
  #end: { readonly transcript: readonly ConversationMessage[]; readonly anchor: Anchor } | undefined
  #isRead = false
  /** Distinguishes the messages of several desks. */
  #desk = ''
  #count = 0

  constructor(views: DeskViews, now: () => number) {
    this.#views = views
    this.#now = now
  }

  /** Whether it is known what the page before has stored. Nothing is stored before that. */
  get isRead(): boolean {
    return this.#isRead
  }

  find(id: string): ConversationMessage | undefined {
    return this.#items.get(id)?.message
  }

  /** The messages of the last desk. */
  ofLast(): readonly ConversationMessage[] {
    return [...this.#items.values()].flatMap(({ message }) => (this.isOfLast(message.id) ? [message] : []))
  }

  /** Whether a message is of the last desk. */
  isOfLast(id: string): boolean {
    return id.startsWith(`desk ${this.#desk} `)
  }

  /** Adds a message to the end of the list. Returns its id, or undefined where the desk has sent it before. */
  add({ time, content = '', messageId, ...fields }: DeskFields): string | undefined {
    const { list } = this.#views.first
    const id = `desk ${this.#desk} ${messageId === undefined ? ++this.#count : `at ${messageId}`}`
    if (this.#items.has(id)) return undefined
    const message = list.create({
      ...fields,
      id,
      messageId,
      content: content.length > LONGEST ? `${content.slice(0, LONGEST)}…` : content,
      time: isTime(time) ? time : this.#now(),
    })
    this.#items.set(id, { anchor: this.#anchor(), message })
    this.#limit()
    return id
  }

  /** Adds a mark. With `desk_opened`, the messages that follow are of another desk. */
  mark(mark: NonNullable<ConversationMessage['mark']>, authorName?: string): void {
    if (mark === 'desk_opened') this.#desk = `${this.#now()}.${this.#count}`
    this.add({ author: 'colleague', authorName, mark })
  }

  /** Changes a message, and returns it. */
  change(id: string, changes: Partial<ConversationMessage>): ConversationMessage | undefined {
    const { changed } = this.#views.first.list
    const item = this.#items.get(id)
    if (!item) return undefined
    const message = changed(item.message, changes)
    this.#items.set(id, { ...item, message })
    this.#place()
    return message
  }

  save(): void {
    const items = [...this.#items.values()].slice(-STORED).map(({ anchor, message }) => {
      const { id, author, authorName, mark, time, content, delivery } = message
      return { anchor, message: { id, author, authorName, mark, time, content, delivery } }
    })
    const { open } = this
    if (this.#isRead)
      this.#views.save({ id: this.#desk, count: this.#count, isOpen: open !== undefined, ...open, items })
  }

  clear(): void {
    this.#isRead = false
    this.#desk = ''
    this.#items.clear()
    this.#place()
  }

  /** Adds what an earlier page, of any version, has stored. Returns the desk that was open then. */
  read(stored: unknown): RecordedDesk | undefined {
    const { id, count, isOpen, handle, escalation, items } = Object(stored) as Record<string, unknown>
    this.#isRead = true
    this.#desk ||= typeof id === 'string' ? id : ''
    this.#count = Math.max(this.#count, Number.isSafeInteger(count) ? Number(count) : 0)
    const { list } = this.#views.first
    const present = [...this.#items.values()]
    const before = Array.isArray(items) ? items.slice(-KEPT).flatMap(each => readItem(each, list)) : []
    this.#items.clear()
    for (const item of [...before, ...present]) this.#items.set(item.message.id, item)
    this.#limit()
    return isOpen === true
      ? { handle: typeof handle === 'string' ? handle : undefined, escalation: readEscalation(escalation, list) }
      : undefined
  }

  /** Drops the oldest items beyond the limit. */
  #limit(): void {
    for (const id of this.#items.keys()) {
      if (this.#items.size <= KEPT) break
      this.#items.delete(id)
    }
    this.#place()
  }

  /** The place of a message behind all that are there. */
  #anchor(): Anchor {
    const transcript = this.#views.first.list.transcript()
    if (this.#end?.transcript === transcript) return this.#end.anchor
    const index = transcript.findLastIndex(each => keyOf(each) !== undefined)
    const anchor = { key: keyOf(transcript[index]), skip: transcript.length - 1 - index }
    this.#end = { transcript, anchor }
    return anchor
  }

  /** The lists are placed again when they are read next. */
  #place(): void {
    this.#views.place(this.#items.size > 0 ? this.#placed : undefined)
  }

  readonly #placed = (transcript: readonly ConversationMessage[]): readonly ConversationMessage[] => {
    const indices = new Map(transcript.map((each, index) => [keyOf(each), index]))
    const placed: ConversationMessage[] = []
    let next = 0
    for (const { anchor, message } of this.#items.values()) {
      const index = anchor.key === undefined ? -1 : indices.get(anchor.key)
      const end = index === undefined ? firstAfter(transcript, message.time) : index + 1 + anchor.skip
      while (next < Math.min(end, transcript.length)) placed.push(transcript[next++] as ConversationMessage)
      placed.push(message)
    }
    return [...placed, ...transcript.slice(next)]
  }
}

/** Identifies a message of the agent, on this page and the next. */
function keyOf(message: ConversationMessage | undefined): string | undefined {
  return message?.author === 'agent' && message.messageId !== undefined
    ? `${message.sessionId} ${message.messageId}`
    : undefined
}

/** An item as it was stored; none where it has another form. */
function readItem(stored: unknown, list: MessageList): DeskItem[] {
  const { masked } = list.kept()
  const { anchor, message: fields } = Object(stored) as Partial<DeskItem>
  const { id, author, authorName, mark, time, content, delivery } = Object(fields) as Partial<ConversationMessage>
  if (typeof id !== 'string' || !isTime(time) || typeof content !== 'string') return []
  const { key, skip } = Object(anchor) as Partial<Anchor>
  const isUser = author === 'user'
  const message = list.create({
    id,
    author: isUser ? 'user' : 'colleague',
    authorName: typeof authorName === 'string' ? authorName : undefined,
    mark: MARKS.find(each => each === mark),
    time,
    content,
    messageId: undefined,
    ...(isUser && {
      maskedRanges: (Object.hasOwn(masked, content) && masked[content]) || [],
      // The page ended before its outcome was known.
      delivery: delivery === 'acknowledged' ? delivery : 'unknown',
    }),
  })
  return [{ anchor: { key: typeof key === 'string' ? key : undefined, skip: Number(skip) || 0 }, message }]
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= LAST_TIME
}

/** Index of the first message that is later; the end where none is. */
function firstAfter(transcript: readonly ConversationMessage[], time: number): number {
  const index = transcript.findIndex(each => each.time > time)
  return index < 0 ? transcript.length : index
}

/** An escalation as it was stored; undefined where it has another form. */
function readEscalation(stored: unknown, list: MessageList): ConversationEscalation | undefined {
  const { type, url, options } = Object(stored) as Partial<Record<keyof ConversationEscalation, unknown>>
  if ((type !== 'live' && type !== 'alternate') || !Array.isArray(options) || !options.every(isOption)) return undefined
  const escalation = list.escalationOf(type, { entrypointUrl: typeof url === 'string' ? url : null, options })
  return escalation.url === url ? escalation : undefined
}

function isOption(value: unknown): value is EscalationOption {
  const { type, value: address = '' } = Object(value) as Partial<Record<keyof EscalationOption, unknown>>
  return typeof type === 'string' && typeof address === 'string'
}
