import { PERSONA } from '@aiagent/protocol'
import type { EmulatorSettings } from '../settings.ts'
import type { HistoryEntry, SessionRecord } from '../world/session-record.ts'
import type { ReplyRequest } from './reply.ts'

export interface Conversation {
  readonly record: SessionRecord
  readonly random: () => number
  readonly escalation: ReplyRequest['escalation']
  readonly settings: EmulatorSettings
}

/** Knows which messages have not been answered yet. */
export interface Turns {
  isWaiting(message: HistoryEntry): boolean
}

/** The request to the agent: a message, and the conversation before it. */
export function describeRequest(
  message: HistoryEntry,
  { record, random, escalation, settings }: Conversation,
  turns: Turns,
): ReplyRequest {
  return {
    text: message.content ?? '',
    context: record.context,
    // Computed only for an agent that reads it: it grows with the conversation.
    get history() {
      return record.history
        .entries()
        .filter(entry => entry !== message && !turns.isWaiting(entry))
        .map(entry => ({
          from: entry.persona === PERSONA.AGENT ? ('agent' as const) : ('customer' as const),
          content: entry.content ?? '',
        }))
    },
    random,
    escalation,
    isDeskOpen: settings.desk === 'open',
  }
}
