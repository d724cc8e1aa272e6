import type { TranscriptEntry } from '@aiagent/client'

/** How many message ids are kept in the store. */
const IDS = 20

/** How many ids are kept until the history of the session is there. */
const IDS_BEFORE_HISTORY = 1_000

/** How far messages were told. */
interface Position {
  /** Ids of the last messages. */
  readonly ids: readonly string[]
  /** Time of the newest one, in milliseconds since the epoch. */
  readonly at: number
}

/** Whether the agent said it. */
export function isOfAgent({ direction, message }: TranscriptEntry): boolean {
  return direction === 'received' && message.persona === 'agent'
}

/** How far the messages of the agent were told: the position of a conversation, which its next worker continues from. */
export class ToldMessages {
  #position: Position
  /** The position of the previous worker, until the history is there. */
  #previous: Position | undefined
  /** What was told since: a message may arrive before the history, which holds earlier ones that nobody has told. */
  #since = new Set<string>()

  constructor(stored: string | undefined) {
    const { ids = [], at = 0 } = stored === undefined ? {} : (JSON.parse(stored) as Partial<Position>)
    this.#position = this.#previous = { ids, at }
  }

  /** Notes a message. Returns false for one that was told before. */
  add(id: string | undefined, at: number): boolean {
    const { ids, at: newest } = this.#position
    if (id !== undefined && (ids.includes(id) || this.#since.has(id))) return false
    if (id !== undefined && this.#previous && this.#since.size < IDS_BEFORE_HISTORY) this.#since.add(id)
    this.#position = { ids: id === undefined ? ids : [...ids, id].slice(-IDS), at: Math.max(newest, at) }
    return true
  }

  /** The entries of a history that were not told yet, in order. */
  missed(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
    const { ids, at } = this.#previous ?? this.#position
    const received = entries.filter(isOfAgent)
    const last = received.findLastIndex(
      ({ message: { messageId } }) => messageId !== undefined && ids.includes(messageId),
    )
    const later = last < 0 ? received.filter(({ timestamp }) => timestamp > at) : received.slice(last + 1)
    const missed = later.filter(({ message: { messageId } }) => messageId === undefined || !this.#since.has(messageId))
    this.#previous = undefined
    this.#since = new Set()
    return missed
  }

  toString(): string {
    return JSON.stringify(this.#position)
  }
}
