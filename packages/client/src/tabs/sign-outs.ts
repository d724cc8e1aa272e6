import type { AgentScope } from '../scope.ts'
import { KeyedStore, KINDS } from '../storage/keyed-store.ts'
import { encodeKey, fnv1a } from '../util/text.ts'

/**
 * What has ended for each group of tabs, in localStorage: the user's sign-in, and the sessions that a tab has taken out of an
 * anonymous group. A stopped page receives no messages, and all other tabs may be closed before it runs again, or is loaded
 * again. Where the browser allows no storage, nothing is remembered. The stores of a page answer at once.
 */
export class SignOuts {
  readonly #scope: AgentScope<never>
  /** The last sign-out of each group. */
  readonly #ended: KeyedStore<string>
  /** What was the last one when this tab joined; empty where there was none. */
  readonly #joined: KeyedStore<string>
  /** Sessions that other tabs have taken, as they have said: the browser may allow no storage. */
  readonly #taken = new Set<string>()

  constructor(scope: AgentScope<never>) {
    const { environment, config } = scope
    const { keyPrefix, contextPrefix } = config.cache
    const place = { environment, isCopy: true }
    this.#scope = scope
    this.#ended = new KeyedStore(KINDS.signOut, { ...place, cache: { keyPrefix, contextPrefix, storageType: 'local' } })
    this.#joined = new KeyedStore(KINDS.signOut, { ...place, cache: { keyPrefix, contextPrefix } })
  }

  /** What identifies the last sign-out of a group. */
  last(key: string): string | undefined {
    return this.#ended.peek(storeKey(key))
  }

  /** This tab joins a group: its next page compares the last sign-out with that of now. */
  join(key: string): void {
    void this.#joined.set(storeKey(key), this.last(key) ?? '', { expiresAt: Infinity })
  }

  /** This tab has left the user of a group. */
  leave(key: string): void {
    void this.#joined.delete(storeKey(key))
  }

  /** Leaves the groups of the agent whose user has signed out since an earlier page of this tab joined. Returns whether there was one. */
  async leaveMissed(): Promise<boolean> {
    const { id, endpoint } = this.#scope.config
    const keys = await this.#joined.keys({ hash: fnv1a(endpoint), agent: encodeKey(String(id)) })
    const missed = keys.filter(key => {
      const last = this.#ended.peek(key)
      return last !== undefined && last !== this.#joined.peek(key)
    })
    for (const key of missed) void this.#joined.delete(key)
    return missed.length > 0
  }

  /** A tab takes a session out of an anonymous group. */
  addTaken(key: string, sessionId: string): void {
    this.add(takenKey(key, sessionId))
  }

  /** Another tab has taken a session out of an anonymous group. */
  noteTaken(key: string, sessionId: string): void {
    this.#taken.add(takenKey(key, sessionId))
  }

  /** Whether a tab has taken a session out of an anonymous group. */
  isTaken(key: string, sessionId: string): boolean {
    const taken = takenKey(key, sessionId)
    return this.#taken.has(taken) || this.last(taken) !== undefined
  }

  /** The user of a group has signed out. */
  add(key: string): void {
    void this.#ended.set(storeKey(key), this.#scope.environment.randomUUID())
  }
}

/** The stored key of a group, whose key has the parts that the kind names. For a session its fingerprint follows. */
function storeKey(group: string): string {
  return KINDS.signOut.key.replace(/\{.*/, () => group)
}

/** The id of a session opens it, and stays out of the store. */
function takenKey(key: string, sessionId: string): string {
  return `${key}:${fnv1a(sessionId)}`
}
