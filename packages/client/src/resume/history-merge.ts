import { PERSONA, ROLE } from '@aiagent/protocol'
import type { TranscriptEntry } from '../conversation/transcript.ts'
import type { Message, ReceivedIn } from '../outbox/message.ts'

/** A message of an earlier page. */
export interface EarlierMessage {
  /** Id of its entry: made of the session and the message, so that it is the same after each reload. */
  readonly id: string
  readonly message: Message
  readonly direction: 'sent' | 'received'
  /** When it was, as well as that is known, in milliseconds since the epoch. */
  readonly timestamp: number
  /** Length of its text as a frame, in characters. */
  readonly size: number
}

/** Roles in which only this side speaks as the system. */
const OWN_ROLES: ReadonlySet<string> = new Set([ROLE.CONTEXT, ROLE.FEEDBACK, ROLE.ESCALATION, ROLE.GRACEFUL_DISCONNECT])

export interface HistoryMergeOptions {
  /** Where the messages belong; none of them came just now. */
  readonly place: ReceivedIn & { readonly timestamp: undefined }
  /** When this page took the session up, in milliseconds since the epoch: what is older cannot be its own. */
  readonly since: number
  /** Reads a frame; throws for what is none. */
  read(text: string, place: ReceivedIn): Message
}

/**
 * What was said in a session before this page opened it. The service tells it twice, on request and in the chat, and may
 * tell what this page has said since: it owns what has been told already, so that each message counts once.
 */
export class HistoryMerge {
  readonly #options: HistoryMergeOptions
  /** How often each message has been told. */
  readonly #told = new Map<string, number>()
  readonly #ids = new Set<string>()

  constructor(options: HistoryMergeOptions) {
    this.#options = options
  }

  /**
   * The messages of a list that are news, in its order. What cannot be read is left out.
   *
   * @param list as the service tells it: the shape of a frame each
   * @param here what this page has sent and received in the session
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

  /** Adds the id, which a message of the user does not bring along: the service does not know it. */
  #identify(earlier: Omit<EarlierMessage, 'id'>): EarlierMessage {
    const { message, timestamp } = earlier
    const base = `${this.#options.place.sessionId}:${message.messageId ?? timestamp}`
    let id = base
    for (let n = 2; this.#ids.has(id); n++) id = `${base}:${n}`
    this.#ids.add(id)
    return { ...earlier, id, message: message.messageId === undefined ? message.clone({ messageId: id }) : message }
  }

  /** Whether this page has it already; then it is taken from the counts. */
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
    // A message without a time was said after the one before it, for all that is known.
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

/** What tells a message from others: its words with its id, since a service may begin its ids again, or with its time. */
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
