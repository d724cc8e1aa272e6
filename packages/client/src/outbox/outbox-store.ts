import type { ResolvedConfig } from '../check-config.ts'
import type { TranscriptEntry } from '../log/entry.ts'
import { addressMessage } from '../log/message.ts'
import { findEntry } from '../log/reconcile.ts'
import type { Transcript } from '../log/transcript.ts'
import type { Environment } from '../platform/environment.ts'
import { hasLocks } from '../platform/locks.ts'
import type { AgentScope } from '../scope.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { ANONYMOUS, conversationParts, type LeftValue, partsOfUser } from '../storage/handed-over.ts'
import { databaseOf } from '../storage/indexed-db-cache-adapter.ts'
import { KeyedStore, KINDS } from '../storage/keyed-store.ts'
import type { StoreWarning } from '../storage/store-guard.ts'
import { Era } from '../util/era.ts'
import type { OutboxEntry } from './delivery.ts'
import type { QueueStore } from './ledger.ts'
import type { Outbox } from './outbox.ts'
import { DEFAULT_WAIT_MS, isAdopted, QUEUE_VERSION, type QueueSnapshot, StoredQueue } from './stored-queue.ts'

/**
 * With `persistQueue`: what the outbox takes over from the previous page, and leaves for the next one. Part of the chunk of
 * the stored queue.
 */
export class OutboxStore implements QueueStore {
  readonly #scope: AgentScope<never>
  readonly #queue: StoredQueue
  readonly #outbox: Outbox
  readonly #transcript: Transcript
  /** Entries of the previous page, until the agent is ready. */
  #restored: OutboxEntry[] = []
  /** Entries that the previous page wrote, until the present session is known. */
  #unplaced: OutboxEntry[] = []
  /** Messages of a history, each of which shows one of the previous page. */
  readonly #claimed = new WeakSet<TranscriptEntry>()
  /** Until the store has written the mark that must precede what is sent. A later mark ends it. */
  #claim: Era | undefined

  constructor(scope: AgentScope<never>, queue: StoredQueue, outbox: Outbox, transcript: Transcript) {
    this.#scope = scope
    this.#queue = queue
    this.#outbox = outbox
    this.#transcript = transcript
  }

  /** Whether nothing may be sent, because the store has not marked it yet. */
  get isClaiming(): boolean {
    return this.#claim !== undefined
  }

  /** Whether the queue is stored. */
  get isActive(): boolean {
    return this.#queue.isActive
  }

  /** Reads what the previous page left. Resolves, also when the store fails, before the agent may become ready. */
  restore(): Promise<void> {
    const deliver = (entries: OutboxEntry[]) => {
      this.#restored.push(...entries)
      if (!this.#scope.status.isReady) return
      this.takeIn()
      // Messages may have been queued before the store could take them.
      this.changed()
      if (entries.length > 0) this.#outbox.connectForMessage()
    }
    return this.#queue.restore(deliver, () => this.#forgetEntries())
  }

  /** What the next page needs. */
  snapshot(): QueueSnapshot {
    const { lane, ledger } = this.#outbox
    const { facts } = this.#scope
    const sent = ledger.sent.filter(entry => ledger.hasKey(entry))
    const claim = lane.isOpen ? { sessionId: facts.sessionId } : undefined
    return { entries: [...sent, ...this.#restored, ...ledger.queued], claim }
  }

  /** Adds what the previous page left: unsent messages first in the queue, and what it was sending to the ledger. */
  takeIn(): void {
    const { lane, ledger } = this.#outbox
    const { facts } = this.#scope
    const entries = this.#restored
    this.#restored = []
    for (const entry of entries) {
      entry.message = addressMessage(entry.message, facts)
      if (entry.written) ledger.adopt(entry)
      else ledger.add(entry)
    }
    const present = new Set(entries.filter(entry => ledger.isOfSession(entry)))
    if (facts.sessionId === undefined) this.#unplaced.push(...entries.filter(isAdopted))
    // A slow store may deliver them when the chat is open already.
    if (lane.isOpen) this.mark()
    lane.prepend(entries.filter(({ written }) => !written))
    for (const entry of entries) {
      // A listener may have signed the user out.
      if (!this.#isKnown(entry)) continue
      if (!isAdopted(entry)) this.#accepted(entry, false)
      // With a receipt it can be sent again safely, in its session.
      else if (ledger.isSentAgain(entry)) this.#accepted(entry, true)
      else if (!ledger.hasKey(entry)) {
        ledger.settle(entry, 'unknown', 'page_ended')
        if (present.has(entry)) this.#show(entry)
      }
      // The sessions before the present one have ended already.
      else if (lane.isOpen) ledger.settle(entry, 'unknown', 'session_ended')
    }
  }

  /** The chat is open. The next page of a portal knows its session only now. */
  handleConnected(): void {
    const entries = this.#unplaced
    this.#unplaced = []
    const { ledger } = this.#outbox
    for (const entry of entries) if (ledger.isOfSession(entry) && !ledger.hasKey(entry)) this.#show(entry)
  }

  /** Lets nothing leave until the store has marked it, so that the next page does not send it too. */
  mark(): void {
    this.#claim?.end()
    const claim = new Era()
    this.#claim = claim
    void this.#queue.claim().then(() => {
      if (claim.isOver) return
      this.#claim = undefined
      this.#outbox.lane.resume()
    })
  }

  /** The store is brought up to date. */
  changed(): void {
    this.#queue.changed()
  }

  /** An entry of the previous page is sent again. */
  handleSentAgain(entry: OutboxEntry): void {
    if (isAdopted(entry)) this.#accepted(entry, true)
  }

  leave(): Promise<void> {
    return this.#queue.leave()
  }

  forgetUser(): Promise<void> {
    this.#forgetEntries()
    return this.#queue.forgetUser()
  }

  /** Forgets the entries of the previous page, which are in the store. */
  #forgetEntries(): void {
    this.#restored = []
    this.#unplaced = []
  }

  /** Leaves to the next page what is queued now: nothing more is sent. */
  release(): Promise<unknown> {
    // Copied: all entries are settled afterwards.
    const last = { entries: this.snapshot().entries.map(entry => ({ ...entry })), claim: undefined }
    return this.#queue.release(last)
  }

  #isKnown(entry: OutboxEntry): boolean {
    return this.#outbox.ledger.get(entry.id) === entry
  }

  /** A message without evidence appears in the conversation, unless the history shows it. */
  #show(entry: OutboxEntry): void {
    // A listener may have signed the user out.
    if (!this.#isKnown(entry)) return
    const { ledger } = this.#outbox
    const transcript = this.#transcript
    const { message, id, timestamp } = entry
    const claimed = this.#claimed
    const mayShow = (entry: TranscriptEntry) =>
      entry.sessionId === message.sessionId && !ledger.get(entry.message.messageId ?? '') && !claimed.has(entry)
    const shown = findEntry(transcript.get(), { ...message, id }, mayShow)
    if (shown) claimed.add(shown)
    else transcript.record(message, 'sent', timestamp, undefined, message.toPayloadString().length)
  }

  /** A message is sent in the present conversation. */
  #accepted({ message }: OutboxEntry, isAgain: boolean): void {
    this.#outbox.accepted(message, message.toPayloadString().length, isAgain)
  }
}

/**
 * Creates the part that stores the queue: with `persistQueue` in IndexedDB in a page and in the configured adapter elsewhere,
 * otherwise in the memory of the tabs that share the conversation. Without both it stores nothing.
 *
 * @param user fingerprint of the user, the same for all anonymous ones; undefined while there is no token
 * @param tabs the queues of tabs that share the conversation; with a store of the browser, only their keys
 */
export function createQueueStore(
  scope: AgentScope<never>,
  user: () => string | undefined,
  outbox: Outbox,
  transcript: Transcript,
  tabs?: { readonly store: CacheAdapter & { has(key: string): boolean } },
): OutboxStore {
  const { config, environment, logger } = scope
  const { cache, persistQueueMs = DEFAULT_WAIT_MS } = config
  const warn = (text: string, details?: Record<string, unknown>) => logger.warn(text, details)
  const persistent = config.persistQueueMs === undefined ? undefined : openStore(config, environment, warn)
  const adapter = persistent ?? tabs?.store
  const queue = new StoredQueue({
    store: new KeyedStore<LeftValue>(KINDS.queue, {
      environment,
      cache,
      adapter: adapter ?? environment.memory,
      logger,
    }),
    clock: environment.clock,
    window: environment.page?.window,
    parts: () => adapter && conversationParts(scope, user(), QUEUE_VERSION),
    userParts: () => adapter && partsOfUser(scope, user(), environment.page !== undefined),
    // The tabs that share a conversation have one user.
    isShared: tabs !== undefined,
    isAnonymous: () => persistent !== undefined && user() === ANONYMOUS,
    // The memory of the tabs holds no other keys.
    used: persistent &&
      tabs && {
        has: key => tabs.store.has(key),
        add: key => void tabs.store.set(key, { value: {}, timestamp: 0 }),
      },
    newName: () => environment.randomUUID(),
    expiresAfterMs: persistQueueMs,
    snapshot: () => store.snapshot(),
    warn,
  })
  const store: OutboxStore = new OutboxStore(scope, queue, outbox, transcript)
  return store
}

/** The store that outlives the page or the process; undefined, with a warning, where there is none. */
function openStore(
  { cache }: ResolvedConfig,
  { page, memory }: Environment,
  warn: StoreWarning,
): CacheAdapter | undefined {
  const missing = findMissing(cache, page)
  if (missing) return void warn(`\`persistQueue\` has no effect: ${missing}.`)
  return page?.window ? databaseOf(page.window) : (cache.adapter ?? memory)
}

function findMissing(cache: ResolvedConfig['cache'], page: Environment['page']): string | undefined {
  if (cache.enabled === false) return '`cache.enabled` is false'
  if (!page?.window) return cache.adapter ? undefined : 'outside a page it needs `cache.adapter`'
  if (!hasLocks(page.window)) return 'the browser has no Web Locks, or the page is not served over HTTPS'
  return typeof indexedDB === 'undefined' ? 'the page has no IndexedDB' : undefined
}

/** Removes the expired queues of every user and deployment from the page's database: a store removes what it finds expired. */
export async function sweepQueues(environment: Environment, window: object): Promise<void> {
  const adapter = databaseOf(window)
  const store = new KeyedStore(KINDS.queue, { environment, adapter })
  for (const key of await adapter.keys()) await store.get(key)
}
