import { isJsonObject } from '@aiagent/protocol'
import type { RedactText } from './redaction.ts'

/** Events of an agent that a trace holds. */
export const RECORDED_EVENTS = [
  'initialized',
  'stateChanged',
  'connected',
  'closed',
  'error',
  'transcriptUpdate',
  'transcriptCleared',
  'agentMessage',
  'messagesRecovered',
  'deliveryUpdate',
  'queueFlushed',
  'tokenExpiring',
  'userChanged',
] as const

type Details = Record<string, string | number | boolean>

/** Fields that are copied: names, codes and numbers of the library itself. */
const COPIED_FIELDS = [
  'state',
  'previousState',
  'code',
  'cause',
  'willReconnect',
  'retryInMs',
  'reason',
  'count',
  'source',
  'id',
  'messageId',
  'direction',
  'recovered',
] as const

/** What a trace holds of the payload of an event. */
export function describeEvent(type: string, payload: Record<string, unknown>, redact: RedactText): Details | undefined {
  const details: Details = {}
  const copy = (from: Record<string, unknown>, fields: readonly string[]) => {
    for (const field of fields) {
      const value = from[field]
      if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') details[field] = value
    }
  }
  // The reason of a close is text of the service.
  copy(payload, type === 'closed' ? COPIED_FIELDS.filter(field => field !== 'reason') : COPIED_FIELDS)
  const { error, message } = payload
  if (typeof error === 'object' && error !== null) copy(error as Record<string, unknown>, ['code', 'reason'])
  if (isJsonObject(message) || typeof message === 'object') {
    const { content, messageId, persona, role } = Object(message) as Record<string, unknown>
    copy({ messageId, persona, role }, ['messageId', 'persona', 'role'])
    if (typeof content === 'string') details['content'] = redact(content)
  }
  return Object.keys(details).length > 0 ? details : undefined
}
