import type { Message } from '../outbox/message.ts'
import type { SaidMessage, TabMessage } from './tab-message.ts'
import type { TabParts } from './tab-parts.ts'

/** Tells other tabs about a message of this tab. */
export function said({ persona, role, content, messageData, timestamp = 0 }: Message, id: string): SaidMessage {
  return {
    id,
    persona,
    role,
    timestamp,
    ...(content !== undefined && { content }),
    ...(messageData && { messageData }),
  }
}

interface DeliveryView {
  readonly state: string
  readonly reason?: string | undefined
}

/** Tells a tab that has just joined about a message of before, unless it is known to have arrived. */
export function openMessage(
  message: Message,
  delivery: DeliveryView | undefined,
  owner?: string,
): TabMessage | undefined {
  const { messageId: id } = message
  const { state = '', reason } = delivery ?? {}
  if (id === undefined || !OPEN_STATES.has(state)) return undefined
  return { kind: 'said', message: said(message, id), state, ...(reason && { reason }), ...(owner && { owner }) }
}

const OPEN_STATES: ReadonlySet<string> = new Set(['queued', 'sent', 'unknown', 'failed'])

/** The messages of this tab that have not arrived, as far as is known. */
export function openMessages({ transcript, outbox }: Pick<TabParts, 'transcript' | 'outbox'>): TabMessage[] {
  return transcript.get().flatMap(({ message, direction }) => {
    const { messageId: id } = message
    return (direction === 'sent' && id !== undefined && openMessage(message, outbox.delivery(id))) || []
  })
}

/** How many of its last messages a tab names when it asks for those that it has missed. */
const KNOWN = 100

/** The last messages that a tab has, in both directions, those that its host has removed or keeps out included. */
export interface KnownMessages {
  readonly ids: readonly string[]
  /** Messages of before are not named, in milliseconds since the epoch. */
  readonly since: number
}

/** @param joinedAt when the tab has joined the others, in milliseconds since the epoch */
export function knownMessages({ transcript }: Pick<TabParts, 'transcript'>, joinedAt: number): KnownMessages {
  const shown = transcript.get().slice(-KNOWN)
  const missing = transcript.missing.slice(-KNOWN)
  const since = Math.max(
    joinedAt,
    shown.length < KNOWN ? 0 : (shown[0]?.timestamp ?? 0),
    missing.length < KNOWN ? 0 : (missing[0]?.timestamp ?? 0),
  )
  const ids = [...missing.map(({ id }) => id), ...shown.map(({ message }) => message.messageId)]
  return { ids: ids.filter(id => id !== undefined), since }
}

/**
 * The messages of the user that another tab has missed.
 *
 * @param find who has sent a message, and its delivery
 */
export function missedMessages(
  { transcript }: Pick<TabParts, 'transcript'>,
  { ids, since }: KnownMessages,
  find: (id: string) => { readonly owner?: string | undefined; readonly delivery: DeliveryView } | undefined,
): TabMessage[] {
  const known = new Set<string | undefined>(ids)
  return transcript.get().flatMap(({ message, direction, timestamp }) => {
    const { messageId: id } = message
    const isMissed = direction === 'sent' && id !== undefined && timestamp >= since && !known.has(id)
    const found = isMissed && find(id)
    if (!found) return []
    const { owner, delivery } = found
    const { state, reason } = delivery
    return { kind: 'said', message: said(message, id), state, ...(reason && { reason }), ...(owner && { owner }) }
  })
}

/** What the agent has said. What the user has said is left out: whether the service has it is not known here. */
export function saidByAgent(transcript: TabParts['transcript']): unknown[] {
  const received = transcript.get().filter(({ direction }) => direction === 'received')
  return received.map(({ message }) => {
    const { persona, role, content, messageData, messageId, timestamp } = message
    return { persona, role, content, messageData, messageId, timestamp }
  })
}
