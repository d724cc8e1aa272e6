import { PERSONA } from '@aiagent/protocol'
import type { TranscriptEntry } from './entry.ts'
import {
  fingerprintOf,
  type HistoryElement,
  isFromClient,
  isUserMessage,
  type Message,
  type MessageOrigin,
  readElement,
} from './message.ts'

/*
 * Compares a history of the service with the messages that this page has. Pure functions, and with those for other pages
 * (reconcile-pages.ts) the only ones that do it.
 *
 * A history is a list in the order of the service, from a `chat history` frame or from the transcript call. The plain wire has
 * no ids of the client's messages, and the same words may have been said before. So there are two answers:
 *
 *   likely: author, text, and as far as they are known id and time are those of a message that this page has. That suffices
 *           to insert nothing ({@link mergeHistory}). Every message accounts for one element, so that a text that was said
 *           twice counts twice.
 *   same:   the id, or the words behind a point that is older than every message in question. Only that acknowledges a
 *           message ({@link findShown}) or answers a question ({@link findAnswer}).
 */

/** Longest part of a history that is read, in messages, from its end: twice the messages that the ledger observes. */
export const READ_LIMIT = 20_000

/** Longest part of a history that is merged, in messages, from its end. */
const MERGE_LIMIT = 5_000

/** What is needed to recognize a message, without its content. */
export interface KnownMessage extends Pick<Message, 'messageId' | 'timestamp' | 'sessionId'> {
  readonly isSent: boolean
  /** Fingerprint of persona, role and content. */
  readonly fingerprint: string
}

/** The traits of a message by which a history shows it again. */
export function knownMessage(message: Message, isSent = isFromClient(message)): KnownMessage {
  const { persona, role, content = '', messageId, timestamp, sessionId } = message
  return { isSent, messageId, fingerprint: fingerprintOf(persona, role, content), timestamp, sessionId }
}

/** What is left of a sent message once its text is gone. */
export interface Trace extends KnownMessage {
  /** Fingerprint of its author and text; of one without a text, of its data. */
  readonly words: string
}

export function traceOf(message: Message): Trace {
  const known = knownMessage(message, true)
  return { ...known, words: message.content ? known.fingerprint : wordsOf(message) }
}

/** {@link Trace.words} of a message. */
export function wordsOf({ persona, role, content, messageData }: Message): string {
  return content
    ? fingerprintOf(persona, role, content)
    : fingerprintOf(persona, role, JSON.stringify([messageData ?? null]))
}

type Mark = Pick<Message, 'messageId' | 'timestamp'>

/** Whether two messages with the same words are one: by the ids of the service, else by their time. */
export function haveSameMark(one: Mark, other: Mark): boolean {
  return haveIds(one, other) ? one.messageId === other.messageId : one.timestamp === other.timestamp
}

function haveIds(one: Mark, other: Mark): boolean {
  return one.messageId !== undefined && other.messageId !== undefined
}

/**
 * Reads a history, once for all parts that need its messages. Unreadable elements are left out.
 *
 * @param origin origin of the messages. They did not arrive just now, so they have no default time
 */
export function readHistory(list: readonly unknown[], origin: MessageOrigin): HistoryElement[] {
  return list.slice(-READ_LIMIT).flatMap(element => readElement(element, origin) ?? [])
}

// ── Same ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The last message that is older than those in question; `start` if nothing is, undefined if none is known. */
export type Point = Message | 'start' | undefined

/** A message that was written in the session of the history. */
interface WrittenMessage {
  readonly id: string
  readonly message: Message
  readonly trace?: Trace | undefined
  readonly written?: { readonly opening: unknown } | undefined
}

/**
 * The messages that a history shows.
 *
 * @param unproven in the order of their writes
 * @param point without one only ids count
 */
export function findShown<Written extends WrittenMessage>(
  history: readonly Message[],
  unproven: readonly Written[],
  point: Point,
): Written[] {
  const ids = new Set(history.map(({ persona, messageId }) => (persona === PERSONA.AGENT ? undefined : messageId)))
  const shown = unproven.filter(({ id }) => ids.has(id))
  const known = new Set<string | undefined>(shown.map(({ id }) => id))
  const later = history.slice(startBehind(history, point))
  const elements = groupBy(
    later.filter(({ messageId }) => !known.has(messageId)),
    wordsOf,
  )
  const groups = groupBy(
    unproven.filter(({ id }) => !known.has(id)),
    ({ message, trace }) => trace?.words ?? wordsOf(message),
  )
  for (const [words, same] of groups) {
    const count = elements.get(words)?.length ?? 0
    // What a connection lost is the end of what was written to it. Over several connections equal words are ambiguous.
    const isOrdered = same.every(({ written }) => written?.opening === same[0]?.written?.opening)
    if (isOrdered || count >= same.length) shown.push(...same.slice(0, count))
  }
  return shown
}

/** What a history says of a question. */
export interface FoundAnswer {
  readonly isAsked: boolean
  readonly answer?: Message | undefined
}

/**
 * The answer to a question in a history: undefined where the history proves nothing, since it has no messages of the user, or no
 * point is known.
 *
 * @param count how often its words were written since the point: earlier ones in the history need not be the question
 */
export function findAnswer(
  history: readonly Message[],
  { content }: Message,
  point: Point,
  count: number,
): FoundAnswer | undefined {
  if (!point) return undefined
  const later = history.slice(startBehind(history, point))
  const isEqual = (each: Message) => isUserMessage(each) && each.content === content
  const asked = later.filter(isEqual).length >= count ? later.findLastIndex(isEqual) : -1
  if (asked >= 0) return { isAsked: true, answer: later.slice(asked).find(({ persona }) => persona === PERSONA.AGENT) }
  return history.some(isUserMessage) ? { isAsked: false } : undefined
}

/** Index of the first element behind a point. */
function startBehind(history: readonly Message[], point: Point): number {
  if (point === 'start') return 0
  if (!point) return history.length
  const hasWords = ({ persona, content }: Message) =>
    persona === point.persona && (content || '') === (point.content || '')
  const same = history.findLastIndex(each => hasWords(each) && haveSameMark(each, point))
  if (same >= 0) return same + 1
  const likely = history.findLastIndex(each => hasWords(each) && !haveIds(each, point))
  if (likely >= 0) return likely + 1
  // The service no longer tells that message: its clock decides.
  const later = history.findIndex(({ timestamp }) => Number(timestamp) > Number(point.timestamp))
  return later < 0 ? history.length : later
}

/** The items by what they have in common, in order. */
export function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

// ── Likely ──────────────────────────────────────────────────────────────────────────────────────────────────────────

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
  readonly log: {
    entries(): readonly TranscriptEntry[]
    /** The messages that were sent or received and are not stored. */
    readonly missing: readonly KnownMessage[]
    /** Whether a message with this id has not been written yet. */
    isWaiting(id: string): boolean
  }
  /** Session of the history. */
  readonly sessionId: string
  /**
   * Time when this page opened the session, or of the last message that it received there before the history was awaited, in
   * milliseconds since the epoch. Where the beginning of the session is unknown and nothing of a history is known, it separates
   * new messages from old ones.
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

interface Candidate extends KnownMessage {
  /** Index in the transcript; undefined for a message that is not stored. */
  readonly position: number | undefined
}

/**
 * The messages of a history that this page neither sent nor received, in order. An unknown element belongs behind the element
 * before it; messages that this page received at the same place keep their time order with it.
 */
export function mergeHistory(history: readonly HistoryElement[], options: HistoryMergeOptions): NewMessage[] {
  const { log, sessionId, openedAt, isFromStart } = options
  const end = history.slice(-MERGE_LIMIT)
  // A message without a time was said after the one before it, as far as is known.
  let last = end.find(({ message }) => message.timestamp !== undefined)?.message.timestamp ?? openedAt
  const elements = end.map(({ message, size }) => {
    last = message.timestamp ?? last
    return { message, size, time: last }
  })
  const entries = log.entries()
  const matches = matchAll(elements, collectCandidates(entries, options), options)
  const first = matches.findIndex(match => match !== undefined)
  const matched = new Set(matches.flatMap(match => match?.position ?? []))
  let position = entries.findLastIndex(entry => entry.sessionId !== undefined && entry.sessionId !== sessionId) + 1
  // The service returns the end of a long session: it may begin after all that this page has written.
  if (first < 0 && (end[0]?.message.timestamp ?? 0) > openedAt) {
    const waiting = entries.findIndex(({ message }) => log.isWaiting(message.messageId ?? ''))
    position = waiting < 0 ? entries.length : waiting
  }
  return elements.flatMap(({ message, size, time: timestamp }, index) => {
    const match = matches[index]
    if (match) {
      if (match.position !== undefined) position = Math.max(position, match.position + 1)
      return []
    }
    if (!isFromStart) {
      if (index < first) return []
      // Without any match only the time tells what is new.
      if (first < 0 && !((message.timestamp ?? -Infinity) > openedAt)) return []
    }
    position = skipEarlier(entries, matched, position, message)
    return { message, direction: isFromClient(message) ? 'sent' : 'received', timestamp, size, position }
  })
}

/** The messages that this page has in the session, in order. */
function collectCandidates(
  entries: readonly TranscriptEntry[],
  { log: { missing }, sessionId }: HistoryMergeOptions,
): Candidate[] {
  // A message that was sent again after a restart is in the transcript too, and there its answer belongs behind it.
  const stored = new Set(entries.map(({ message }) => message.messageId))
  const isStored = ({ isSent, messageId }: KnownMessage) => isSent && messageId !== undefined && stored.has(messageId)
  const candidates: Candidate[] = [
    ...missing.filter(known => !isStored(known)).map(known => ({ ...known, position: undefined })),
    ...entries.map(({ message, direction }, position) => ({
      ...knownMessage(message, direction === 'sent'),
      position,
    })),
    ...missing.filter(isStored).map(known => ({ ...known, position: undefined })),
  ]
  // A message that waited for a new session still names the previous one.
  const isOfSession = (known: KnownMessage) => known.isSent || known.sessionId === sessionId
  return candidates.filter(isOfSession)
}

/** For each element the message of this page that it shows, if any. Ids first, since equal texts are frequent. */
function matchAll(
  elements: readonly { readonly message: Message }[],
  candidates: readonly Candidate[],
  { olderThan = -Infinity, openedAt }: HistoryMergeOptions,
): (Candidate | undefined)[] {
  // A page that was just opened: fingerprints of a long history take a frame.
  if (candidates.length === 0) return []
  const shown = elements.map(({ message }) => knownMessage(message))
  const nameOf = ({ isSent, fingerprint, messageId }: KnownMessage) => `${isSent} ${fingerprint} ${messageId}`
  const named = groupBy(candidates, nameOf)
  const byId = shown.map(known => (known.messageId === undefined ? undefined : named.get(nameOf(known))?.shift()))
  const found = new Set(byId)
  const others = groupBy(
    candidates.filter(candidate => !found.has(candidate)),
    ({ fingerprint }) => fingerprint,
  )
  const take = (known: KnownMessage, fits: (candidate: Candidate) => boolean) => {
    const same = others.get(known.fingerprint) ?? []
    const index = same.findIndex(each => each.isSent === known.isSent && fits(each))
    return index < 0 ? undefined : same.splice(index, 1)[0]
  }
  return shown.map((known, index) => {
    const isOlder = known.timestamp !== undefined && known.timestamp < olderThan
    return (
      byId[index] ??
      take(known, each => {
        if (each.timestamp === known.timestamp) return true
        if (known.isSent) return !isOlder || (each.timestamp ?? 0) < openedAt
        return !haveIds(each, known)
      })
    )
  })
}

/** Moves behind messages that were received earlier and are not part of the history, such as heartbeats. */
function skipEarlier(
  entries: readonly TranscriptEntry[],
  matched: ReadonlySet<number>,
  from: number,
  { timestamp }: Message,
): number {
  let position = from
  for (let entry = entries[position]; entry; entry = entries[++position]) {
    const isEarlier = timestamp !== undefined && entry.timestamp <= timestamp
    if (entry.direction === 'sent' || matched.has(position) || !isEarlier) break
  }
  return position
}
