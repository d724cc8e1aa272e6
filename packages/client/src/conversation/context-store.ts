import { MessageError } from '../errors.ts'
import type { Awaitable, CacheAdapter } from '../platform/cache-adapter.ts'
import { sameJson } from '../util/same-json.ts'

/** Start of the key under which a context is stored; the agent's id follows. */
export const CONTEXT_KEY_PREFIX = 'aiagent_context_'

/** Attributes of the conversation, by name. */
export type ContextAttributes = Readonly<Record<string, unknown>>

/**
 * The attributes of the conversation. It owns them in memory, and a copy in the store that survives a reload (FLOW-08).
 *
 * What a host gives is copied at once, so that a later change of its objects changes nothing here.
 */
export class ContextStore {
  readonly #adapter: CacheAdapter
  readonly #now: () => number
  #key: string
  #attributes: ContextAttributes | null = null

  constructor(adapter: CacheAdapter, agentId: string, now: () => number) {
    this.#adapter = adapter
    this.#now = now
    this.#key = CONTEXT_KEY_PREFIX + agentId
  }

  /** The attributes, or null; the same frozen object until they change. */
  get(): ContextAttributes | null {
    return this.#attributes
  }

  /**
   * Reads what an earlier page stored. What has been set meanwhile stays on top of it.
   *
   * Answers at once where the store does.
   */
  restore(): Awaitable<void> {
    const take = (value: unknown) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return
      this.#attributes = Object.freeze({ ...value, ...this.#attributes })
    }
    const stored = this.#adapter.get(this.#key)
    if (isPromise(stored)) return stored.then(entry => take(entry?.value))
    take(stored?.value)
  }

  /**
   * Merges attributes over the stored ones, by name and not deeper.
   *
   * @returns those whose value differs from the stored one
   * @throws {MessageError} reason `invalid` when they cannot be written as JSON
   */
  merge(attributes: Record<string, unknown>): Record<string, unknown> {
    const changed = Object.fromEntries(
      Object.entries(copyOf(attributes)).filter(([name, value]) => !this.#has(name) || !sameJson(this.#attributes?.[name], value)),
    )
    if (Object.keys(changed).length === 0) return changed
    this.#attributes = Object.freeze({ ...this.#attributes, ...changed })
    void this.#adapter.set(this.#key, { value: this.#attributes, timestamp: this.#now() })
    return changed
  }

  /** Forgets all attributes, here and in the store. */
  remove(): Awaitable<void> {
    this.#attributes = null
    return this.#adapter.delete(this.#key)
  }

  #has(name: string): boolean {
    return this.#attributes !== null && Object.hasOwn(this.#attributes, name)
  }
}

function copyOf(attributes: Record<string, unknown>): Record<string, unknown> {
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes))
    throw new MessageError('The context is not an object of attributes by name.', 'invalid')
  try {
    return JSON.parse(JSON.stringify(attributes))
  } catch (cause) {
    throw new MessageError('The context cannot be written as JSON: it holds a circle or a BigInt.', 'invalid', { cause })
  }
}

function isPromise<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | null)?.then === 'function'
}
