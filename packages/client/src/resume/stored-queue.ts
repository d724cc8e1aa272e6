import { storedUser } from '../auth/authentication-service.ts'
import type { ResolvedConfig } from '../check-config.ts'
import type { DeliveryRecord } from '../log/delivery.ts'
import type { TranscriptEntry } from '../log/entry.ts'
import { detachMessage } from '../log/message.ts'
import {
  isSnapshot,
  type MessageSnapshot,
  recordOf,
  showOnce,
  snapshotOf,
  writtenElsewhere,
} from '../log/reconcile-pages.ts'
import type { QueueStore } from '../outbox/delivery-ledger.ts'
import type { Outbox, OutboxParts } from '../outbox/outbox.ts'
import type { Environment } from '../platform/environment.ts'
import { hasLocks } from '../platform/locks.ts'
import type { AgentScope } from '../scope.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { conversationParts, HandedOver, partsOfUser, RELEASE_LIMIT_MS } from '../storage/handed-over.ts'
import { databaseOf } from '../storage/indexed-db-cache-adapter.ts'
import { ANONYMOUS, KeyedStore, type KeyParts, KINDS } from '../storage/keyed-store.ts'
import { Era } from '../util/era.ts'
import { fnv1a } from '../util/text.ts'

/*
 * With `persistQueue`: what the outbox takes over from the previous page, and leaves for the next one
 * (storage/handed-over.ts). Each agent of a page has its own entry. A separate file in a page.
 *
 *   restore: the messages of each entry of the user that is free are moved to the own entry, and the entry is removed
 *   change:  write the queue; one write at a time, the newest state wins
 *   mark:    before messages leave, they are marked, and the mark is stored first. What the next page finds marked may have
 *            been sent, so it is reported as `unknown` and not sent.
 */

/** Version of a stored queue. It is in its key, and in the name of its lock. */
const QUEUE_VERSION = 1

/** How long a message waits by default, in milliseconds: a day. */
const DEFAULT_WAIT_MS = 86_400_000

/** Longest wait for the stored queue at the start, in milliseconds. */
const RESTORE_LIMIT_MS = 2_000

/** Longest wait for the mark before messages leave, in milliseconds. */
const MARK_LIMIT_MS = 1_000

/** How long the page of a reloaded tab may take to give its lock back, in milliseconds. */
const LOCK_LIMIT_MS = 500

/** A message as it is stored, with the time at which the host sent it. */
interface StoredMessage extends MessageSnapshot {
  /** Set once the message was written, or is about to be. A reader of the store cannot open the session. */
  readonly written?: { readonly sessionFingerprint?: string | undefined }
}

/** The parts that it uses. */
interface StoredQueueParts extends Pick<OutboxParts, 'authentication'> {
  readonly outbox: Outbox
}

class StoredQueue implements QueueStore {
  readonly #scope: AgentScope<never>
  readonly #parts: StoredQueueParts
  /** The id of this tab among those that share the conversation, which have one user; undefined where none do. */
  readonly #tab: string | undefined
  readonly #expiresAfterMs: number
  readonly #left: HandedOver
  /** The key that this tab has used last, in its session storage. Absent where no other page can have used one. */
  readonly #ofTab: KeyedStore<string> | undefined
  /** The conversation whose queue is stored, and the parts of the keys to remove with its user. */
  #place: { readonly scope: string; readonly userParts: KeyParts | undefined } | undefined
  /** Whether every change of the queue is stored. */
  #isStored = false
  #isDirty = false
  /** The conversation of the last {@link restore}. */
  #wanted: string | undefined
  /** Whether the agent goes on with its messages in the next conversation. */
  #isMoving = false
  /** Ends when the queue is left: what was read before is not delivered. */
  #era = new Era()
  /** Entries of the previous page, until the agent is ready. */
  #restored: DeliveryRecord[] = []
  /** Entries that the previous page wrote, until the present session is known. */
  #unplaced: DeliveryRecord[] = []
  /** Until the store has written the mark that must precede what is sent. A later mark ends it. */
  #marking: Era | undefined

  constructor(scope: AgentScope<never>, parts: StoredQueueParts, adapter: CacheAdapter, tab: string | undefined) {
    this.#scope = scope
    this.#parts = parts
    this.#tab = tab
    const { config, environment, logger } = scope
    const { persistQueueMs, cache } = config
    this.#expiresAfterMs = persistQueueMs ?? DEFAULT_WAIT_MS
    this.#left = new HandedOver(scope, 'queue', QUEUE_VERSION, adapter, false)
    const { keyPrefix, contextPrefix } = cache
    if (environment.page?.window)
      this.#ofTab = new KeyedStore(KINDS.queue, { environment, cache: { keyPrefix, contextPrefix }, logger })
  }

  // ── From the previous page ────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Takes over what earlier pages of the user left, oldest first. Resolves, also when the store fails, before the agent may become
   * ready. What a slow store returns later is taken over then, unless the user, the portal or the profile has changed.
   */
  restore(ended: readonly string[] = []): Promise<void> {
    const parts = conversationParts(this.#scope, this.#user, QUEUE_VERSION)
    // The key of an agent outside a page, and the start of those in a page.
    const scope = parts && this.#left.store.key({ ...parts, page: '' })
    if (scope !== this.#wanted) {
      if (this.#depart() && this.#isDirty) {
        const last = this.#toStored()
        void this.#left.run(() => this.#write(last))
      }
      // What was taken over, but not sent, stays in the store.
      if (!this.#isMoving) this.#forgetEntries()
      this.#isMoving = false
    }
    this.#wanted = scope
    const era = this.#era
    return this.#left.runWithin(RESTORE_LIMIT_MS, async () => {
      const messages = parts && scope !== undefined ? await this.#restore(scope, parts, era, ended) : []
      if (!era.isOver) this.#deliver(messages.map(toEntry))
    })
  }

  async #restore(scope: string, parts: KeyParts, era: Era, ended: readonly string[]): Promise<StoredMessage[]> {
    const { environment } = this.#scope
    const window = environment.page?.window
    const left = this.#left
    if (era.isOver) return []
    if (scope === this.#place?.scope && this.isActive) return this.#tab === undefined ? [] : this.#adopt(parts, ended)
    this.#leave()
    this.#place = { scope, userParts: this.#partsOf(this.#user) }
    const key = window ? left.store.key({ ...parts, page: this.#tab ?? environment.randomUUID() }) : scope
    if (!left.claim(key)) return []
    const tabKey = left.store.key({ ...parts, page: 'tab' })
    // Tabs that share a conversation adopt any queue of their user, so that none has to be found first.
    const ofTab = this.#tab !== undefined && !this.#isAnonymous ? undefined : this.#ofTab
    const restored = await this.#adopt(parts, ended, ofTab?.peek(tabKey))
    void ofTab?.set(tabKey, key)
    this.#isStored = !era.isOver
    return restored
  }

  /** Moves the messages that are free for this page to the own entry, oldest first. */
  async #adopt(parts: KeyParts, ended: readonly string[], ofTab?: string): Promise<StoredMessage[]> {
    const { environment } = this.#scope
    const left = this.#left
    const ofEnded = new Set(ended.map(page => left.store.key({ ...parts, page })))
    const mayAdopt = (key: string) =>
      environment.page?.window
        ? key !== left.key && (key === ofTab || !this.#isAnonymous || ofEnded.has(key))
        : key === left.key
    const lists: StoredMessage[][] = []
    const taken: string[] = []
    for (const key of (await left.store.keys(parts)).filter(mayAdopt)) {
      const messages = await left.take(key, key === ofTab ? LOCK_LIMIT_MS : 0)
      if (messages === undefined) continue
      lists.push(readMessages(messages))
      if (key !== left.key) taken.push(key)
    }
    // What the tab has said to the others is in the log of each.
    const isFresh = ({ id, timestamp }: StoredMessage) =>
      environment.clock.now() - timestamp < this.#expiresAfterMs &&
      (this.#tab === undefined || !this.#parts.outbox.log.find(id))
    const ageOf = ([first]: StoredMessage[]) => first?.timestamp ?? 0
    const fresh = lists
      .sort((one, other) => ageOf(one) - ageOf(other))
      .flat()
      .filter(isFresh)
    // Written here before they are removed there: a crash in between leaves them twice, under the same ids.
    const unique = [...new Map(fresh.map(each => [each.id, each])).values()]
    if (!this.isActive) await this.#write(unique)
    else if (unique.length > 0) await this.#write([...this.#toStored(), ...unique])
    if (taken.length > 0 && unique.length > 0 && !(await left.isStored())) return []
    for (const key of taken) await left.store.delete(key)
    return unique
  }

  /** Adds the entries of the previous page once they are read: they are sent when the agent is ready. */
  #deliver(entries: DeliveryRecord[]): void {
    this.#restored.push(...entries)
    if (!this.#scope.status.isReady) return
    this.takeIn()
    // Messages may have been queued before the store could take them.
    this.changed()
    if (entries.length > 0) this.#parts.outbox.connectForMessage()
  }

  /** Adds what the previous page left: unsent messages first in the queue, and what it was sending to the ledger. */
  takeIn(): void {
    const { outbox } = this.#parts
    const { writer, ledger } = outbox
    const entries = this.#restored
    this.#restored = []
    const present = new Set(entries.filter(entry => ledger.isOfSession(entry)))
    if (this.#scope.facts.sessionId === undefined) this.#unplaced.push(...entries.filter(isAdopted))
    outbox.adopt(entries, entry => {
      // Another tab may have said it, so that it is shown.
      if (!isAdopted(entry)) this.#accepted(entry, this.#tab !== undefined)
      // With a receipt it can be sent again safely, in its session.
      else if (ledger.isSentAgain(entry)) this.#accepted(entry, true)
      else if (!ledger.hasKey(entry)) {
        ledger.settle(entry, 'unknown', 'page_ended')
        if (present.has(entry)) this.#show(entry)
      }
      // The sessions before the present one have ended already.
      else if (writer.isOpen) ledger.settle(entry, 'unknown', 'session_ended')
    })
  }

  /** The chat is open. The next page of a portal knows its session only now. */
  handleConnected(): void {
    const entries = this.#unplaced
    this.#unplaced = []
    const { ledger } = this.#parts.outbox
    for (const entry of entries) if (ledger.isOfSession(entry) && !ledger.hasKey(entry)) this.#show(entry)
  }

  /** An entry of the previous page is sent again. */
  handleSentAgain(entry: DeliveryRecord): void {
    if (isAdopted(entry)) this.#accepted(entry, true)
  }

  /** A message without evidence appears in the conversation, unless the history shows it. */
  #show(entry: DeliveryRecord): void {
    const { log } = this.#parts.outbox
    // A listener may have signed the user out.
    if (log.find(entry.id) !== entry) return
    const { message } = entry
    const mayShow = ({ sessionId }: TranscriptEntry) => sessionId === message.sessionId
    showOnce(log, entry, message.toPayloadString().length, mayShow)
  }

  /** A message is sent in the present conversation. */
  #accepted(entry: DeliveryRecord, isAgain: boolean): void {
    this.#parts.outbox.accepted(entry, entry.message.toPayloadString().length, isAgain)
  }

  // ── For the next page ─────────────────────────────────────────────────────────────────────────────────────────────

  /** Whether the queue is stored. */
  get isActive(): boolean {
    return this.#isStored && this.#left.key !== undefined
  }

  /** Whether nothing may be sent, because the store has not marked it yet. */
  get isClaiming(): boolean {
    return this.#marking !== undefined
  }

  /** The queue has changed. */
  changed(): void {
    if (this.#isDirty || !this.isActive) return
    this.#isDirty = true
    void this.#left.run(async () => {
      this.#isDirty = false
      if (this.isActive) await this.#write(this.#toStored())
    })
  }

  /** Lets nothing leave until the store has marked it, or takes too long, so that the next page does not send it too. */
  mark(): void {
    this.#marking?.end()
    const marking = new Era()
    this.#marking = marking
    void this.#storeMarks().then(() => {
      if (marking.isOver) return
      this.#marking = undefined
      this.#parts.outbox.writer.resume()
    })
  }

  async #storeMarks(): Promise<void> {
    if (this.#left.isEmpty || this.#left.isSlow) return
    this.changed()
    await this.#left.runWithin(MARK_LIMIT_MS, async () => {})
  }

  /** The queue as it is stored. Questions are left out: their promise ends with the page. */
  #toStored(isOpen = this.#parts.outbox.writer.isOpen): StoredMessage[] {
    const { ledger, log } = this.#parts.outbox
    const claim = isOpen ? { sessionId: this.#scope.facts.sessionId } : undefined
    const sent = this.#scope.facts.wire.confirms
      ? log.unproven.filter(entry => entry.list === log.sent && ledger.hasKey(entry))
      : []
    const entries = [...sent, ...this.#restored, ...log.queued].filter(({ reply }) => !reply)
    return entries.map(entry => toStored(entry, claim))
  }

  #write(messages: StoredMessage[]): Promise<void> {
    if (messages.length === 0) return this.#left.write(undefined)
    const newest = Math.max(...messages.map(({ timestamp }) => timestamp))
    return this.#left.write(messages, newest + this.#expiresAfterMs)
  }

  // ── The end ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Removes everything of the user. */
  async forgetUser(user: string | undefined): Promise<void> {
    this.#forgetEntries()
    const parts = this.#place?.userParts ?? this.#partsOf(user)
    if (!this.#place && user === undefined && !this.#scope.environment.page) this.#left.forgetUnknownUser()
    this.#depart()
    if (!parts) return
    await this.#left.remove(async () => {
      await Promise.all([this.#left.store.remove(parts), this.#ofTab?.remove(parts)])
      this.#leave()
    })
  }

  /** The user of the agent is another one soon, and keeps the queue: {@link restore} then stores it for that user. */
  leave(): Promise<void> {
    this.#isMoving = true
    return this.#end([])
  }

  /** The agent is destroyed: the next one may take its last queue over. Nothing more is sent. */
  release(): Promise<void> {
    return this.#end(this.#toStored(false))
  }

  async #end(last: StoredMessage[]): Promise<void> {
    const isStored = this.#depart()
    await this.#left.runWithin(RELEASE_LIMIT_MS, async () => {
      if (isStored) await this.#write(last)
      this.#leave()
    })
  }

  /** Nothing more is stored in the present place. Returns whether the queue was stored there. */
  #depart(): boolean {
    const wasActive = this.isActive
    this.#isStored = false
    this.#wanted = undefined
    this.#era = this.#era.end()
    return wasActive
  }

  #leave(): void {
    this.#left.leave()
    this.#place = undefined
  }

  /** Forgets the entries of the previous page, which are in the store. */
  #forgetEntries(): void {
    this.#restored = []
    this.#unplaced = []
  }

  get #user(): string | undefined {
    return storedUser(this.#scope, this.#parts.authentication)
  }

  /** Whether the user is anonymous: then only the queues of this tab and of its conversation are restored. */
  get #isAnonymous(): boolean {
    return this.#user === ANONYMOUS
  }

  /** The parts of the keys of a user: of all queues, or, in a page of an unknown user, of all users. */
  #partsOf(user: string | undefined): KeyParts | undefined {
    return partsOfUser(this.#scope, user, this.#scope.environment.page !== undefined)
  }
}

/**
 * Creates the part that stores the queue: in IndexedDB in a page, in the configured adapter elsewhere; undefined, with a warning,
 * without either.
 *
 * @param tab the id of this tab among those that share the conversation
 */
export async function createStoredQueue(
  scope: AgentScope<never>,
  parts: StoredQueueParts,
  tab: string | undefined,
): Promise<StoredQueue | undefined> {
  const adapter = await openStore(scope)
  return adapter && new StoredQueue(scope, parts, adapter, tab)
}

/** The store that outlives the page or the process; undefined, with a warning, where there is none. */
async function openStore({ config, environment, logger }: AgentScope<never>): Promise<CacheAdapter | undefined> {
  const { cache } = config
  const { page } = environment
  const missing = await findMissing(cache, page)
  if (missing) return void logger.warn(`\`persistQueue\` has no effect: ${missing}.`)
  return page?.window ? databaseOf(page.window) : cache.adapter
}

async function findMissing(cache: ResolvedConfig['cache'], page: Environment['page']): Promise<string | undefined> {
  if (cache.enabled === false) return '`cache.enabled` is false'
  if (!page?.window) return cache.adapter ? undefined : 'outside a page it needs `cache.adapter`'
  if (!(await hasLocks(page.window)))
    return 'the browser has no Web Locks or denies them to the page, or the page is not served over HTTPS'
  return typeof indexedDB === 'undefined' ? 'the page has no IndexedDB' : undefined
}

/** Removes the expired queues of every user and deployment from the page's database: a store removes what it finds expired. */
export async function sweepQueues(environment: Environment, window: object): Promise<void> {
  const adapter = databaseOf(window)
  const store = new KeyedStore(KINDS.queue, { environment, adapter })
  for (const key of await adapter.keys()) await store.get(key)
}

// ── The stored form of a message ─────────────────────────────────────────────────────────────────────────────────────

/** The messages of a stored value. Other values are ignored. */
function readMessages(value: unknown): StoredMessage[] {
  return Array.isArray(value) ? value.filter(isSnapshot) : []
}

/** @param claim the session in which a queued message may be written at any time; undefined while it waits */
function toStored(
  record: DeliveryRecord,
  claim: { readonly sessionId: string | undefined } | undefined,
): StoredMessage {
  const { timestamp, state, written } = record
  const mark = state === 'sent' ? written : claim
  const place = state === 'sent' ? written?.opening : claim
  const sessionId = typeof place === 'object' ? place.sessionId : undefined
  const sessionFingerprint = written?.sessionFingerprint ?? (sessionId === undefined ? undefined : fnv1a(sessionId))
  return { ...snapshotOf(record), timestamp, ...(mark && { written: { sessionFingerprint } }) }
}

/** A stored message as an entry of the outbox. */
function toEntry({ written, ...snapshot }: StoredMessage): DeliveryRecord {
  const entry = recordOf(snapshot)
  // Frozen: what a listener changes is not sent.
  entry.message = detachMessage(entry.message, entry.message.toPayloadString())
  return written ? { ...entry, state: 'sent', written: writtenElsewhere(written.sessionFingerprint) } : entry
}

/** Whether the previous page wrote the entry, and this one has not written it yet. */
function isAdopted({ written }: DeliveryRecord): boolean {
  return written?.opening === 'another page'
}
