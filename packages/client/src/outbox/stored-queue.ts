import { isJsonObject } from '@aiagent/protocol'
import { detachMessage, Message } from '../log/message.ts'
import type { PageWindow } from '../platform/page.ts'
import { HandedOver, type HandedOverPlace } from '../storage/handed-over.ts'
import type { KeyParts } from '../storage/keyed-store.ts'
import { Era } from '../util/era.ts'
import { fnv1a } from '../util/fnv1a.ts'
import type { OutboxEntry } from './delivery.ts'

/*
 * The queue that the page leaves for the next one (storage/handed-over.ts): each agent of a page has its own entry.
 *
 *   restore: the messages of each entry of the user that is free are moved to the own entry, and the entry is removed
 *   change:  write the queue; one write at a time, the newest state wins
 *   claim:   before messages leave, they are marked, and the mark is stored first. What the next page finds marked may have
 *            been sent, so it is reported as `unknown` and not sent.
 */

/** Version of a stored queue. It is in its key, and in the name of its lock. */
export const QUEUE_VERSION = 1

/** How long a message waits by default, in milliseconds: a day. */
export const DEFAULT_WAIT_MS = 86_400_000

/** Longest wait for the stored queue at the start, in milliseconds. */
const RESTORE_LIMIT_MS = 2_000

/** Longest wait for the mark before messages leave, in milliseconds. */
const CLAIM_LIMIT_MS = 1_000

/** Longest wait for the last write of an agent that is destroyed, in milliseconds. */
const RELEASE_LIMIT_MS = 2_000

/** How long the page of a reloaded tab may take to give its lock back, in milliseconds. */
const LOCK_LIMIT_MS = 500

/** What the outbox stores. */
export interface QueueSnapshot {
  /** In order. */
  readonly entries: readonly OutboxEntry[]
  /** The session in which the queued entries may be written at any time; undefined while they wait. */
  readonly claim: { readonly sessionId: string | undefined } | undefined
}

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

export interface StoredQueueOptions extends HandedOverPlace {
  /** Absent outside a page. */
  readonly window: PageWindow | undefined
  /** The parts of the keys of the conversation; undefined while the user is unknown. */
  parts(): KeyParts | undefined
  /** Those of the keys to remove with the present user: all of theirs, or in a page of an unknown user those of everybody. */
  userParts(): KeyParts | undefined
  /** Whether the tabs of the page's origin share one conversation: then a tab sends what an ended one has left. */
  readonly isShared: boolean
  /** Whether anybody may be the user, so that only the tab's own queue is restored, and those of its conversation. */
  isAnonymous(): boolean
  /** The keys that the tabs of the conversation have used, as far as this one has been told. Absent where none is shared. */
  readonly used?: { has(key: string): boolean; add(key: string): void } | undefined
  readonly expiresAfterMs: number
  snapshot(): QueueSnapshot
}

export class StoredQueue {
  readonly #options: StoredQueueOptions
  readonly #left: HandedOver<StoredMessage[]>
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

  constructor(options: StoredQueueOptions) {
    this.#options = options
    this.#left = new HandedOver({
      ...options,
      isShared: false,
      page: options.window,
      what: 'queue',
      version: QUEUE_VERSION,
      read: readMessages,
      expiresAt: messages => Math.max(...messages.map(({ timestamp }) => timestamp)) + options.expiresAfterMs,
    })
  }

  /**
   * Takes over what earlier pages of the user left, oldest first.
   *
   * @param deliver receives the entries, also after the promise was resolved because the store took too long, but not once
   *   the user, the portal or the profile has changed
   * @param forget called first where the user, the portal or the profile has changed: what was delivered stays in the store
   */
  restore(deliver: (entries: OutboxEntry[]) => void, forget: () => void): Promise<void> {
    const { store, parts: find } = this.#options
    const parts = find()
    // The key of an agent outside a page, and the start of those in a page.
    const scope = parts && store.key({ ...parts, page: '' })
    if (scope !== this.#wanted) {
      if (this.#depart() && this.#isDirty) {
        const last = toStored(this.#options.snapshot())
        void this.#left.run(() => this.#write(last))
      }
      if (!this.#isMoving) forget()
      this.#isMoving = false
    }
    this.#wanted = scope
    const era = this.#era
    return this.#left.runWithin(RESTORE_LIMIT_MS, async () => {
      const messages = parts && scope !== undefined ? await this.#restore(scope, parts, era) : []
      if (!era.isOver) deliver(messages.map(toEntry))
    })
  }

  /** Whether the queue is stored. */
  get isActive(): boolean {
    return this.#isStored && this.#left.key !== undefined
  }

  /** The queue has changed. */
  changed(): void {
    if (this.#isDirty || !this.isActive) return
    this.#isDirty = true
    void this.#left.run(async () => {
      this.#isDirty = false
      if (this.isActive) await this.#write(toStored(this.#options.snapshot()))
    })
  }

  /** Stores the present marks. Resolves when they are stored, or when the store takes too long. */
  claim(): Promise<void> {
    if (this.#left.isEmpty || this.#left.isSlow) return Promise.resolve()
    this.changed()
    return this.#left.runWithin(CLAIM_LIMIT_MS, async () => {})
  }

  /** Removes everything of the user. */
  async forgetUser(): Promise<void> {
    const parts = this.#place?.userParts ?? this.#options.userParts()
    this.#depart()
    if (!parts) return
    await this.#left.remove(async () => {
      await this.#options.store.remove(parts)
      this.#leave()
    })
  }

  /** The user of the agent is another one soon, and keeps the queue: {@link restore} then stores it for that user. */
  leave(): Promise<void> {
    this.#isMoving = true
    return this.#end([])
  }

  /** The agent is destroyed: the next one may take its last queue over. */
  release(last: QueueSnapshot): Promise<void> {
    return this.#end(toStored(last))
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

  async #restore(scope: string, parts: KeyParts, era: Era): Promise<StoredMessage[]> {
    const { store, window, newName, isAnonymous, isShared, userParts, used } = this.#options
    if (era.isOver) return []
    if (scope === this.#place?.scope && this.isActive) return isShared ? this.#adopt(parts) : []
    this.#leave()
    this.#place = { scope, userParts: userParts() }
    const key = window ? store.key({ ...parts, page: newName() }) : scope
    if (!this.#left.claim(key)) return []
    const tabKey = `${scope}tab`
    // Tabs that share a conversation adopt any queue of their user, so that none has to be found first.
    const storage = isShared && !isAnonymous() ? undefined : window?.sessionStorage
    used?.add(key)
    const restored = await this.#adopt(parts, storage?.getItem(tabKey))
    storage?.setItem(tabKey, key)
    this.#isStored = !era.isOver
    return restored
  }

  /** Moves the messages that are free for this page to the own entry, oldest first. */
  async #adopt(parts: KeyParts, tabs?: string | null): Promise<StoredMessage[]> {
    const { store, window, clock, expiresAfterMs, isAnonymous, used, snapshot } = this.#options
    const left = this.#left
    const mayAdopt = (key: string) =>
      window ? key !== left.key && (key === tabs || !isAnonymous() || used?.has(key)) : key === left.key
    const keys = (await store.keys(parts)).filter(mayAdopt)
    const lists: StoredMessage[][] = []
    const taken: string[] = []
    for (const key of keys) {
      const messages = await left.take(key, key === tabs ? LOCK_LIMIT_MS : 0)
      if (!messages) continue
      lists.push(messages)
      if (window) taken.push(key)
    }
    const isFresh = ({ timestamp }: StoredMessage) => clock.now() - timestamp < expiresAfterMs
    const ageOf = ([first]: StoredMessage[]) => first?.timestamp ?? 0
    const fresh = lists
      .sort((one, other) => ageOf(one) - ageOf(other))
      .flat()
      .filter(isFresh)
    // Written here before they are removed there: a crash in between leaves them twice, under the same ids.
    const unique = [...new Map(fresh.map(each => [each.id, each])).values()]
    if (!this.isActive) await this.#write(unique)
    else if (unique.length > 0) await this.#write([...toStored(snapshot()), ...unique])
    if (taken.length > 0 && unique.length > 0 && !(await left.isStored())) return []
    for (const key of taken) await store.delete(key)
    return unique
  }

  #write(messages: StoredMessage[]): Promise<void> {
    return this.#left.write(messages.length > 0 ? messages : undefined)
  }

  #leave(): void {
    this.#left.leave()
    this.#place = undefined
  }
}

// ── The stored form of a message ─────────────────────────────────────────────────────────────────────────────────────

/** The messages of a stored value. Other values are ignored. */
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

/** The queue as it is stored. Questions are left out: their promise ends with the page. */
function toStored({ entries, claim }: QueueSnapshot): StoredMessage[] {
  return entries
    .filter(({ reply }) => !reply)
    .map(({ id, timestamp, message, state, written }) => {
      const { from, to } = message
      const data = message.toPayloadString()
      const mark = state === 'sent' ? written : claim
      const place = state === 'sent' ? written?.opening : claim
      const sessionId = typeof place === 'object' ? place.sessionId : undefined
      const sessionFingerprint = written?.sessionFingerprint ?? (sessionId === undefined ? undefined : fnv1a(sessionId))
      return { id, data, timestamp, from, to, ...(mark && { written: { sessionFingerprint } }) }
    })
}

const PREVIOUS_PAGE = { order: -1, number: -1, at: 0, opening: 'previous page' } as const

/** A stored message as an entry of the outbox. */
function toEntry({ id, data, timestamp, from, to, written }: StoredMessage): OutboxEntry {
  return {
    id,
    timestamp,
    isMasked: true,
    message: detachMessage(Message.fromJSON(data, { messageId: id, timestamp, from, to }), data),
    state: written ? 'sent' : 'queued',
    ...(written && { written: { ...PREVIOUS_PAGE, sessionFingerprint: written.sessionFingerprint } }),
  }
}

/** Whether the previous page wrote the entry, and this one has not written it yet. */
export function isAdopted({ written }: OutboxEntry): boolean {
  return written?.opening === 'previous page'
}
