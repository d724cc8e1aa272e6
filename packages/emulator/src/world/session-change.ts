import { type ClientMessage, PERSONA, ROLE, type ServerMessage } from '@aiagent/protocol'
import type { HistoryEntry, SessionRecord } from './session-record.ts'

/** One step in the life of a session, as plain data: the same for a live session and for one that is read from a store. */
export type SessionChange =
  /** A connection was opened. */
  | { type: 'opened'; callId?: string; fence?: number }
  /** The issues of the context that the session was opened with were told. */
  | { type: 'told' }
  /** A frame of a client was accepted, or repeated. A message of the customer waits for its answer from now on. */
  | { type: 'accepted'; at: number; message: ClientMessage; duplicate: boolean }
  /** A message of the agent joined the history. */
  | { type: 'said'; frame: HistoryEntry }
  /** A further frame of the conversation got a sequence number. */
  | { type: 'numbered'; frame: ServerMessage }
  /** The agent is done with the oldest message that waited. */
  | { type: 'answered' }
  | { type: 'context'; context: Record<string, unknown> }
  | { type: 'feedback'; rating: string; answerMessageId: string }
  | { type: 'escalation'; event: unknown }
  | { type: 'ended' }

/** Applies a change to the record of its session. */
export function applyChange(record: SessionRecord, change: SessionChange): void {
  switch (change.type) {
    case 'opened':
      record.connections++
      if (change.callId !== undefined) record.externalCallId = change.callId
      if (change.fence !== undefined) record.fence = change.fence
      return
    case 'told':
      record.contextIssues = []
      return
    case 'accepted':
      return accept(record, change)
    case 'said':
      record.agentMessages++
      record.history.add(change.frame)
      return number(record, change.frame)
    case 'numbered':
      return number(record, change.frame)
    case 'answered':
      record.unanswered.shift()
      return
    case 'context':
      record.context = change.context
      return
    case 'feedback':
      record.feedback.push({ rating: change.rating, answerMessageId: change.answerMessageId })
      return
    case 'escalation':
      record.escalationEvents.push(change.event)
      return
    case 'ended':
      record.ended = true
      return
    default:
      change satisfies never
  }
}

/** Whether it is a message of the customer, which the agent answers. */
const isUserMessage = ({ persona, role }: ClientMessage): boolean => persona === PERSONA.CUSTOMER && role === ROLE.HUMAN

function accept(record: SessionRecord, change: Extract<SessionChange, { type: 'accepted' }>): void {
  const { at, message, duplicate } = change
  record.accepted.add({ at, message, duplicate })
  if (duplicate) return
  if (message.messageId !== undefined) record.acceptedIds.add(message.messageId)
  if (!isUserMessage(message)) return
  const { persona, role, content = '', messageData, messageId } = message
  const entry: HistoryEntry = {
    ...(messageId !== undefined && { messageId }),
    persona,
    role,
    content,
    ...(messageData && { messageData }),
    timestamp: at,
  }
  record.history.add(entry)
  record.unanswered.push(entry)
}

function number(record: SessionRecord, frame: ServerMessage): void {
  const { seq } = frame
  if (typeof seq === 'number') record.sent.add({ ...frame, seq })
}
