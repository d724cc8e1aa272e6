import type { KeyParts } from '../storage/keyed-store.ts'

/** Where the session of the conversation is kept for the next page. One operation after the other; only `forget` rejects. */
export interface SessionStore {
  /** The session stored under a key, if this page may use it. Later sessions are stored under that key. */
  take(key: string): Promise<string | undefined>
  /** Stores a session under a key, or under the current one. */
  keep(sessionId: string, key: string): void
  /** Removes the stored session. */
  drop(): void
  /**
   * Removes the entries with parts of a key, except those with other ones, and those in use by another agent of the page.
   *
   * @throws when the store fails
   */
  forget(parts: KeyParts, except?: KeyParts): Promise<void>
  /** The host's data of the current session. */
  getData(): Promise<unknown>
  /** Stores data with the current session. Does nothing without one. */
  setData(data: unknown): Promise<void>
  /** Releases the entry for the next page. Nothing is stored after it. */
  release(): Promise<void>
}
