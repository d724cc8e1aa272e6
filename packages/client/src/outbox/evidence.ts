import { PERSONA, parseServerMessage, type ServerMessage } from '@aiagent/protocol'
import type { Message } from '../log/message.ts'
import type { AgentScope } from '../scope.ts'
import type { DeliveryLedger } from './ledger.ts'
import type { OutboxEntry } from './outbox-entry.ts'

/** Longest wait for the history after a reopening, in milliseconds, when nothing says that none will come. */
const EVIDENCE_LIMIT_MS = 15_000

/** By how much the service's clock may be behind, in milliseconds. */
export const CLOCK_SKEW_MS = 60_000

/** A message of the transcript, as far as it is compared. */
export interface ShownMessage {
  readonly message: Message
  readonly direction: 'sent' | 'received'
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  readonly sessionId: string | undefined
}

/** The wait for a history, which may be replaced by that of the next reopening. */
interface Wait {
  readonly timer: unknown
}

/**
 * What the history of a session proves about our messages. Owns the point from which on a history counts, and the wait
 * for the history after a reopening.
 */
export class Evidence {
  readonly #scope: AgentScope<never>
  readonly #ledger: DeliveryLedger
  readonly #onDecided: () => void
  #sessionId: string | undefined
  /** The point before every unproven message. */
  #point: Message | 'start' | undefined
  /** Whether a message was written after that point. */
  #hasWritten = false
  #wait: Wait | undefined

  /** @param onDecided everything that could show the messages in doubt has been read */
  constructor(scope: AgentScope<never>, ledger: DeliveryLedger, onDecided: () => void) {
    this.#scope = scope
    this.#ledger = ledger
    this.#onDecided = onDecided
  }

  /** Whether messages in doubt wait for a history. */
  get isPending(): boolean {
    return this.#wait !== undefined
  }

  /** @param isOwnSession whether this page created the session, so that nothing was said in it before */
  handleConnected(isOwnSession: boolean): void {
    const { environment, facts } = this.#scope
    const { clock } = environment
    if (facts.sessionId !== this.#sessionId) {
      this.#sessionId = facts.sessionId
      this.#point = isOwnSession ? 'start' : undefined
      this.#hasWritten = false
    }
    this.end()
    // With receipts no history is waited for.
    if (facts.hasReceipts || !this.#ledger.unproven().some(({ isInDoubt }) => isInDoubt)) return
    this.#wait = { timer: clock.setTimeout(() => this.#decide(this.#wait), EVIDENCE_LIMIT_MS) }
  }

  handleWritten(): void {
    this.#hasWritten = true
  }

  /** A message of the service has arrived. */
  handleMessage(message: Message): void {
    if (!this.#hasWritten && message.persona === PERSONA.AGENT) this.#point = message
  }

  /** A history of the session has arrived; without one, none will. */
  read(history: readonly Message[] = []): void {
    const ledger = this.#ledger
    const wait = this.#wait
    const last = history.at(-1)
    const point = ledger.hasGap ? undefined : this.#point
    const unproven = ledger.unproven().filter(({ written }) => written?.sessionId === this.#sessionId)
    if (last) {
      this.#point = last
      ledger.hasGap = false
      this.#hasWritten = ledger.sentCount > 0
    }
    if (last && unproven.length > 0) for (const entry of findShown(history, unproven, point)) ledger.acknowledge(entry)
    this.#decide(wait)
  }

  /** Ends the wait without a decision. */
  end(): void {
    this.#scope.environment.clock.clearTimeout(this.#wait?.timer)
    this.#wait = undefined
  }

  /** Clears the session. */
  clear(): void {
    this.end()
    this.#sessionId = this.#point = undefined
  }

  #decide(wait: Wait | undefined): void {
    if (!wait || wait !== this.#wait) return
    this.end()
    this.#onDecided()
  }
}

/**
 * Whether an entry has the author, the text and about the time of a sent message: a history of the plain wire does not name
 * the ids of the sender.
 */
export function showsAgain(
  { message, direction, timestamp }: Pick<ShownMessage, 'message' | 'direction' | 'timestamp'>,
  sent: Pick<Message, 'persona' | 'role'> & Partial<Pick<Message, 'content' | 'timestamp'>>,
): boolean {
  const isSame = message.persona === sent.persona && message.role === sent.role && message.content === sent.content
  return isSame && direction === 'sent' && timestamp >= (sent.timestamp ?? 0) - CLOCK_SKEW_MS
}

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
function findShown(
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
