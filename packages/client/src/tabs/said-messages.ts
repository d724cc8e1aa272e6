import { PERSONA } from '@aiagent/protocol'
import type { Message } from '../log/message.ts'
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

/** Tells a tab that has just joined about a message of before, unless it is known to have arrived. */
export function openMessage(
  message: Message,
  delivery: { readonly state: string; readonly reason?: string | undefined } | undefined,
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

/** The ids of what was sent in a session before the last message of the agent. */
export function answeredIds(
  transcript: TabParts['transcript'],
  session: string | undefined,
): ReadonlySet<string | undefined> {
  const entries = transcript.get().filter(({ sessionId = session }) => sessionId === session)
  const last = entries.findLastIndex(({ message }) => message.persona === PERSONA.AGENT)
  return new Set(entries.slice(0, Math.max(last, 0)).map(({ message }) => message.messageId))
}

/** What the agent has said in a session. What the user has said is left out: whether the service has it is not known here. */
export function saidByAgent(transcript: TabParts['transcript'], session: string | undefined): unknown[] {
  const entries = transcript.get()
  const received = entries.filter(({ direction, sessionId }) => direction === 'received' && sessionId === session)
  return received.map(({ message }) => {
    const { persona, role, content, messageData, messageId, timestamp } = message
    return { persona, role, content, messageData, messageId, timestamp }
  })
}
