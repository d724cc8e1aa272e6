import { ROLE } from '@aiagent/protocol'
import type { AgentScope } from '../scope.ts'
import { isDeeperThan } from '../util/json.ts'
import { sha256 } from '../util/sha256.ts'
import type {
  TranscriptConfig,
  TranscriptEntry,
  TranscriptMessageType,
  TranscriptOptions,
  TranscriptRow,
} from './entry.ts'
import { composeMessage, type Message, type MessageObject } from './message.ts'
import { type KnownMessage, knownMessage, type NewMessage } from './reconcile.ts'

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

/** What the transcript of an agent uses of it. */
type TranscriptScope = Pick<
  AgentScope<'transcriptUpdate' | 'transcriptTrimmed' | 'transcriptCleared'>,
  'emit' | 'newId'
>

/** Maximum number of messages that are not stored and are still recognized in a history. */
const MAX_MISSING = 2_000

/** What {@link Transcript.insert} has done. */
export interface InsertedHistory {
  /** The new messages with their entries, where the filters of the transcript admit them. */
  readonly inserted: readonly { readonly message: Message; readonly entry: TranscriptEntry | undefined }[]
  /** Number of entries that were removed because of the bounds, which {@link Transcript.reportTrimmed} emits. */
  readonly removed: number
}

/** The messages of the conversation, in order. Owns the entries and their filters. */
export class Transcript {
  #config: TranscriptConfig
  readonly #scope: TranscriptScope | undefined
  /** Entries from `#first` on; earlier elements are empty and removed from time to time. */
  #entries: (TranscriptEntry | undefined)[] = []
  /** Lengths of the frames of `#entries`. */
  #sizes: number[] = []
  #first = 0
  /** Sum of the lengths from `#first` on. */
  #length = 0
  #snapshot: readonly TranscriptEntry[] | undefined
  /** Number of the last id, where no agent creates one. */
  #lastId = 0
  #missing: KnownMessage[] | undefined
  #isComplete = true

  constructor(config?: TranscriptConfig)
  /** @internal */
  constructor(config?: TranscriptConfig, scope?: TranscriptScope)
  constructor(config: TranscriptConfig = {}, scope?: TranscriptScope) {
    this.#config = config
    this.#scope = scope
  }

  /** Removes every entry, and what is known of messages that are not stored: another user follows. */
  forgetUser(): void {
    this.#missing = undefined
    this.#isComplete = true
    this.#empty()
  }

  /** Changes some of the settings. */
  updateConfig(config: TranscriptConfig): void {
    this.#config = { ...this.#config, ...config }
    this.reportTrimmed(this.#trim())
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
    const created = this.#entryOf(message, direction, timestamp, type)
    const entry: TranscriptEntry | undefined = created && isRecovered ? { ...created, recovered: true } : created
    if (!entry || this.#config.enabled === false) this.noteMissing(message, direction)
    if (!entry) return undefined
    let removed = 0
    if (this.#config.enabled !== false) {
      this.#entries.push(entry)
      this.#sizes.push(size)
      this.#length += size
      this.#snapshot = undefined
      removed = this.#trim()
    }
    this.report(entry)
    this.reportTrimmed(removed)
    return entry
  }

  /** The entry of a message, unless the filters keep it out. Without an `id` it gets a new one. */
  #entryOf(
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
      id: id ?? this.#scope?.newId() ?? `${++this.#lastId}`,
      message: isDeeperThan(MAX_DEPTH, message.messageData) ? message.clone({ messageData: undefined }) : message,
      direction,
      timestamp: message.timestamp ?? timestamp,
      sessionId: message.sessionId,
      agentId: message.agentId,
    }
  }

  /**
   * Inserts messages of a history of a session. The oldest entries are removed where there are too many.
   *
   * @internal
   * @param typeOf kind of a received message, as its handler names it
   * @param mark fields of the entries beside those of the message
   */
  insert(
    added: readonly NewMessage[],
    sessionId: string,
    typeOf: (message: Message) => string | undefined,
    mark: { readonly recovered?: true } = {},
  ): InsertedHistory {
    // Usually nothing was missed.
    if (added.length === 0) return { inserted: [], removed: 0 }
    const ids = new Set(this.get().map(({ id }) => id))
    const placed: { readonly entry: TranscriptEntry; readonly size: number; readonly position: number }[] = []
    // The last number of each base: in a history without ids and times all messages may have the same one.
    const numbers = new Map<string, number>()
    // Ids reach pages, exports and recordings. The session id opens the conversation, so it is not in them.
    const session = sha256(sessionId).slice(0, 16)
    const inserted = added.map(({ message: given, direction, timestamp, size, position }) => {
      // Made of the session and the message, so that it is the same after each reload.
      const base = `${session}:${given.messageId ?? timestamp}`
      let id = base
      let number = numbers.get(base) ?? 1
      while (ids.has(id)) id = `${base}:${++number}`
      numbers.set(base, number)
      ids.add(id)
      // The service does not know the id of a message of the user.
      const message = given.messageId === undefined ? given.clone({ messageId: id }) : given
      const type = direction === 'received' ? typeOf(message) : undefined
      const created = this.#entryOf(message, direction, timestamp, type, id)
      const entry = created && { ...created, ...mark }
      if (entry && this.#config.enabled !== false) placed.push({ entry, size, position })
      else this.noteMissing(message, direction)
      return { message, entry }
    })
    this.#compact()
    // From the last to the first, so that the positions stay right.
    for (const { entry, size, position } of placed.reverse()) {
      this.#entries.splice(position, 0, entry)
      this.#sizes.splice(position, 0, size)
      this.#length += size
    }
    this.#snapshot = undefined
    return { inserted, removed: this.#trim() }
  }

  /**
   * Messages that were sent or received and are not stored, so that a history does not bring them back.
   *
   * @internal
   */
  get missing(): readonly KnownMessage[] {
    return this.#missing ?? []
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
    this.#missing ??= []
    this.#missing.push(knownMessage(message, direction === 'sent'))
    if (this.#missing.length <= 2 * MAX_MISSING) return
    this.#missing = this.#missing.slice(-MAX_MISSING)
    this.#isComplete = false
  }

  /** The entries, in order. Without options the same frozen list until something changes. */
  get(options?: TranscriptOptions): readonly TranscriptEntry[] {
    this.#snapshot ??= this.size === 0 ? NONE : Object.freeze(this.#entries.slice(this.#first) as TranscriptEntry[])
    const entries = this.#snapshot
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
      ...message,
      direction,
      entryTimestamp: timestamp,
    }))
  }

  /** How many entries are stored. */
  get size(): number {
    return this.#entries.length - this.#first
  }

  /** Removes every entry. */
  clear(): void {
    for (const { message, direction } of this.get()) this.noteMissing(message, direction)
    this.#empty()
  }

  #empty(): void {
    this.#entries = []
    this.#sizes = []
    this.#first = this.#length = 0
    this.#snapshot = undefined
    this.#scope?.emit('transcriptCleared', () => ({}))
  }

  /** Emits `transcriptUpdate` for an entry. @internal */
  report(entry: TranscriptEntry): void {
    this.#scope?.emit('transcriptUpdate', () => {
      const { id, message, direction, timestamp, sessionId, agentId } = entry
      // Spreading an entry, and adding a field to it, costs as much as encoding a short message.
      const fields = { id, message, direction, timestamp, sessionId, agentId, entry }
      return entry.recovered ? { ...fields, recovered: true } : fields
    })
  }

  /** Emits `transcriptTrimmed`, if entries were removed. @internal */
  reportTrimmed(removed: number): void {
    if (removed > 0) this.#scope?.emit('transcriptTrimmed', () => ({ removed }))
  }

  /** Removes the oldest entries beyond the limits, and returns their number. */
  #trim(): number {
    const { maxEntries = DEFAULT_MAX_ENTRIES, maxBytes = DEFAULT_MAX_BYTES } = this.#config
    const entries = this.#entries
    const first = this.#first
    while (this.#first < entries.length && (entries.length - this.#first > maxEntries || this.#length > maxBytes)) {
      this.#length -= this.#sizes[this.#first] ?? 0
      entries[this.#first++] = undefined
    }
    const removed = this.#first - first
    if (removed === 0) return 0
    this.#snapshot = undefined
    this.#isComplete = false
    // Shifting the array for each entry is slow: it is cut when more than half is empty.
    if (this.#first * 2 > entries.length) this.#compact()
    return removed
  }

  #compact(): void {
    this.#entries = this.#entries.slice(this.#first)
    this.#sizes = this.#sizes.slice(this.#first)
    this.#first = 0
  }
}

/** The list of every empty transcript. */
const NONE: readonly never[] = /* @__PURE__ */ Object.freeze([])

/** Records a message of the chat itself that was written: the stored context, or the disconnect frame. */
export function recordOwnFrame(scope: AgentScope<never>, transcript: Transcript, written: MessageObject): void {
  const { status, config, environment, facts } = scope
  // The transcript is that of the next user already; and of a tab that leaves, the service receives nothing.
  if (status.isLeaving || config.tabs) return
  transcript.record(composeMessage(written, {}, scope, facts), 'sent', environment.clock.now())
}
