import type { MessageData } from '@aiagent/protocol'
import { ROLE } from '@aiagent/protocol'
import type { Message } from '../outbox/message.ts'
import { isDeeperThan } from '../util/is-deeper-than.ts'
import { EntryList, type PlacedEntry } from './entry-list.ts'
import { type KnownMessage, knownMessage } from './known-message.ts'

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

/** One message with its direction and origin. */
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

const OUTBOUND_TYPE: Readonly<Record<string, TranscriptMessageType>> = {
  [ROLE.HUMAN]: 'customer_message',
  [ROLE.CONTEXT]: 'context_message',
  [ROLE.FEEDBACK]: 'feedback_message',
  [ROLE.ESCALATION]: 'escalation_message',
  [ROLE.GRACEFUL_DISCONNECT]: 'disconnect_message',
}

const DEFAULT_MAX_ENTRIES = 5_000

const DEFAULT_MAX_BYTES = 8 * 1024 * 1024

/** Deeper message data may exceed the stack of `JSON.stringify`. */
const MAX_DEPTH = 100

/** Events of a transcript. */
export interface TranscriptListener {
  /** Creates the id of an entry. @default numbers from 1 */
  newId?(): string
  /** A message passed the filters. */
  recorded?(entry: TranscriptEntry): void
  /** A limit was reached: so many of the oldest entries were removed. Follows `recorded`. */
  trimmed?(removed: number): void
  /** Every entry was removed. */
  cleared?(): void
}

/** Maximum number of messages that are not stored and are still recognized in a history. */
const MAX_MISSING = 2_000

/** The messages of the conversation, in order. Owns the entries and their filters. */
export class Transcript {
  #config: TranscriptConfig
  readonly #listener: TranscriptListener
  readonly #entries = new EntryList<TranscriptEntry>()
  /** Number of the last id, where the listener creates none. */
  #lastId = 0
  #missing: KnownMessage[] = []
  #isComplete = true

  constructor(config?: TranscriptConfig)
  /** @internal */
  constructor(config?: TranscriptConfig, listener?: TranscriptListener)
  constructor(config: TranscriptConfig = {}, listener: TranscriptListener = {}) {
    this.#config = config
    this.#listener = listener
  }

  /** Removes every entry, and what is known of messages that are not stored: another user follows. */
  forgetUser(): void {
    this.#missing = []
    this.#isComplete = true
    this.#empty()
  }

  /** Changes some of the settings. */
  updateConfig(config: TranscriptConfig): void {
    this.#config = { ...this.#config, ...config }
    this.#reportTrimmed(this.#trim())
  }

  /**
   * Records a message that was accepted for sending, or received.
   *
   * @param type kind of a received message, as its handler names it
   * @param size length of the frame's text, in characters
   * @param isRecovered whether it was said while the connection was down
   * @returns the entry, or undefined where the filters keep it out; it is stored only with `enabled`
   */
  record(
    message: Message,
    direction: 'sent' | 'received',
    timestamp: number,
    type?: string,
    size = message.content?.length ?? 0,
    isRecovered = false,
  ): TranscriptEntry | undefined {
    const created = this.entryOf(message, direction, timestamp, type)
    const entry: TranscriptEntry | undefined = created && isRecovered ? { ...created, recovered: true } : created
    if (!entry || this.#config.enabled === false) this.noteMissing(message, direction)
    if (!entry) return undefined
    let removed = 0
    if (this.#config.enabled !== false) {
      this.#entries.push(entry, size)
      removed = this.#trim()
    }
    this.#listener.recorded?.(entry)
    this.#reportTrimmed(removed)
    return entry
  }

  /** The entry of a message, unless the filters keep it out. Without an `id` it gets a new one. */
  entryOf(
    message: Message,
    direction: 'sent' | 'received',
    timestamp: number,
    type: string | undefined,
    id?: string,
  ): TranscriptEntry | undefined {
    if (message.role === ROLE.TOKEN) return undefined
    const { excludeRoles, excludePersonas, includeMessageTypes } = this.#config
    if (excludeRoles?.includes(message.role) || excludePersonas?.includes(message.persona)) return undefined
    if (includeMessageTypes?.length) {
      const kind = direction === 'sent' ? OUTBOUND_TYPE[message.role] : type
      if (!includeMessageTypes.some(included => included === kind)) return undefined
    }
    return {
      id: id ?? this.#listener.newId?.() ?? `${++this.#lastId}`,
      message: isDeeperThan(MAX_DEPTH, message.messageData) ? message.clone({ messageData: undefined }) : message,
      direction,
      timestamp: message.timestamp ?? timestamp,
      sessionId: message.sessionId,
      agentId: message.agentId,
    }
  }

  /**
   * Inserts entries, each before the one at its position; positions must not decrease. The oldest are removed where there
   * are too many.
   *
   * @internal
   * @returns how many were removed; {@link TranscriptListener.trimmed} is not called
   */
  insert(added: readonly PlacedEntry<TranscriptEntry>[]): number {
    if (this.#config.enabled === false) {
      for (const { entry } of added) this.noteMissing(entry.message, entry.direction)
      return 0
    }
    this.#entries.insert(added)
    return this.#trim()
  }

  /**
   * Messages that were sent or received and are not stored, so that a history does not bring them back.
   *
   * @internal
   */
  get missing(): readonly KnownMessage[] {
    return this.#missing
  }

  /**
   * Whether every message that was sent or received is either stored or among {@link missing}.
   *
   * @internal
   */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Notes a message that is not stored. */
  noteMissing(message: Message, direction: 'sent' | 'received'): void {
    if (message.role === ROLE.HEARTBEAT || message.role === ROLE.TOKEN) return
    this.#missing.push(knownMessage(message, direction))
    if (this.#missing.length <= 2 * MAX_MISSING) return
    this.#missing = this.#missing.slice(-MAX_MISSING)
    this.#isComplete = false
  }

  /** The entries, in order. Without options the same frozen list until something changes. */
  get(options?: TranscriptOptions): readonly TranscriptEntry[] {
    const entries = this.#entries.get()
    if (!options) return entries
    const { fromTimestamp = -Infinity, toTimestamp = Infinity, direction = 'both', persona, role } = options
    return entries.filter(
      entry =>
        entry.timestamp >= fromTimestamp &&
        entry.timestamp <= toTimestamp &&
        (direction === 'both' || entry.direction === direction) &&
        (persona === undefined || entry.message.persona === persona) &&
        (role === undefined || entry.message.role === role),
    )
  }

  /** The entries as plain data, for storing or sending elsewhere. */
  toJSON(options?: TranscriptOptions): TranscriptRow[] {
    return this.get(options).map(({ message, direction, timestamp }) => ({
      messageId: message.messageId,
      persona: message.persona,
      role: message.role,
      content: message.content,
      messageData: message.messageData,
      timestamp: message.timestamp,
      from: message.from,
      to: message.to,
      agentId: message.agentId,
      sessionId: message.sessionId,
      direction,
      entryTimestamp: timestamp,
    }))
  }

  /** How many entries are stored. */
  get size(): number {
    return this.#entries.size
  }

  /** Removes every entry. */
  clear(): void {
    for (const { message, direction } of this.get()) this.noteMissing(message, direction)
    this.#empty()
  }

  #empty(): void {
    this.#entries.clear()
    this.#listener.cleared?.()
  }

  /** Removes the oldest entries beyond the limits, and returns their number. */
  #trim(): number {
    const { maxEntries = DEFAULT_MAX_ENTRIES, maxBytes = DEFAULT_MAX_BYTES } = this.#config
    const removed = this.#entries.trim(maxEntries, maxBytes)
    if (removed > 0) this.#isComplete = false
    return removed
  }

  #reportTrimmed(removed: number): void {
    if (removed > 0) this.#listener.trimmed?.(removed)
  }
}
