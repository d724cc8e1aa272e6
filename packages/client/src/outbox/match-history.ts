import { PERSONA, parseServerMessage, type ServerMessage } from '@aiagent/protocol'
import type { Message } from '../log/message.ts'
import type { OutboxEntry } from './outbox-entry.ts'

/*
 * Which of our messages a history of the session shows.
 *
 * The plain wire has no ids of the client's messages, so that content decides, and the same words may have been said
 * before. Therefore only elements count that follow a known point: a message that was there before ours were written.
 */

/**
 * The entries that a history shows.
 *
 * @param unproven entries that were written in this session, in the order of their writes
 * @param after the last message that is older than every unproven one: elements behind it count; `start` for all;
 *   undefined when none is known, so that only ids count
 */
export function findShown(
  history: readonly Message[],
  unproven: readonly OutboxEntry[],
  after: Message | 'start' | undefined,
): OutboxEntry[] {
  const ids = new Set(history.map(({ persona, messageId }) => (persona === PERSONA.AGENT ? undefined : messageId)))
  const byId = unproven.filter(({ id }) => ids.has(id))
  const known = new Set(byId.map(({ id }) => id))
  const counts = new Map<string, number>()
  for (const element of elementsAfter(history, after)) {
    if (element.persona === PERSONA.AGENT || (element.messageId !== undefined && known.has(element.messageId))) continue
    const key = keyOf(element)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const byContent: OutboxEntry[] = []
  for (const entries of groupsOf(unproven.filter(({ id }) => !known.has(id)))) {
    const shown = counts.get(keyOfEntry(entries[0])) ?? 0
    // What a connection lost is the end of what was written to it. Over several connections equal words are ambiguous.
    const isOrdered = new Set(entries.map(({ written }) => written?.connection)).size === 1
    if (isOrdered || shown >= entries.length) byContent.push(...entries.slice(0, shown))
  }
  return [...byId, ...byContent]
}

function elementsAfter(history: readonly Message[], after: Message | 'start' | undefined): readonly Message[] {
  if (after === 'start') return history
  if (!after) return []
  const index = history.findLastIndex(element => isSame(element, after))
  if (index >= 0) return history.slice(index + 1)
  // The service no longer tells that message: its clock decides.
  const { timestamp } = after
  return timestamp === undefined ? [] : history.filter(element => Number(element.timestamp) > timestamp)
}

function isSame(element: Message, point: Message): boolean {
  if (element.persona !== point.persona || (element.content ?? '') !== (point.content ?? '')) return false
  if (element.messageId !== undefined && point.messageId !== undefined) return element.messageId === point.messageId
  return (element.timestamp ?? point.timestamp) === (point.timestamp ?? element.timestamp)
}

/** Entries with the same words, in order. */
function groupsOf(entries: readonly OutboxEntry[]): Iterable<OutboxEntry[]> {
  const groups = new Map<string, OutboxEntry[]>()
  for (const entry of entries) {
    const key = keyOfEntry(entry)
    const group = groups.get(key)
    if (group) group.push(entry)
    else groups.set(key, [entry])
  }
  return groups.values()
}

/** Read as the elements are: a field of the wrong type counts as absent in both. */
function keyOfEntry(entry: OutboxEntry | undefined): string {
  return entry ? keyOf(parseServerMessage(entry.data)) : ''
}

function keyOf({ persona, role, content, messageData }: Message | ServerMessage): string {
  return JSON.stringify([persona, role, content || [messageData ?? null]])
}
