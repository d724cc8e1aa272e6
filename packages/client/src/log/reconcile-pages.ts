import { isJsonObject } from '@aiagent/protocol'
import type { DeliveryRecord, WrittenAs } from './delivery.ts'
import type { TranscriptEntry } from './entry.ts'
import { Message, type MessageOptions } from './message.ts'
import { CLAIMED, type MessageLog } from './message-log.ts'
import { groupBy, type KnownMessage, knownMessage } from './reconcile.ts'

/*
 * As reconcile.ts, for messages that other pages have written: an earlier page of the tab, which may have left them in a store,
 * and other tabs of the conversation. Apart, since only `persistQueue` and `tabs` need it.
 */

/** An outbound message as another page has it: masked, as it is sent. Left in a store for the next page, and posted to other tabs. */
export interface MessageSnapshot {
  readonly id: string
  readonly persona: string
  readonly role: string
  readonly content?: string | undefined
  readonly messageData?: MessageOptions['messageData']
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Only between tabs, and of the session that they share: a reader of a store must not learn one. */
  readonly sessionId?: string | undefined
}

/** Whether a value is the snapshot of a message: any script of the origin may have written it. */
export function isSnapshot(value: unknown): value is MessageSnapshot {
  if (!isJsonObject(value)) return false
  const { id, persona, role, content, messageData, timestamp, from, to, sessionId } = value
  return (
    [id, persona, role].every(isText) &&
    [content, from, to, sessionId].every(each => each === undefined || isText(each)) &&
    (messageData === undefined || isJsonObject(messageData)) &&
    typeof timestamp === 'number'
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** What another page gets of a message. */
export function snapshotOf({ id, message }: DeliveryRecord): MessageSnapshot {
  const { persona, role, content, messageData, timestamp = 0, from, to } = message
  return { id, persona, role, content, messageData, timestamp, from, to }
}

/** The record of a message that another page has accepted. */
export function recordOf(snapshot: MessageSnapshot): DeliveryRecord {
  const { id, persona, role, content, timestamp } = snapshot
  const message = new Message(persona, role, content, { ...snapshot, messageId: id })
  return { id, timestamp, message, state: 'queued', isMasked: true }
}

/** A write of another page: an earlier one of this tab, or another tab. */
export function writtenElsewhere(sessionFingerprint: string | undefined): WrittenAs {
  return { order: -1, number: -1, at: 0, opening: 'another page', sessionFingerprint }
}

/** By how much the service's clock may be behind, in milliseconds. */
const CLOCK_SKEW_MS = 60_000

/**
 * The ids of the messages that a history of their session shows, where several tabs have written them and may have said the
 * same: a text counts only if the history has it as often as it was sent, from a minute before the message on.
 *
 * @param known what the tabs have of the session, and what was recovered of it
 */
export function findShownOfTabs(history: readonly Message[], known: readonly KnownMessage[]): string[] {
  const wordsOfKnown = ({ fingerprint }: KnownMessage) => fingerprint
  const texts = history.filter(({ content }) => content).map(message => knownMessage(message))
  const shown = groupBy(texts, wordsOfKnown)
  const timeOf = ({ timestamp = 0 }: KnownMessage) => timestamp
  const sent = groupBy(
    known.filter(({ isSent }) => isSent),
    wordsOfKnown,
  )
  return [...sent].flatMap(([words, same]) => {
    const times = (shown.get(words) ?? []).flatMap(({ timestamp }) => timestamp ?? [])
    times.sort((one, other) => one - other)
    same.sort((one, other) => timeOf(one) - timeOf(other))
    let earlierShown = 0
    let earlierSent = 0
    return same.flatMap(each => {
      const since = timeOf(each) - CLOCK_SKEW_MS
      while ((times[earlierShown] ?? since) < since) earlierShown++
      while (timeOf(same[earlierSent] ?? each) < since) earlierSent++
      const isShown = times.length - earlierShown >= same.length - earlierSent
      return isShown && each.messageId !== undefined ? [each.messageId] : []
    })
  })
}

/**
 * Shows a message of another page, unless an entry shows it: by its id, else one of its author and text, and about its time, that
 * shows no other message.
 *
 * @param size length of its frame's text, in characters
 * @param mayShow whether an entry may be the message under another id, as one that a history has added
 */
export function showOnce(
  log: MessageLog,
  record: DeliveryRecord,
  size: number,
  mayShow: (entry: TranscriptEntry) => boolean,
): void {
  const { id, message, timestamp } = record
  const { persona, role, content } = message
  const isLikely = (entry: TranscriptEntry) =>
    entry.direction === 'sent' &&
    entry.message.persona === persona &&
    entry.message.role === role &&
    entry.message.content === content &&
    entry.timestamp >= timestamp - CLOCK_SKEW_MS &&
    mayShow(entry) &&
    !log.find(entry.message.messageId ?? '') &&
    !CLAIMED.has(entry)
  const entries = log.entries()
  const shown = entries.find(({ message }) => message.messageId === id) ?? entries.find(isLikely)
  if (!shown) return void log.record(message, 'sent', timestamp, undefined, size, false, record)
  CLAIMED.add(shown)
  record.isShown = true
}
