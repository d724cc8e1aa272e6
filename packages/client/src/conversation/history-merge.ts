import type { TranscriptEntry } from '../log/entry.ts'
import { type KnownMessage, knownMessage } from '../log/known-message.ts'
import { type HistoryElement, isFromClient, type Message, type MessageOrigin, readElement } from '../log/message.ts'
import type { PlacedEntry, Transcript } from '../log/transcript.ts'
import { sha256 } from '../util/sha256.ts'
import type { MessageProcessor } from './message-processor.ts'

/*
 * The one merge of a history with what this page has: after a reload, and after an outage. A history is a list in the
 * order of the service, from a `chat history` frame or from the transcript call.
 *
 * An element is known if this page sent or received it: by its id, else by author, content and time. Every known message
 * accounts for one element, so that a text that was said twice counts twice. An unknown element belongs behind the element
 * before it; messages that this page received at the same place keep their time order with it.
 */

/** Longest part of a history that is read, in messages, from its end: twice the messages that the ledger observes. */
const READ_LIMIT = 20_000

/** Longest part of a history that is merged, in messages, from its end. */
const MERGE_LIMIT = 5_000

/** A message of a history that this page did not have. */
export interface NewMessage {
  readonly message: Message
  readonly direction: 'sent' | 'received'
  /** Its time as far as it is known, in milliseconds since the epoch. */
  readonly timestamp: number
  /** Length of its text as a frame, in characters. */
  readonly size: number
  /** Index in the transcript before which it belongs. */
  readonly position: number
}

export interface HistoryMergeOptions {
  readonly transcript: Transcript
  /** Origin of the messages. */
  readonly origin: MessageOrigin & { readonly sessionId: string }
  /**
   * Time when this page opened the session, in milliseconds since the epoch. Where the beginning of the session is unknown
   * and nothing of a history is known, it separates new messages from old ones.
   */
  readonly openedAt: number
  /**
   * After a reload, a time of the service's clock: earlier sent messages are another page's, even where this page sent
   * the same text since `openedAt`.
   */
  readonly olderThan?: number
  /**
   * Whether an unknown element before the first known one is new. False if this page does not know the beginning of the
   * session.
   */
  readonly isFromStart: boolean
}

interface Element extends HistoryElement {
  readonly direction: 'sent' | 'received'
  readonly timestamp: number
  readonly known: KnownMessage
}

interface Candidate extends KnownMessage {
  /** Index in the transcript; undefined for a message that is not stored. */
  readonly position: number | undefined
}

/**
 * Reads a history, once for all parts that need its messages. Unreadable elements are left out.
 *
 * @param origin origin of the messages. They did not arrive just now, so they have no default time
 */
export function readHistory(list: readonly unknown[], origin: MessageOrigin): HistoryElement[] {
  return list.slice(-READ_LIMIT).flatMap(element => readElement(element, origin) ?? [])
}

/** The messages of a history that this page neither sent nor received, in order. */
export function mergeHistory(history: readonly HistoryElement[], options: HistoryMergeOptions): NewMessage[] {
  const elements = describeElements(history.slice(-MERGE_LIMIT), options.openedAt)
  const entries = options.transcript.get()
  const candidates = collectCandidates(options, entries)
  const matches = matchAll(elements, candidates, options)
  const first = matches.findIndex(match => match !== undefined)
  // Without any match only the time tells what is new.
  const latest = first < 0 && !options.isFromStart ? lastTimeOf(options) : undefined
  const matched = new Set(matches.flatMap(match => match?.position ?? []))
  const { sessionId } = options.origin
  let position = entries.findLastIndex(entry => entry.sessionId !== undefined && entry.sessionId !== sessionId) + 1
  return elements.flatMap((element, index) => {
    const match = matches[index]
    if (match) {
      if (match.position !== undefined) position = Math.max(position, match.position + 1)
      return []
    }
    if (!options.isFromStart) {
      if (index < first) return []
      if (latest !== undefined && !((element.message.timestamp ?? Number.NEGATIVE_INFINITY) > latest)) return []
    }
    position = skipEarlier(entries, matched, position, element)
    const { message, direction, timestamp, size } = element
    return { message, direction, timestamp, size, position }
  })
}

/** What {@link insertHistory} has done. */
export interface InsertedHistory {
  /** The new messages with their entries, where the filters of the transcript admit them. */
  readonly inserted: readonly { readonly message: Message; readonly entry: TranscriptEntry | undefined }[]
  /** Number of entries that were removed because of the bounds of the transcript. */
  readonly removed: number
}

/**
 * Inserts new messages into the transcript.
 *
 * @param mark fields of the entries beside those of the message
 */
export function insertHistory(
  messages: readonly NewMessage[],
  { transcript, origin }: HistoryMergeOptions,
  processor: Pick<MessageProcessor, 'handlerFor'>,
  mark: { readonly recovered?: true } = {},
): InsertedHistory {
  const ids = new Set(transcript.get().map(({ id }) => id))
  const placed: PlacedEntry<TranscriptEntry>[] = []
  // The last number of each base: in a history without ids and times all messages may have the same one.
  const numbers = new Map<string, number>()
  // Ids reach pages, exports and recordings. The session id opens the conversation, so it is not in them.
  const session = sha256(origin.sessionId).slice(0, 16)
  const inserted = messages.map(({ message: given, direction, timestamp, size, position }) => {
    // Made of the session and the message, so that it is the same after each reload.
    const base = `${session}:${given.messageId ?? timestamp}`
    let id = base
    let number = numbers.get(base) ?? 1
    while (ids.has(id)) id = `${base}:${++number}`
    numbers.set(base, number)
    ids.add(id)
    // The service does not know the id of a message of the user.
    const message = given.messageId === undefined ? given.clone({ messageId: id }) : given
    const type = direction === 'received' ? processor.handlerFor(message)?.resultType : undefined
    const created = transcript.entryOf(message, direction, timestamp, type, id)
    const entry = created && { ...created, ...mark }
    if (entry) placed.push({ entry, size, position })
    else transcript.noteMissing(message, direction)
    return { message, entry }
  })
  return { inserted, removed: transcript.insert(placed) }
}

/** The elements with what the merge needs to know of each. */
function describeElements(history: readonly HistoryElement[], openedAt: number): Element[] {
  // A message without a time was said after the one before it, as far as is known.
  let time = history.find(({ message }) => message.timestamp !== undefined)?.message.timestamp ?? openedAt
  return history.map(({ message, size }) => {
    time = message.timestamp ?? time
    const direction = isFromClient(message) ? 'sent' : 'received'
    return { message, size, direction, timestamp: time, known: knownMessage(message, direction) }
  })
}

/** The messages that this page has in the session, in order, by fingerprint. */
function collectCandidates(
  { transcript, origin }: HistoryMergeOptions,
  entries: readonly TranscriptEntry[],
): Map<string, Candidate[]> {
  const candidates = new Map<string, Candidate[]>()
  const add = (known: KnownMessage, position: number | undefined) => {
    // A message that waited for a new session still names the previous one.
    if (!known.isSent && known.sessionId !== origin.sessionId) return
    const same = candidates.get(known.fingerprint)
    if (same) same.push({ ...known, position })
    else candidates.set(known.fingerprint, [{ ...known, position }])
  }
  // A message that was sent again after a restart is in the transcript too, and there its answer belongs behind it.
  const stored = new Set(entries.map(({ message }) => message.messageId))
  const isStored = ({ isSent, id }: KnownMessage) => isSent && id !== undefined && stored.has(id)
  for (const known of transcript.missing) if (!isStored(known)) add(known, undefined)
  entries.forEach(({ message, direction }, position) => {
    add(knownMessage(message, direction), position)
  })
  for (const known of transcript.missing) if (isStored(known)) add(known, undefined)
  return candidates
}

/** For each element the message of this page that it shows, if any. Ids first, since equal texts are frequent. */
function matchAll(
  elements: readonly Element[],
  candidates: ReadonlyMap<string, Candidate[]>,
  { olderThan = Number.NEGATIVE_INFINITY, openedAt }: HistoryMergeOptions,
): (Candidate | undefined)[] {
  const take = ({ known }: Element, fits: (candidate: Candidate) => boolean) => {
    const same = candidates.get(known.fingerprint) ?? []
    const index = same.findIndex(each => each.isSent === known.isSent && fits(each))
    return index < 0 ? undefined : same.splice(index, 1)[0]
  }
  const byId = elements.map(element => {
    const { id } = element.known
    return id === undefined ? undefined : take(element, each => each.id === id)
  })
  return elements.map((element, index) => {
    const { known } = element
    const isOlder = known.timestamp !== undefined && known.timestamp < olderThan
    return (
      byId[index] ??
      take(element, each => {
        if (each.timestamp === known.timestamp) return true
        if (known.isSent) return !isOlder || (each.timestamp ?? 0) < openedAt
        return each.id === undefined || known.id === undefined
      })
    )
  })
}

/** Moves behind messages that were received earlier and are not part of the history, such as heartbeats. */
function skipEarlier(
  entries: readonly TranscriptEntry[],
  matched: ReadonlySet<number>,
  from: number,
  { message }: Element,
): number {
  let position = from
  for (let entry = entries[position]; entry; entry = entries[++position]) {
    const isEarlier = message.timestamp !== undefined && entry.timestamp <= message.timestamp
    if (entry.direction === 'sent' || matched.has(position) || !isEarlier) break
  }
  return position
}

/** Time of the last message that this page received in the session, else of its opening. */
function lastTimeOf({ transcript, origin, openedAt }: HistoryMergeOptions): number {
  const received = transcript
    .get()
    .findLast(each => each.direction === 'received' && each.sessionId === origin.sessionId)
  const missing = transcript.missing.findLast(each => !each.isSent && each.sessionId === origin.sessionId)
  return Math.max(received?.timestamp ?? 0, missing?.timestamp ?? 0) || openedAt
}
