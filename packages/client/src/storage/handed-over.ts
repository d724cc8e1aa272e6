import { isJsonObject } from '@aiagent/protocol'
import type { Clock } from '../platform/environment.ts'
import { hold, type LockPage, type Release, tryHold } from '../platform/locks.ts'
import type { AgentScope } from '../scope.ts'
import { withTimeLimit } from '../util/abort.ts'
import { fnv1a } from '../util/text.ts'
import type { CacheAdapter } from './cache-adapter.ts'
import { ANONYMOUS, KeyedStore, type KeyParts, KINDS } from './keyed-store.ts'
import { REMOVAL_LIMIT_MS } from './store-guard.ts'

/*
 * What one page leaves for the next, in an entry of a store: the session of `resume`, the queue of `persistQueue`.
 *
 * Two pages that went on with the same entry would disconnect each other, or send the same messages. So the entry names its
 * holder as long as a page uses it:
 *
 *   free ── a page takes it ──► held ── the page leaves it ──► free
 *                                 │
 *                                 ├─ its page has ended ──► free: its lock can be taken
 *                                 └─ its page lives, in another tab ──► not for this page
 *
 * The browser releases the lock with the page, also after a crash. In a browser without locks, an entry that names a holder is
 * not free. Outside a page there are no tabs: the latest process continues, and of its agents the first.
 */

/** Longest wait for the last write of an agent that is destroyed, in milliseconds. */
export const RELEASE_LIMIT_MS = 2_000

/** A value as it is stored. */
interface LeftValue {
  readonly left: unknown
  /** Name of the lock that the page has which uses the entry. */
  readonly holder?: string | undefined
}

/**
 * The entry that this page leaves. The operations are steps of {@link run}, which runs one work after the other: the store may
 * be slow, hang or fail.
 */
export class HandedOver {
  readonly #scope: AgentScope<never>
  readonly #what: 'session' | 'queue'
  readonly #version: number
  readonly #isShared: boolean
  readonly store: KeyedStore<LeftValue>
  #key: string | undefined
  /** Name of the lock of this page. */
  #holder = ''
  /** Gives back the locks of this page: its own, and those of the pages whose entries it has taken. */
  #locks: Release[] | undefined
  #isEmpty = true
  /** Whether an unknown user has signed out since the last {@link write}: nothing is taken from the store then. */
  #isSignedOut = false
  #isSlow = false
  #isWarned = false
  #last: Promise<unknown> = Promise.resolve()

  /**
   * @param what the kind of the entries, in locks and warnings too
   * @param version version of what is left. It is also in the keys, so that pages of other versions leave each other alone
   * @param isShared whether other pages or processes use the same key. In the store of a tab, a copy of the tab has a copy of the
   *   entry
   */
  constructor(
    scope: AgentScope<never>,
    what: 'session' | 'queue',
    version: number,
    adapter: CacheAdapter,
    isShared: boolean,
  ) {
    const { environment, config, logger } = scope
    this.#scope = scope
    this.#what = what
    this.#version = version
    this.#isShared = isShared
    this.store = new KeyedStore(KINDS[what], { environment, cache: config.cache, adapter, logger })
  }

  /** Absent outside a page. */
  get #page(): LockPage | undefined {
    return this.#scope.environment.page?.window
  }

  /** Where this page leaves something; undefined while it leaves nothing. */
  get key(): string | undefined {
    return this.#key
  }

  /** Whether the store holds nothing under the key. */
  get isEmpty(): boolean {
    return this.#isEmpty
  }

  /** Whether the store took too long, and nothing was written since. */
  get isSlow(): boolean {
    return this.#isSlow
  }

  /** Runs work after all before it. A store that fails costs the next page what is left, and this page nothing. */
  run<R>(work: () => Promise<R>): Promise<R | undefined> {
    return this.#after(work).catch(error => this.#fail(error))
  }

  /** As {@link run}, and rejects when the store fails or takes too long: what has to go is left. The work goes on. */
  remove(work: () => Promise<void>): Promise<void> {
    return withTimeLimit(this.#scope.environment.clock, REMOVAL_LIMIT_MS, undefined, () => this.#after(work))
  }

  /** As {@link run}, and resolves at the latest after a time. The work goes on. */
  async runWithin(limitMs: number, work: () => Promise<void>): Promise<void> {
    try {
      await withTimeLimit(this.#scope.environment.clock, limitMs, undefined, () => this.run(work))
    } catch (error) {
      this.#isSlow = true
      this.#fail(error)
    }
  }

  /**
   * Makes a key the one of this page.
   *
   * @returns whether that is possible: an agent of the same page or process may use it, which is a warning
   */
  claim(key: string): boolean {
    if (key === this.#key) return true
    const what = this.#what
    this.leave()
    const { inUse } = this.store
    if (inUse.has(key)) {
      this.#warnOnce(
        `Another agent stores its ${what} under the same key: the ${what} of this agent is lost on reload.`,
      )
      return false
    }
    inUse.set(key, this)
    this.#key = key
    // New with each key: who finds an entry that was left may have its lock.
    this.#holder = `aiagent-${what}-${this.#version}-${this.#scope.environment.randomUUID()}`
    return true
  }

  /**
   * A user has signed out who is not known, as before `initialize()`, in a store that others use too. So nothing is taken from it
   * before this page leaves something.
   */
  forgetUnknownUser(): void {
    this.#isSignedOut = true
  }

  /**
   * What is left under a key, if it is free for this page. Call {@link write} before the next page may come.
   *
   * @param waitMs how long the holder may take to end
   */
  async take(key: string, waitMs = 0): Promise<unknown> {
    const { clock } = this.#scope.environment
    const page = this.#page
    const isOwn = key === this.#key
    if (isOwn) this.#isEmpty = false
    const entry = await this.#get(key)
    if (isOwn) this.#isEmpty = entry === undefined
    if (this.#isSignedOut) return undefined
    const holder = entry?.holder
    if (!page || holder === undefined || holder === this.#holder) return entry?.left
    const release = await acquire(clock, page, holder, waitMs)
    // Another page may have taken it before the lock was free.
    const again = release && (await this.#get(key))
    if (!release || again?.holder !== holder) {
      release?.()
      // Its page lives, and shares the store: it stays there.
      if (isOwn && this.#isShared) this.leave()
      return undefined
    }
    await this.#hold()
    // Not given back: the tab of the holder may have been copied, too.
    this.#locks?.push(release)
    return again.left
  }

  /**
   * Leaves a value, or nothing, and holds the entry: what is left later is then in the store before the page can end.
   *
   * @param expiresAt when it expires, in milliseconds since the epoch. @default never
   */
  async write(left: unknown, expiresAt?: number): Promise<void> {
    if (this.#key === undefined) return
    this.#isSignedOut = false
    // The lock first: a copy of the tab that is made in between must find it taken.
    await this.#hold()
    // The page may have left the key meanwhile: the lock was stolen.
    if (this.#key === undefined) return
    if (left === undefined) await this.#erase(this.#key)
    else await this.#set(this.#key, { left, holder: this.#holder }, expiresAt)
  }

  /** Leaves a value without holding it: the next page may take it at once. */
  async free(left: unknown): Promise<void> {
    if (this.#key !== undefined && left !== undefined) await this.#set(this.#key, { left })
    this.#release()
  }

  /** Whether the store has what this page leaves. */
  async isStored(): Promise<boolean> {
    return this.#key !== undefined && (await this.#get(this.#key))?.holder === this.#holder
  }

  /** Whether the entry of this page has the given parts, and not the other ones. */
  isOf(parts: KeyParts, except?: KeyParts): boolean {
    return this.#key !== undefined && this.store.matching(parts, except).matches(this.#key)
  }

  /**
   * Removes the entries with parts of a key, except those with other ones, and those in use by another agent of the page or
   * process.
   *
   * @throws when the store fails: entries may remain, but are not read
   */
  async forget(parts: KeyParts, except?: KeyParts): Promise<void> {
    const { store } = this
    // Those of now: who comes later finds nothing that could not be removed.
    const others = new Set([...store.inUse].flatMap(([key, user]) => (user === this ? [] : key)))
    const isOwn = this.isOf(parts, except)
    await store.remove(parts, { except, inUse: others })
    if (isOwn) this.#isEmpty = true
  }

  /** Leaves the key, with what is stored there. */
  leave(): void {
    if (this.#key !== undefined) this.store.inUse.delete(this.#key)
    this.#key = undefined
    this.#isEmpty = true
    this.#release()
  }

  #after<R>(work: () => Promise<R>): Promise<R> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  async #hold(): Promise<void> {
    const page = this.#page
    if (!page || this.#locks) return
    const release = await tryHold(page, this.#holder, () => this.leave())
    this.#locks = release ? [release] : []
  }

  #release(): void {
    for (const release of this.#locks ?? []) release()
    this.#locks = undefined
  }

  async #erase(key: string): Promise<void> {
    if (this.#isEmpty) return
    // Another page or process may have taken it.
    const isOwn = !this.#isShared || (await this.#get(key))?.holder === this.#holder
    if (isOwn) await this.store.delete(key)
    this.#isEmpty = true
  }

  async #set(key: string, value: LeftValue, expiresAt?: number): Promise<void> {
    // The store may hold it from now on.
    this.#isEmpty = false
    await this.store.set(key, value, { expiresAt })
    this.#isSlow = false
  }

  async #get(key: string): Promise<LeftValue | undefined> {
    const value: unknown = (await this.store.get(key))?.value
    if (!isJsonObject(value) || value.left === undefined) return undefined
    const { left, holder } = value
    return { left, holder: typeof holder === 'string' ? holder : undefined }
  }

  #fail(error: unknown): undefined {
    const what = this.#what
    this.#warnOnce(`The store of the ${what} failed: the ${what} may be lost on reload.`, { error })
  }

  #warnOnce(text: string, details?: Record<string, unknown>): void {
    if (!this.#isWarned) this.#scope.logger.warn(text, details)
    this.#isWarned = true
  }
}

/** Takes the lock of another page if it is free, or becomes so in time. */
function acquire(clock: Clock, page: LockPage, name: string, waitMs: number): Promise<Release | undefined> {
  if (waitMs === 0) return tryHold(page, name)
  return withTimeLimit(clock, waitMs, undefined, signal => hold(page, name, { signal })).catch(() => undefined)
}

/**
 * The parts of a key that name the conversation of a user. Each portal and profile has its own, since they are part of the
 * session's context. Undefined while the user is unknown, and where users cannot be told apart.
 *
 * @param isOfTab whether they are the keys of a tab's own store
 */
export function conversationParts(
  { facts, environment, config }: Pick<AgentScope<never>, 'facts' | 'environment' | 'config'>,
  user: string | undefined,
  version: number,
  isOfTab = false,
): KeyParts | undefined {
  // A process may share its store between the conversations of many users.
  if (user === ANONYMOUS && !isOfTab && !environment.page && config.cache.contextPrefix === undefined) return undefined
  if (user === undefined) return undefined
  const { portal, profile } = facts.selection ?? {}
  const [portalId, profileId] = [portal?.id, profile?.id].map(id => String(id ?? ''))
  const hash = fnv1a(config.endpoint)
  return { hash, user, selectedAgent: facts.agentId, portal: portalId, profile: profileId, version: String(version) }
}

/**
 * The parts of the keys that go with a user, whatever the agent. Where the user is unknown: those of everybody in a store of
 * the page or the tab, and under a prefix, which names the conversation; elsewhere undefined.
 *
 * @param isOwn whether it is such a store
 */
export function partsOfUser(
  { config }: Pick<AgentScope<never>, 'config'>,
  user: string | undefined,
  isOwn: boolean,
): KeyParts | undefined {
  const isKnown = user !== undefined || isOwn || config.cache.contextPrefix !== undefined
  return isKnown ? { hash: fnv1a(config.endpoint), user } : undefined
}
