import type { MessageData } from '@aiagent/protocol'
import type { Message } from './message.ts'

/** Kinds of messages that `includeMessageTypes` can name. */
export type TranscriptMessageType =
  | 'agent_message'
  | 'error_message'
  | 'context_validation'
  | 'chat_history_processed'
  | 'heartbeat_processed'
  | 'customer_message'
  | 'context_message'
  | 'feedback_message'
  | 'escalation_message'
  | 'disconnect_message'

/** Which messages the transcript stores. Token frames are never stored. */
export interface TranscriptConfig {
  /** False: nothing is stored; `transcriptUpdate` is still emitted. @default true */
  enabled?: boolean
  /** Excluded roles. @default [] */
  excludeRoles?: string[]
  /** Excluded personas. @default [] */
  excludePersonas?: string[]
  /** Only these kinds of messages; empty means all. @default [] */
  includeMessageTypes?: TranscriptMessageType[]
  /** Maximum number of entries; the oldest are removed first, which `transcriptTrimmed` reports. @default 5000 */
  maxEntries?: number
  /**
   * How much is kept: the sum of the lengths of the frames' text, in characters (bytes, for ASCII text). The oldest
   * entries are removed first, which `transcriptTrimmed` reports. @default 8388608, which is 8 MiB
   */
  maxBytes?: number
}

/** Filter for entries. All given conditions must be met. */
export interface TranscriptOptions {
  /** Milliseconds since the epoch, included. */
  fromTimestamp?: number
  /** Milliseconds since the epoch, included. */
  toTimestamp?: number
  /** @default 'both' */
  direction?: 'sent' | 'received' | 'both'
  /** Only messages of this persona. */
  persona?: string
  /** Only messages of this role. */
  role?: string
}

/** One message with its direction and origin. Frozen. */
export interface TranscriptEntry {
  /** Unique, even if the service repeats its message ids, and the same for the lifetime of the entry. */
  readonly id: string
  /** The message, without message data that is nested more than 100 levels deep. */
  readonly message: Message
  /** From the host's point of view. */
  readonly direction: 'sent' | 'received'
  /** Time of the message, in milliseconds since the epoch. */
  readonly timestamp: number
  /** Session of the message; undefined for one that was queued before a session existed. */
  readonly sessionId: string | undefined
  /** Agent of the conversation. */
  readonly agentId: string | undefined
  /** True for a message that was said while the connection was down, and added from the history of the session. */
  readonly recovered?: true
}

/** An entry as plain data. */
export interface TranscriptRow {
  /** The service's id of a received message, the sender's id of a sent one. */
  messageId: string | undefined
  /** Persona of the message, for example `customer` or `agent`. */
  persona: string
  /** Role of the message, for example `human`. */
  role: string
  /** The text, masked if it was sent; undefined for messages without text. */
  content: string | undefined
  /** Data of the message, without parts that are nested more than 100 levels deep. */
  messageData: MessageData | undefined
  /** Time of the message, if it has one, in milliseconds since the epoch. */
  timestamp: number | undefined
  /** Name of the sender. */
  from: string | undefined
  /** Name of the recipient. */
  to: string | undefined
  /** Agent of the conversation. */
  agentId: string | undefined
  /** Session of the message. Do not show it: with it the conversation can be opened. */
  sessionId: string | undefined
  /** From the host's point of view. */
  direction: 'sent' | 'received'
  /** Time of the entry, in milliseconds since the epoch. */
  entryTimestamp: number
}
