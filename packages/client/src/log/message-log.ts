import { ROLE } from '@aiagent/protocol'
import type { AgentScope } from '../scope.ts'
import { sha256 } from '../util/sha256.ts'
import { isDeeperThan } from '../util/values.ts'
import { type DeliveryRecord, forgetText, RecordList, stateOf } from './delivery.ts'
import type {
  TranscriptConfig,
  TranscriptEntry,
  TranscriptMessageType,
  TranscriptOptions,
  TranscriptRow,
} from './entry.ts'
import { answerDigest, composeMessage, MAX_DATA_DEPTH, type Message, type MessageObject } from './message.ts'
import { type KnownMessage, knownMessage, type NewMessage, traceOf } from './reconcile.ts'

const OUTBOUND_TYPE: Readonly<Record<string, TranscriptMessageType>> = {
  [ROLE.HUMAN]: 'customer_message',
  [ROLE.CONTEXT]: 'context_message',
  [ROLE.FEEDBACK]: 'feedback_message',
  [ROLE.ESCALATION]: 'escalation_message',
  [ROLE.GRACEFUL_DISCONNECT]: 'disconnect_message',
}

const DEFAULT_MAX_ENTRIES = 5_000

const DEFAULT_MAX_BYTES = 8 * 1024 * 1024

/** What the log of an agent uses of it. */
type LogScope = Pick<AgentScope<'transcriptUpdate' | 'transcriptTrimmed' | 'transcriptCleared'>, 'emit' | 'newId'>

/** Maximum number of messages without an entry and without a record that are still recognized in a history. */
const MAX_MISSING = 2_000

/** What {@link MessageLog.insert} has done. */
export interface InsertedHistory {
  /** The new messages with their entries, where the filters of the transcript admit them. */
  readonly inserted: readonly { readonly message: Message; readonly entry: TranscriptEntry | undefined }[]
  /** Number of entries that were removed because of the bounds, which {@link MessageLog.reportTrimmed} emits. */
  readonly removed: number
}

/** How many settled messages are kept at least, and how many `unknown` ones can be sent again. {@link OBSERVED_LIMIT} bounds them. */
export const SETTLED_LIMIT = 1_000

/** How many messages without evidence are observed: those that were sent, without receipts, and the `unknown` ones. */
export const OBSERVED_LIMIT = 10_000

/*
 * The messages of a conversation. Owns the transcript, and the record of every outbound message, in one of these lists:
 *
 *   awaiting, held, queued ──► sent ──► settled: acknowledged, failed, cancelled
 *                 elsewhere ───┴ └────► unknown ──► acknowledged
 *
 * A message keeps its text as long as it may be written or the transcript has it. Then a fingerprint is left, by which a history
 * still shows it.
 */
export class MessageLog {
  #config: TranscriptConfig
  readonly #scope: LogScope | undefined
  /** Entries from `#first` on; earlier elements are empty and removed from time to time. */
  #entries: (TranscriptEntry | undefined)[] = []
  /** Lengths of the frames of `#entries`. */
  #sizes: number[] = []
  #first = 0
  /** Sum of the lengths from `#first` on. */
  #length = 0
  #snapshot: readonly TranscriptEntry[] | undefined
  /** The message ids of the entries; created with the first search. */
  #shown: Set<string | undefined> | undefined
  /** Number of the last id, where no agent creates one. */
  #lastId = 0
  #missing: KnownMessage[] | undefined
  /** The answers of a session by what a repetition has in common with them. */
  readonly #answers: { sessionId?: string | undefined; digests: Set<number> } = { digests: new Set() }
  #isComplete = true
  /** Created with the first search: it takes a quarter of a send. Of two with the same id it has the later one. */
  #index: Map<string, DeliveryRecord> | undefined
  /** Questions whose turn has not come. */
  readonly awaiting = new RecordList()
  /** Wait until the agent is ready. */
  readonly held = new RecordList()
  /** Wait until the connection is ready. */
  readonly queued = new RecordList()
  /** Written, and neither proven nor given up. */
  readonly sent = new RecordList()
  /** What other tabs have sent, as long as this one knows of no outcome. */
  readonly elsewhere = new RecordList()
  /** In the order of their settlement. A later history may show them. */
  readonly #unknown = new RecordList()
  /** In the order of their settlement; without the `unknown` ones. */
  readonly #settled = new RecordList()
  /** Number of `unknown` messages that are no longer observed: their texts in a history could be taken for other messages'. */
  unobserved = 0

  /** @param scope undefined for a log that the host app constructs */
  constructor(config: TranscriptConfig, scope?: LogScope) {
    this.#config = config
    this.#scope = scope
  }

  // ── The transcript ────────────────────────────────────────────────────────────────────────────────────────────────

  /** Removes every entry, and what is known of messages that are not stored: another user follows. */
  forgetUser(): void {
    this.#missing = undefined
    this.#answers.digests.clear()
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
   * @param record that of a sent message
   * @returns the entry, or undefined where the filters keep it out; it is stored only with `enabled`
   */
  record(
    message: Message,
    direction: 'sent' | 'received',
    timestamp: number,
    type?: string,
    size = message.content?.length ?? 0,
    isRecovered = false,
    record?: DeliveryRecord,
  ): TranscriptEntry | undefined {
    const isStored = this.#config.enabled !== false
    const entry = this.#entryOf(message, direction, timestamp, type, isRecovered)
    if (!record && !(entry && isStored)) this.noteMissing(message, direction)
    if (!entry) return undefined
    let removed = 0
    if (isStored) {
      this.#entries.push(entry)
      this.#sizes.push(size)
      this.#length += size
      this.#snapshot = undefined
      this.#shown?.add(message.messageId)
      if (record) record.isShown = true
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
    isRecovered: boolean,
    id = this.#scope?.newId() ?? `${++this.#lastId}`,
  ): TranscriptEntry | undefined {
    if (message.role === ROLE.TOKEN) return undefined
    const { excludeRoles, excludePersonas, includeMessageTypes } = this.#config
    if (excludeRoles?.includes(message.role) || excludePersonas?.includes(message.persona)) return undefined
    if (includeMessageTypes?.length) {
      const kind = direction === 'sent' ? OUTBOUND_TYPE[message.role] : type
      if (!includeMessageTypes.some(included => included === kind)) return undefined
    }
    const entry = {
      id,
      message: isDeeperThan(MAX_DATA_DEPTH, message.messageData) ? message.clone({ messageData: undefined }) : message,
      direction,
      timestamp: message.timestamp ?? timestamp,
      sessionId: message.sessionId,
      agentId: message.agentId,
    }
    return Object.freeze(isRecovered ? { ...entry, recovered: true } : entry)
  }

  /**
   * Inserts messages of a history of a session. The oldest entries are removed where there are too many.
   *
   * @internal
   * @param typeOf kind of a received message, as its handler names it
   */
  insert(
    added: readonly NewMessage[],
    sessionId: string,
    typeOf: (message: Message) => string | undefined,
    isRecovered = false,
  ): InsertedHistory {
    // Usually nothing was missed.
    if (added.length === 0) return { inserted: [], removed: 0 }
    const ids = new Set(this.entries().map(({ id }) => id))
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
      this.noteAnswer(given)
      const type = direction === 'received' ? typeOf(message) : undefined
      const entry = this.#entryOf(message, direction, timestamp, type, isRecovered, id)
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
    this.#snapshot = this.#shown = undefined
    return { inserted, removed: this.#trim() }
  }

  /**
   * Messages that were sent or received and are not stored, so that a history does not bring them back, in the order of their times.
   *
   * @internal
   */
  get missing(): readonly KnownMessage[] {
    const sent = this.accepted.filter(({ isShown, message }) => !isShown && isTraced(message))
    const known = [...(this.#missing ?? []), ...sent.map(({ message, trace }) => trace ?? traceOf(message))]
    return known.sort((one, other) => (one.timestamp ?? 0) - (other.timestamp ?? 0))
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
    if (!isTraced(message)) return
    this.noteAnswer(message)
    this.#missing ??= []
    this.#missing.push(knownMessage(message, direction === 'sent'))
    if (this.#missing.length <= 2 * MAX_MISSING) return
    this.#missing = this.#missing.slice(-MAX_MISSING)
    this.#isComplete = false
  }

  /**
   * Notes an answer of the agent. Returns whether the session has it already: services send their last ones again after an
   * opening.
   */
  noteAnswer(message: Message): boolean {
    const answers = this.#answers
    const digest = answerDigest(message)
    if (digest === undefined) return false
    if (answers.sessionId !== message.sessionId) {
      answers.sessionId = message.sessionId
      answers.digests.clear()
    }
    return answers.digests.size === answers.digests.add(digest).size
  }

  /** The entries, in order. Without options the same frozen list until something changes. */
  entries(options?: TranscriptOptions): readonly TranscriptEntry[] {
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
    return this.entries(options).map(({ message, direction, timestamp }) => ({
      ...message,
      direction,
      entryTimestamp: timestamp,
    }))
  }

  /** Whether an entry shows the message with an id. */
  shows(id: string): boolean {
    this.#shown ??= new Set(this.entries().map(({ message }) => message.messageId))
    return this.#shown.has(id)
  }

  /** How many entries are stored. */
  get size(): number {
    return this.#entries.length - this.#first
  }

  /** Removes every entry. */
  clear(): void {
    const accepted = this.accepted
    const recorded = new Set<string | undefined>(accepted.map(({ id }) => id))
    this.#isComplete &&= this.size <= MAX_MISSING
    for (const entry of this.entries().slice(-MAX_MISSING)) {
      const { message, direction } = entry
      const isRecorded = recorded.has(message.messageId) || CLAIMED.has(entry)
      if (direction === 'received' || !isRecorded) this.noteMissing(message, direction)
    }
    this.#empty()
    for (const record of accepted) record.isShown = false
    for (const record of this.#settled) if (record.state !== 'failed') forgetText(record)
  }

  #empty(): void {
    this.#entries = []
    this.#sizes = []
    this.#first = this.#length = 0
    this.#snapshot = this.#shown = undefined
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
      this.#shown?.delete(entries[this.#first]?.message.messageId)
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

  // ── The records of outbound messages ──────────────────────────────────────────────────────────────────────────────

  /** Number of messages that were not written yet. */
  get waitingCount(): number {
    return this.awaiting.size + this.held.size + this.queued.size
  }

  isWaiting(id: string): boolean {
    const record = this.find(id)
    return record !== undefined && stateOf(record) === 'queued'
  }

  find(id: string): DeliveryRecord | undefined {
    this.#index ??= new Map(
      [...this.accepted, ...this.held, ...this.awaiting]
        .sort((one, other) => one.timestamp - other.timestamp)
        .map(record => [record.id, record]),
    )
    return this.#index.get(id)
  }

  /** A message has been accepted, or is sent once more. */
  add(record: DeliveryRecord, list?: RecordList): void {
    const known = this.#index?.get(record.id)
    // This tab sends it for that one, or its host has given it the same id.
    if (known?.elsewhere && known !== record) known.list?.delete(known)
    this.#index?.set(record.id, record)
    list?.add(record)
  }

  /** Takes a message out that was not written yet. Returns whether it was one. */
  remove(record: DeliveryRecord): boolean {
    if (!record.list || stateOf(record) !== 'queued') return false
    record.list.delete(record)
    return true
  }

  /** Takes out all messages of lists of waiting ones. They are found until they are settled. */
  take(...lists: RecordList[]): DeliveryRecord[] {
    const records = lists.flatMap(list => [...list])
    // Creates the index.
    if (records[0]) this.find(records[0].id)
    for (const record of records) record.list?.delete(record)
    return records
  }

  /** What was written without evidence so far, the `unknown` ones included, in the order of the first writes. */
  get unproven(): DeliveryRecord[] {
    return [...this.#unknown, ...this.sent].sort(byOrder)
  }

  /** What the conversation has, written or queued, by this page or another tab, in no order. */
  get accepted(): DeliveryRecord[] {
    return [...this.#settled, ...this.#unknown, ...this.elsewhere, ...this.sent, ...this.queued]
  }

  /** A message has an outcome. */
  addSettled(record: DeliveryRecord): void {
    const { state } = record
    const list = state === 'unknown' ? this.#unknown : this.#settled
    list.add(record)
    if (state === 'acknowledged' || state === 'cancelled') {
      record.isInDoubt = false
      forgetText(record)
    }
    this.trim()
  }

  /** Forgets the oldest settled messages. Of the `unknown` ones as many stay as may be observed. */
  trim(): void {
    const observed = Math.max(SETTLED_LIMIT, OBSERVED_LIMIT - this.sent.size)
    while (this.#settled.size > SETTLED_LIMIT) this.#forgetFirst(this.#settled)
    while (this.#unknown.size > observed) this.#forgetFirst(this.#unknown)
  }

  /** Lets the texts go of messages that are not written again: what was sent until a time, and the older `unknown` ones. */
  forgetTexts(until: number): void {
    for (const record of this.sent) if (record.written && record.written.at <= until) forgetText(record)
    let old = this.#unknown.size - SETTLED_LIMIT
    for (const record of this.#unknown) if (old-- > 0) forgetText(record)
  }

  #forgetFirst(list: RecordList): void {
    const record = list.first as DeliveryRecord
    list.delete(record)
    if (this.#index?.get(record.id) === record) this.#index.delete(record.id)
    if (list === this.#unknown) this.unobserved++
    this.#isComplete &&= record.isShown === true || !isTraced(record.message)
  }

  /** Removes every message that has been settled. What a listener has sent meanwhile waits on. */
  forgetSettled(): void {
    this.#index = undefined
    for (const record of [...this.#settled, ...this.#unknown]) record.list?.delete(record)
  }
}

/** Entries of histories, each of which shows a message of another page that has a record. An entry is of one log. */
export const CLAIMED: WeakSet<TranscriptEntry> = /* @__PURE__ */ new WeakSet()

/** Whether a message may be in a history. */
function isTraced({ role }: Message): boolean {
  return role !== ROLE.HEARTBEAT && role !== ROLE.TOKEN
}

function byOrder(one: DeliveryRecord, other: DeliveryRecord): number {
  return (one.written?.order ?? 0) - (other.written?.order ?? 0)
}

/** The list of every empty transcript. */
const NONE: readonly never[] = /* @__PURE__ */ Object.freeze([])

/** Records a message of the chat itself that was written: the stored context, or the disconnect frame. */
export function recordOwnFrame(scope: AgentScope<never>, log: MessageLog, written: MessageObject): void {
  const { status, config, environment, facts } = scope
  // The transcript is that of the next user already; and of a tab that leaves, the service receives nothing.
  if (status.isLeaving || config.tabs) return
  log.record(composeMessage(written, {}, scope, facts), 'sent', environment.clock.now())
}
