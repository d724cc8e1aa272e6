import { PERSONA, ROLE } from '@aiagent/protocol'
import type { TranscriptEntry } from '../conversation/transcript.ts'
import type { Message, ReceivedIn } from '../outbox/message.ts'

/** A message of a previous page. */
export interface EarlierMessage {
  /** Id of its entry: built from the session and the message, so that it is the same after each reload. */
  readonly id: string
  readonly message: Message
  readonly direction: 'sent' | 'received'
  /** Its time, as far as known, in milliseconds since the epoch. */
  readonly timestamp: number
  /** Length of its frame, in characters. */
  readonly size: number
}

/** Roles in which the client itself sends system messages. */
const OWN_ROLES: ReadonlySet<string> = new Set([ROLE.CONTEXT, ROLE.FEEDBACK, ROLE.ESCALATION, ROLE.GRACEFUL_DISCONNECT])

export interface HistoryMergeOptions {
  /** The origin of the messages; none of them arrived just now. */
  readonly place: ReceivedIn & { readonly timestamp: undefined }
  /** When this page resumed the session, in milliseconds since the epoch: older messages cannot be its own. */
  readonly since: number
  /** Parses a frame; throws for an invalid one. */
  read(text: string, place: ReceivedIn): Message
}

/**
 * The messages of a session from before this page opened it. The service sends them twice, on request and in the chat,
 * and may include messages of this page. This class records what was added already, so that each message is added once.
 */
export class HistoryMerge {
  readonly #options: HistoryMergeOptions
  /** How often each message has been added. */
  readonly #told = new Map<string, number>()
  readonly #ids = new Set<string>()

  constructor(options: HistoryMergeOptions) {
    this.#options = options
  }

  /**
   * The new messages of a list, in its order. Invalid ones are omitted.
   *
   * @param list from the service: frames
   * @param here messages that this page has sent and received in the session
   */
  take(list: readonly unknown[], here: readonly TranscriptEntry[]): EarlierMessage[] {
    const own = countsOf(
      here.map(({ message, direction }) => (direction === 'sent' ? textOf(message) : keyOf(message))),
    )
    const inList = new Map<string, number>()
    const news: EarlierMessage[] = []
    for (const earlier of this.#read(list)) {
      const key = keyOf(earlier.message)
      const times = (inList.get(key) ?? 0) + 1
      inList.set(key, times)
      if (times <= (this.#told.get(key) ?? 0)) continue
      this.#told.set(key, times)
      if (!this.#isOwn(earlier, key, own)) news.push(this.#identify(earlier))
    }
    return news
  }

  /** Adds the id, which a user's message does not contain: the service does not know it. */
  #identify(earlier: Omit<EarlierMessage, 'id'>): EarlierMessage {
    const { message, timestamp } = earlier
    const base = `${this.#options.place.sessionId}:${message.messageId ?? timestamp}`
    let id = base
    for (let n = 2; this.#ids.has(id); n++) id = `${base}:${n}`
    this.#ids.add(id)
    return { ...earlier, id, message: message.messageId === undefined ? message.clone({ messageId: id }) : message }
  }

  /** Whether this page already has it; then it is removed from the counts. */
  #isOwn({ message, direction }: Omit<EarlierMessage, 'id'>, key: string, own: Map<string, number>): boolean {
    const isOlder = message.timestamp !== undefined && message.timestamp < this.#options.since
    const name = direction === 'sent' ? textOf(message) : key
    const left = own.get(name) ?? 0
    if (left === 0 || (direction === 'sent' && isOlder)) return false
    own.set(name, left - 1)
    return true
  }

  #read(list: readonly unknown[]): Omit<EarlierMessage, 'id'>[] {
    const messages = list.flatMap(element => this.#messageOf(element) ?? [])
    // A message without a time is assumed to follow the previous one.
    let time = messages.find(({ message }) => message.timestamp !== undefined)?.message.timestamp ?? this.#options.since
    return messages.map(({ message, size }) => {
      time = message.timestamp ?? time
      return { message, size, direction: isSent(message) ? 'sent' : 'received', timestamp: time }
    })
  }

  #messageOf(element: unknown): { message: Message; size: number } | undefined {
    const { place, read } = this.#options
    try {
      const text = JSON.stringify(element)
      const message = read(text, place)
      const placed = isSent(message) ? message.clone({ from: PERSONA.CUSTOMER, to: place.from }) : message
      return { message: placed, size: text.length }
    } catch {
      return undefined
    }
  }
}

function isSent({ persona, role }: Message): boolean {
  return persona === PERSONA.CUSTOMER || (persona === PERSONA.SYSTEM && OWN_ROLES.has(role))
}

/** Identifies a message by its text and its id, since a service may reuse ids, or by its text and its time. */
function keyOf(message: Message): string {
  return `${message.messageId ?? message.timestamp} ${textOf(message)}`
}

function textOf({ persona, role, content = '' }: Message): string {
  return JSON.stringify([persona, role, content])
}

function countsOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}
