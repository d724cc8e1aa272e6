import { isJsonObject, PERSONA } from '@aiagent/protocol'
import type { OutboxEntry } from './outbox-entry.ts'

/*
 * Which of our messages a history of the session shows. A separate chunk: only a reopened chat needs it.
 *
 * The plain wire has no ids of the client's messages, so that content decides, and the same words may have been said
 * before. Therefore only elements count that follow a known point: a message that was there before ours were written.
 */

/** A point in the history: the last message that is older than every unproven one. */
export interface HistoryPoint {
  readonly messageId?: string | undefined
  readonly persona: string
  readonly content?: string | undefined
  /** By the service's clock, in milliseconds since the epoch. */
  readonly timestamp?: number | undefined
}

/**
 * The entries that a history shows.
 *
 * @param history elements in the shape of a frame; others are ignored
 * @param unproven entries that were written in this session, in the order of their writes
 * @param after the point from which on elements count; `start` for all; undefined when none is known, so that only ids count
 */
export function findShown(
  history: readonly unknown[],
  unproven: readonly OutboxEntry[],
  after: HistoryPoint | 'start' | undefined,
): OutboxEntry[] {
  const elements = history.filter(isElement).filter(({ persona }) => persona !== PERSONA.AGENT)
  const ids = new Set(elements.map(({ messageId }) => messageId))
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
    const shown = counts.get(keyOf(JSON.parse(entries[0]?.data ?? '{}'))) ?? 0
    // What a connection lost is the end of what was written to it. Over several connections equal words are ambiguous.
    const isOrdered = new Set(entries.map(({ written }) => written?.connection)).size === 1
    if (isOrdered || shown >= entries.length) byContent.push(...entries.slice(0, shown))
  }
  return [...byId, ...byContent]
}

interface Element extends HistoryPoint {
  readonly role?: unknown
  readonly messageData?: unknown
}

function isElement(value: unknown): value is Element {
  return isJsonObject(value) && typeof value.persona === 'string'
}

function elementsAfter(history: readonly unknown[], after: HistoryPoint | 'start' | undefined): Element[] {
  const elements = history.filter(isElement)
  if (after === 'start') return elements
  if (!after) return []
  const index = elements.findLastIndex(element => isSame(element, after))
  if (index >= 0) return elements.slice(index + 1)
  // The service no longer tells that message: its clock decides.
  const { timestamp } = after
  return timestamp === undefined ? [] : elements.filter(element => Number(element.timestamp) > timestamp)
}

function isSame(element: Element, point: HistoryPoint): boolean {
  if (element.persona !== point.persona || (element.content ?? '') !== (point.content ?? '')) return false
  const [id, pointId] = [element.messageId ?? undefined, point.messageId ?? undefined]
  if (id !== undefined && pointId !== undefined) return id === pointId
  return (element.timestamp ?? point.timestamp) === (point.timestamp ?? element.timestamp)
}

/** Entries with the same words, in order. */
function groupsOf(entries: readonly OutboxEntry[]): Iterable<OutboxEntry[]> {
  const groups = new Map<string, OutboxEntry[]>()
  for (const entry of entries) {
    const key = keyOf(JSON.parse(entry.data))
    const group = groups.get(key)
    if (group) group.push(entry)
    else groups.set(key, [entry])
  }
  return groups.values()
}

function keyOf({ persona, role, content, messageData }: Element): string {
  return JSON.stringify([persona, role, content || [messageData ?? null]])
}
