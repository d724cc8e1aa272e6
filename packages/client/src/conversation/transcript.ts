import type { MessageData } from '@aiagent/protocol'
import { ROLE } from '@aiagent/protocol'
import type { Message } from '../outbox/message.ts'

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

/** Whether and which messages the transcript keeps. Token frames are never kept. */
export interface TranscriptConfig {
  /** False: nothing is stored; `transcriptUpdate` is emitted all the same. @default true */
  enabled?: boolean
  /** Roles that are left out. @default [] */
  excludeRoles?: string[]
  /** Personas that are left out. @default [] */
  excludePersonas?: string[]
  /** Only these kinds of messages; empty means all. @default [] */
  includeMessageTypes?: TranscriptMessageType[]
  /** How many entries are kept; the oldest go first. @default Infinity */
  maxEntries?: number
}

/** Which entries to read. All given conditions must hold. */
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

/** One message with its direction and place. */
export interface TranscriptEntry {
  readonly message: Message
  /** As the host sees it. */
  readonly direction: 'sent' | 'received'
  /** The message's own moment, in milliseconds since the epoch. */
  readonly timestamp: number
  readonly sessionId: string | undefined
  readonly agentId: string | undefined
}

/** An entry as plain data. */
export interface TranscriptRow {
  messageId: string | undefined
  persona: string
  role: string
  content: string | undefined
  messageData: MessageData | undefined
  /** The message's own moment, where it has one, in milliseconds since the epoch. */
  timestamp: number | undefined
  from: string | undefined
  to: string | undefined
  agentId: string | undefined
  sessionId: string | undefined
  direction: 'sent' | 'received'
  /** The entry's moment, in milliseconds since the epoch. */
  entryTimestamp: number
}

const OUTBOUND_TYPE: Readonly<Record<string, TranscriptMessageType>> = {
  [ROLE.HUMAN]: 'customer_message',
  [ROLE.CONTEXT]: 'context_message',
  [ROLE.FEEDBACK]: 'feedback_message',
  [ROLE.ESCALATION]: 'escalation_message',
  [ROLE.GRACEFUL_DISCONNECT]: 'disconnect_message',
}

/** What was said, in order. It owns the entries and the filters that decide about them. */
export class Transcript {
  #config: TranscriptConfig
  /** Entries from `#first` on; what lies before has been dropped and waits for its memory to be given back. */
  #entries: TranscriptEntry[] = []
  #first = 0
  #snapshot: readonly TranscriptEntry[] | undefined

  constructor(config: TranscriptConfig = {}) {
    this.#config = config
  }

  forgetUser(): void {
    this.clear()
  }

  /** Changes some of the settings from now on. */
  updateConfig(config: TranscriptConfig): void {
    this.#config = { ...this.#config, ...config }
    this.#trim()
  }

  /**
   * Records a message that was accepted for sending, or received.
   *
   * @param type kind of a received message, as its handler names it
   * @returns the entry, or undefined where the filters keep it out; it is stored only with `enabled`
   */
  record(
    message: Message,
    direction: 'sent' | 'received',
    timestamp: number,
    type?: string,
  ): TranscriptEntry | undefined {
    const entry = this.entryOf(message, direction, timestamp, type)
    if (entry && this.#config.enabled !== false) {
      this.#entries.push(entry)
      this.#snapshot = undefined
      this.#trim()
    }
    return entry
  }

  /** The entry of a message, unless the filters keep it out. */
  entryOf(
    message: Message,
    direction: 'sent' | 'received',
    timestamp: number,
    type: string | undefined,
  ): TranscriptEntry | undefined {
    if (message.role === ROLE.TOKEN) return undefined
    const { excludeRoles, excludePersonas, includeMessageTypes } = this.#config
    if (excludeRoles?.includes(message.role) || excludePersonas?.includes(message.persona)) return undefined
    if (includeMessageTypes?.length) {
      const kind = direction === 'sent' ? OUTBOUND_TYPE[message.role] : type
      if (!includeMessageTypes.some(included => included === kind)) return undefined
    }
    return {
      message,
      direction,
      timestamp: message.timestamp ?? timestamp,
      sessionId: message.sessionId,
      agentId: message.agentId,
    }
  }

  /** Puts other entries into the place of all there are; the oldest go first where there are too many. */
  replace(entries: readonly TranscriptEntry[]): void {
    if (this.#config.enabled === false) return
    this.clear()
    this.#entries = [...entries]
    this.#trim()
  }

  /** The entries, in order. Without options the same frozen list until something changes. */
  get(options?: TranscriptOptions): readonly TranscriptEntry[] {
    this.#snapshot ??= Object.freeze(this.#entries.slice(this.#first))
    if (!options) return this.#snapshot
    const { fromTimestamp = -Infinity, toTimestamp = Infinity, direction = 'both', persona, role } = options
    return this.#snapshot.filter(
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
    return this.#entries.length - this.#first
  }

  /** Forgets every entry. */
  clear(): void {
    this.#entries = []
    this.#first = 0
    this.#snapshot = undefined
  }

  #trim(): void {
    const { maxEntries = Infinity } = this.#config
    const first = this.#entries.length - Math.max(0, maxEntries)
    if (first <= this.#first) return
    this.#first = first
    this.#snapshot = undefined
    // Shifting the array at each entry is slow: it is cut when more was dropped than is kept.
    if (this.#first * 2 <= this.#entries.length) return
    this.#entries = this.#entries.slice(this.#first)
    this.#first = 0
  }
}
