import type { Clock } from '../platform/clock.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import type { OutboxEntry } from './outbox-entry.ts'
import { occupyQueue, type QueueLockOptions } from './queue-lock.ts'
import { QueueOperations } from './queue-operations.ts'
import { type QueueSnapshot, readMessages, type StoredMessage, toEntry, toStored } from './stored-message.ts'

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
const RESTORE_LIMIT_MS = 2_000

/** Longest wait for the mark before messages leave, in milliseconds. */
const CLAIM_LIMIT_MS = 1_000

/** Longest wait for the last write of an agent that is destroyed, in milliseconds. */
const RELEASE_LIMIT_MS = 2_000

/** How long the page of a reloaded tab may take to give its lock back, in milliseconds. */
const LOCK_LIMIT_MS = 500

export interface StoredQueueOptions extends QueueLockOptions {
  readonly adapter: CacheAdapter
  readonly clock: Clock
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

/** Where a queue is stored. */
interface Place {
  /** Start of the keys of the agent and its user. */
  readonly scope: string
  /** Start of the keys to remove with the user. */
  readonly userScope: string | undefined
  /** Gives back the lock of the entry; undefined where another agent has it. */
  readonly unlock?: (() => void) | undefined
}

export class StoredQueue {
  readonly #options: StoredQueueOptions
  readonly #operations: QueueOperations
  /** Where the queue is stored, until it is left. */
  #place: Place | undefined
  /** The key of the queue, as long as it is stored. */
  #key: string | undefined
  /** Whether the store holds nothing under the key. */
  #isEmpty = true
  #isDirty = false
  /** The scope of the last {@link restore}. */
  #wanted: string | undefined
  /** Whether the agent goes on with its messages under the next scope. */
  #isMoving = false
  /** Number of times that the queue was left: what is read for an earlier one is not delivered. */
  #departures = 0

  constructor(options: StoredQueueOptions) {
    this.#options = options
    this.#operations = new QueueOperations(options.clock, (...warning) => options.warn(...warning))
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
        void this.#operations.run(() => this.#set(key, last))
      }
      if (!this.#isMoving) forget()
      this.#isMoving = false
    }
    this.#wanted = scope
    const departures = this.#departures
    const isCurrent = () => departures === this.#departures
    const restored = async () => {
      const messages = await this.#restore(scope, isCurrent)
      if (isCurrent()) deliver(messages.map(toEntry))
    }
    return this.#operations.runWithin(RESTORE_LIMIT_MS, restored)
  }

  /** Whether the queue is stored. */
  get isActive(): boolean {
    return this.#key !== undefined
  }

  /** The queue has changed. */
  changed(): void {
    if (this.#isDirty || this.#key === undefined) return
    this.#isDirty = true
    void this.#operations.run(() => this.#write())
  }

  /** Stores the present marks. Resolves when they are stored, or when the store takes too long. */
  claim(): Promise<void> {
    if (this.#isEmpty || this.#operations.isBroken) return Promise.resolve()
    this.changed()
    return this.#operations.runWithin(CLAIM_LIMIT_MS, async () => {})
  }

  /** Removes everything of the user. */
  async forgetUser(): Promise<void> {
    const scope = this.#place?.userScope ?? this.#options.userScope()
    this.#depart()
    if (scope === undefined) return
    const operations = this.#operations
    await operations.run(async () => {
      const { adapter } = this.#options
      for (const key of await operations.ask(() => adapter.keys(scope))) await operations.ask(() => adapter.delete(key))
      this.#leave()
    })
  }

  /** The user of the agent is another one soon, and keeps the queue: {@link restore} then stores it for that user. */
  async leave(): Promise<void> {
    const key = this.#depart()
    this.#isMoving = true
    await this.#operations.runWithin(RELEASE_LIMIT_MS, async () => {
      const { adapter } = this.#options
      if (key !== undefined) await this.#operations.ask(() => adapter.delete(key))
      this.#leave()
    })
  }

  /** The agent is destroyed: the next one may take its last queue over. */
  async release(last: QueueSnapshot): Promise<void> {
    const key = this.#depart()
    await this.#operations.runWithin(RELEASE_LIMIT_MS, async () => {
      if (key !== undefined) await this.#set(key, toStored(last))
      this.#leave()
    })
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
    if (scope === this.#place?.scope && this.#key !== undefined)
      return this.#options.isShared() ? this.#takeOver(scope) : []
    this.#leave()
    const place = { scope, userScope: this.#options.userScope() }
    this.#place = place
    const key = window ? `${scope}${newOwner()}` : scope
    const unlock = await occupyQueue(this.#options, key, 0)
    if (!unlock) {
      this.#operations.warnOnce(
        'Another agent stores its queue under the same key: the queue of this agent is lost on reload.',
      )
      return []
    }
    this.#place = { ...place, unlock }
    const tabKey = `${scope}tab`
    // Tabs that share a conversation adopt any queue of their user, so that none has to be found first.
    const storage = this.#options.isShared() && !isAnonymous() ? undefined : window?.sessionStorage
    const tabs = storage?.getItem(tabKey)
    this.#options.used?.add(key)
    const found = await this.#operations.ask(() => adapter.keys(scope))
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
    const found = await this.#operations.ask(() => adapter.keys(scope))
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
      const unlock = each === key ? noop : await occupyQueue(this.#options, each, each === tabs ? LOCK_LIMIT_MS : 0)
      if (!unlock) continue
      const entry = await this.#operations.ask(() => adapter.get(each))
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
      if (each.key !== key) await this.#operations.ask(() => adapter.delete(each.key))
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
    const { adapter, clock, expiresAfterMs } = this.#options
    const entry = { value: messages, timestamp: clock.now(), expiresAfterMs }
    // From now on the store may hold them.
    if (messages.length > 0) this.#isEmpty = false
    if (messages.length === 0) await this.#operations.ask(() => adapter.delete(key))
    else await this.#operations.ask(() => adapter.set(key, entry))
    this.#isEmpty = messages.length === 0
    this.#operations.confirm()
  }

  #leave(): void {
    this.#place?.unlock?.()
    this.#place = undefined
    this.#isEmpty = true
  }
}

const noop = () => {}
