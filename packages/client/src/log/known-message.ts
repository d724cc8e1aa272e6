import { fnv1a } from '../util/fnv1a.ts'
import type { Message } from './message.ts'

/** What is needed to recognize a message in a history, without its content. */
export interface KnownMessage {
  readonly isSent: boolean
  /** The id that the service gave it; for a sent message, the id of this client. */
  readonly id: string | undefined
  /** Fingerprint of persona, role and content. */
  readonly fingerprint: string
  /** Milliseconds since the epoch. */
  readonly timestamp: number | undefined
  readonly sessionId: string | undefined
}

/** The traits of a message by which a history shows it again. */
export function knownMessage(message: Message, direction: 'sent' | 'received'): KnownMessage {
  const { persona, role, content = '', messageId, timestamp, sessionId } = message
  const fingerprint = fnv1a(`${persona}\n${role}\n${content}`)
  return { isSent: direction === 'sent', id: messageId, fingerprint, timestamp, sessionId }
}
