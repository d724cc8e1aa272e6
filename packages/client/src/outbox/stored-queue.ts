import { isJsonObject } from '@aiagent/protocol'
import type { Clock } from '../platform/clock.ts'
import type { PageWindow } from '../platform/page.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { withTimeLimit } from '../util/abort.ts'
import { Message } from './message.ts'
import { type OutboxEntry, PREVIOUS_PAGE, type WrittenAs } from './outbox-entry.ts'
import { fingerprintOf, OutboxStore, type OutboxStoreOptions, type QueueSnapshot } from './outbox-store.ts'

/*
 * The queue in a store, for the page after a reload or a crash. A separate chunk, for hosts that set `persistQueue`.
 *
 * Each agent owns one entry of the store with its whole queue. In a browser it holds the lock of that entry as long as it
 * lives, so that two tabs never send the same message:
 *
 *   restore: for each entry of the user whose lock is free: take the lock, move the messages to the own entry, remove it
 *   change:  write the queue; one write at a time, the newest state wins
 *   claim:   before messages leave, they are marked, and the mark is stored first. What the next page finds marked may have
 *            been sent, so it is reported as `unknown` and not sent.
 */

/** Longest wait for the stored queue at the start, in milliseconds. */
export const RESTORE_LIMIT_MS = 2_000

/** Longest wait for the mark before messages leave, in milliseconds. */
export const CLAIM_LIMIT_MS = 1_000

/** Longest wait for the last write of an agent that is destroyed, in milliseconds. */
const RELEASE_LIMIT_MS = 2_000

/** Longest wait for one operation of the store, in milliseconds. */
const STORE_LIMIT_MS = 2_000

/** How long the page of a reloaded tab may take to give its lock back, in milliseconds. */
const LOCK_LIMIT_MS = 500

/** A message as it is stored: masked. */
interface StoredMessage {
  readonly id: string
  /** The text of the frame. */
  readonly data: string
  /** When the host sent it, in milliseconds since the epoch. */
  readonly timestamp: number
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Set once the message was written, or is about to be. A reader of the store cannot open the session. */
  readonly written?: { readonly sessionFingerprint?: string | undefined }
}

export interface StoredQueueOptions {
  readonly adapter: CacheAdapter
  /** Tells apart the stores of a process. */
  readonly identity: object
  readonly clock: Clock
  /** Absent outside a page: then the store is used by one agent at a time. */
  readonly window: PageWindow | undefined
  /** Start of the keys of the agent and its user; undefined while the user is unknown. */
  scope(): string | undefined
  /** Start of the keys to remove with the present user: all of theirs, or in a page of an unknown user those of everybody. */
  userScope(): string | undefined
  /** Whether the tabs of the page's origin share one conversation: then a tab sends what an ended one has left. */
  isShared(): boolean
  /** Whether anybody may be the user, so that only the tab's own queue is restored, and those of its conversation. */
  isAnonymous(): boolean
  /** The keys that the tabs of the conversation have used, as far as this one has been told. Absent where none is shared. */
  readonly used?: { has(key: string): boolean; add(key: string): void } | undefined
  newOwner(): string
  readonly expiresAfterMs: number
  snapshot(): QueueSnapshot
  warn(message: string, details?: Record<string, unknown>): void
}

export class StoredQueue {
  readonly #options: StoredQueueOptions
  #scope: string | undefined
  #userScope: string | undefined
  #key: string | undefined
  /** Gives back the lock of the entry. */
  #unlock: (() => void) | undefined
  /** Whether the store holds nothing under the key. */
  #isEmpty = true
  #isDirty = false
  #isBroken = false
  #isWarned = false
  /** The scope of the last {@link restore}. */
  #wanted: string | undefined
  /** Number of times that the queue was left: what is read for an earlier one is not delivered. */
  #departures = 0
  #work: Promise<unknown> = Promise.resolve()

  constructor(options: StoredQueueOptions) {
    this.#options = options
  }

  /**
   * Takes over what earlier pages of the user left, oldest first.
   *
   * @param deliver receives the entries, also after the promise was resolved because the store took too long, but not once
   *   the user, the portal or the profile has changed
   * @param forget called first where the user, the portal or the profile has changed: what was delivered stays in the store
   */
  restore(deliver: (entries: OutboxEntry[]) => void, forget: () => void): Promise<void> {
    const scope = this.#options.scope()
    if (scope !== this.#wanted) {
      const key = this.#depart()
      if (key !== undefined && this.#isDirty) {
        const last = toStored(this.#options.snapshot())
        void this.#after(undefined, () => this.#set(key, last))
      }
      forget()
    }
    this.#wanted = scope
    const departures = this.#departures
    const isCurrent = () => departures === this.#departures
    const restored = async () => {
      const messages = await this.#restore(scope, isCurrent)
      if (isCurrent()) deliver(messages.map(toEntry))
    }
    return this.#bounded(RESTORE_LIMIT_MS, () => this.#after(undefined, restored))
  }

  /** Joins the queue with the outbox. */
  join(options: OutboxStoreOptions): OutboxStore {
    return new OutboxStore(this, options)
  }

  /** Whether the queue is stored. */
  get isActive(): boolean {
    return this.#key !== undefined
  }

  /** The queue has changed. */
  changed(): void {
    if (this.#isDirty || this.#key === undefined) return
    this.#isDirty = true
    void this.#after(undefined, () => this.#write())
  }

  /** Stores the present marks. Resolves when they are stored, or when the store takes too long. */
  claim(): Promise<void> {
    if (this.#isEmpty || this.#isBroken) return Promise.resolve()
    this.changed()
    return this.#bounded(CLAIM_LIMIT_MS, () => this.#after(undefined, async () => {}))
  }

  /** Removes everything of the user. */
  async forgetUser(): Promise<void> {
    const scope = this.#userScope ?? this.#options.userScope()
    this.#depart()
    if (scope === undefined) return
    await this.#after(undefined, async () => {
      const { adapter } = this.#options
      for (const key of await this.#ask(() => adapter.keys(scope))) await this.#ask(() => adapter.delete(key))
      this.#leave()
    })
  }

  /** The agent is destroyed: the next one may take its last queue over. */
  async release(last: QueueSnapshot): Promise<void> {
    const key = this.#depart()
    await this.#bounded(RELEASE_LIMIT_MS, () =>
      this.#after(undefined, async () => {
        if (key !== undefined) await this.#set(key, toStored(last))
        this.#leave()
      }),
    )
  }

  /** Nothing more is stored under the present key. Returns it. */
  #depart(): string | undefined {
    const key = this.#key
    this.#key = this.#wanted = undefined
    this.#departures++
    return key
  }

  async #restore(scope: string | undefined, isCurrent: () => boolean): Promise<StoredMessage[]> {
    const { adapter, window, newOwner, isAnonymous } = this.#options
    if (scope === undefined || !isCurrent()) return []
    if (scope === this.#scope && this.#key !== undefined) return this.#options.isShared() ? this.#takeOver(scope) : []
    this.#leave()
    this.#scope = scope
    this.#userScope = this.#options.userScope()
    const key = window ? `${scope}${newOwner()}` : scope
    this.#unlock = await this.#occupy(key, 0)
    if (!this.#unlock) {
      this.#warnOnce('Another agent stores its queue under the same key: the queue of this agent is lost on reload.')
      return []
    }
    const tabKey = `${scope}tab`
    // Tabs that share a conversation adopt any queue of their user, so that none has to be found first.
    const storage = this.#options.isShared() && !isAnonymous() ? undefined : window?.sessionStorage
    const tabs = storage?.getItem(tabKey)
    this.#options.used?.add(key)
    const found = await this.#ask(() => adapter.keys(scope))
    const wanted = found.filter(each => !window || each === tabs || this.#mayAdopt(each))
    const unique = await this.#move(wanted, key, tabs)
    storage?.setItem(tabKey, key)
    if (isCurrent()) this.#key = key
    return unique
  }

  /** Takes what tabs have left that have ended since {@link restore}. */
  async #takeOver(scope: string): Promise<StoredMessage[]> {
    const { adapter } = this.#options
    const key = this.#key as string
    const found = await this.#ask(() => adapter.keys(scope))
    return this.#move(
      found.filter(each => each !== key && this.#mayAdopt(each)),
      key,
      undefined,
    )
  }

  #mayAdopt(key: string): boolean {
    const { isAnonymous, used } = this.#options
    return !isAnonymous() || used?.has(key) === true
  }

  /** Moves the messages of entries whose agent has ended to the own entry, oldest first. */
  async #move(found: readonly string[], key: string, tabs: string | null | undefined): Promise<StoredMessage[]> {
    const { adapter, clock, expiresAfterMs } = this.#options
    const lists: StoredMessage[][] = []
    const taken: { key: string; unlock(): void }[] = []
    for (const each of found) {
      const unlock = each === key ? noop : await this.#occupy(each, each === tabs ? LOCK_LIMIT_MS : 0)
      if (!unlock) continue
      const entry = await this.#ask(() => adapter.get(each))
      lists.push(readMessages(entry?.value))
      taken.push({ key: each, unlock })
    }
    const isFresh = ({ timestamp }: StoredMessage) => clock.now() - timestamp < expiresAfterMs
    const ageOf = ([first]: StoredMessage[]) => first?.timestamp ?? 0
    const fresh = lists
      .sort((one, other) => ageOf(one) - ageOf(other))
      .flat()
      .filter(isFresh)
    // Written here before they are removed there: a crash in between leaves them twice, under the same ids.
    const unique = [...new Map(fresh.map(each => [each.id, each])).values()]
    if (this.#key === undefined || unique.length > 0)
      await this.#set(key, this.#key === undefined ? unique : [...toStored(this.#options.snapshot()), ...unique])
    for (const each of taken) {
      if (each.key !== key) await this.#ask(() => adapter.delete(each.key))
      each.unlock()
    }
    return unique
  }

  async #write(): Promise<void> {
    this.#isDirty = false
    const key = this.#key
    if (key === undefined) return
    const messages = toStored(this.#options.snapshot())
    if (messages.length === 0 && this.#isEmpty) return
    await this.#set(key, messages)
  }

  async #set(key: string, messages: StoredMessage[]): Promise<void> {
    const { adapter, clock } = this.#options
    // From now on the store may hold them.
    if (messages.length > 0) this.#isEmpty = false
    if (messages.length === 0) await this.#ask(() => adapter.delete(key))
    else await this.#ask(() => adapter.set(key, { value: messages, timestamp: clock.now() }))
    this.#isEmpty = messages.length === 0
    this.#isBroken = false
  }

  #leave(): void {
    this.#unlock?.()
    this.#unlock = undefined
    this.#scope = this.#userScope = undefined
    this.#isEmpty = true
  }

  /** Takes the lock of an entry; undefined when another agent has it. */
  async #occupy(key: string, waitMs: number): Promise<(() => void) | undefined> {
    const { window, identity } = this.#options
    if (!window) return occupyInProcess(identity, key)
    const { locks } = window.navigator
    return new Promise(resolve => {
      const hold = (lock: Lock | null) => {
        if (!lock) return resolve(undefined)
        return new Promise<void>(release => resolve(release))
      }
      const options = waitMs > 0 ? { signal: AbortSignal.timeout(waitMs) } : { ifAvailable: true }
      locks.request(`aiagent-queue-${key}`, options, hold).catch(() => resolve(undefined))
    })
  }

  /** One operation of the store, which may hang. */
  async #ask<T>(work: () => T | PromiseLike<T>): Promise<T> {
    return withTimeLimit(this.#options.clock, STORE_LIMIT_MS, undefined, async () => work())
  }

  async #bounded(limitMs: number, work: () => Promise<void>): Promise<void> {
    try {
      await withTimeLimit(this.#options.clock, limitMs, undefined, work)
    } catch (error) {
      this.#isBroken = true
      this.#fail(error)
    }
  }

  /** One after the other. A store that fails costs the next page the queue, and this page nothing. */
  #after<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(async () => {
      try {
        return await work()
      } catch (error) {
        this.#fail(error)
        return otherwise
      }
    })
    this.#work = done
    return done
  }

  #fail(error: unknown): void {
    this.#warnOnce('The store of the queue failed: queued messages may be lost on reload.', { error })
  }

  #warnOnce(text: string, details?: Record<string, unknown>): void {
    if (!this.#isWarned) this.#options.warn(text, details)
    this.#isWarned = true
  }
}

/** Keys that agents of this process use, by store. */
const inUse = new WeakMap<object, Set<string>>()

const noop = () => {}

function occupyInProcess(store: object, key: string): (() => void) | undefined {
  const keys = inUse.get(store) ?? new Set<string>()
  inUse.set(store, keys)
  if (keys.has(key)) return undefined
  keys.add(key)
  return () => void keys.delete(key)
}

function readMessages(value: unknown): StoredMessage[] {
  return Array.isArray(value) ? value.filter(isStoredMessage) : []
}

function isStoredMessage(value: unknown): value is StoredMessage {
  return (
    isJsonObject(value) &&
    typeof value.id === 'string' &&
    typeof value.data === 'string' &&
    value.data.startsWith('{') &&
    typeof value.timestamp === 'number'
  )
}

/** Questions are left out: their promise ends with the page. */
function toStored({ entries, claim }: QueueSnapshot): StoredMessage[] {
  return entries
    .filter(({ reply }) => !reply)
    .map(({ id, data, timestamp, message: { from, to }, state, written }) => {
      const mark = state === 'sent' ? written : claim
      const sessionFingerprint = written?.sessionFingerprint ?? fingerprintOf(mark?.sessionId)
      return { id, data, timestamp, from, to, ...(mark && { written: { sessionFingerprint } }) }
    })
}

function toEntry({ id, data, timestamp, from, to, written }: StoredMessage): OutboxEntry {
  return {
    id,
    data,
    timestamp,
    attempts: written ? 1 : 0,
    message: Message.fromJSON(data, { messageId: id, timestamp, from, to }),
    state: written ? 'sent' : 'queued',
    ...(written && { written: writtenByPreviousPage(written.sessionFingerprint) }),
  }
}

/** Which session it was is seen when the present one is known. */
function writtenByPreviousPage(sessionFingerprint: string | undefined): WrittenAs {
  const sessionId = sessionFingerprint === undefined ? undefined : ''
  return { order: -1, at: 0, connection: PREVIOUS_PAGE, sessionId, sessionFingerprint }
}
