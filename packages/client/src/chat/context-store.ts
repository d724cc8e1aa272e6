import { type Id, isJsonObject } from '@aiagent/protocol'
import { MessageError } from '../errors.ts'
import type { AgentScope } from '../scope.ts'
import type { Awaitable, CacheAdapter } from '../storage/cache-adapter.ts'
import { KeyedStore, KINDS, type StoredEntry } from '../storage/keyed-store.ts'
import { isPromiseLike } from '../util/values.ts'

/** Attributes of the conversation, by name. */
export type ContextAttributes = Readonly<Record<string, unknown>>

/** Whose attributes they are. */
interface ContextUser {
  /** Fingerprint of the signed-in user; undefined for an anonymous one. */
  readonly owner: string | undefined
  /** Whether this page knows the user, and not only the store. */
  readonly isKnown: boolean
}

const UNKNOWN_USER: ContextUser = { owner: undefined, isKnown: false }

/**
 * The attributes of the conversation. Owns them in memory, and a copy in the store that survives a reload (FLOW-08).
 *
 * Values from the host are copied and frozen at once, so later changes of its objects have no effect. A store that
 * fails costs the copy, never a call. An asynchronous store is not written before it was read. It is below the conversation,
 * since a session is created with the attributes.
 */
export class ContextStore {
  readonly #scope: AgentScope<never>
  readonly #store: KeyedStore
  #key: string
  #attributes: ContextAttributes | null = null
  /** Attributes that this page has set, not a previous one. */
  #setHere: Set<string> | undefined
  #user = UNKNOWN_USER
  /** Changes made while the store is being read; undefined at any other time. */
  #meanwhile: { changed?: boolean; removed?: boolean } | undefined
  /** @param adapter where the copy is stored; by default as configured */
  constructor(scope: AgentScope<never>, adapter?: CacheAdapter) {
    const { config, environment, logger } = scope
    const { cache, endpoint: deployment } = config
    this.#scope = scope
    this.#store = new KeyedStore(KINDS.context, { environment, cache, deployment, adapter, isCopy: true, logger })
    this.#key = this.#store.key({ agent: config.id })
  }

  /**
   * The conversation continues with another agent: its attributes are stored under that agent's key from now on, merged
   * over the stored ones.
   */
  async moveTo(agentId: string): Promise<void> {
    const from = this.#key
    const to = this.#store.key({ agent: agentId })
    if (from === to) return
    this.#key = to
    await this.restore()
    if (this.#attributes !== null) void this.#write()
    await this.#store.delete(from)
  }

  /** The attributes, or null; the same frozen object until they change. */
  get(): ContextAttributes | null {
    return this.#attributes
  }

  /** Whether this page has changed the attributes of a previous one. */
  get isChanged(): boolean {
    return this.#setHere !== undefined
  }

  /**
   * Reads the attributes of a previous page. Attributes set meanwhile override them.
   *
   * Synchronous if the store is.
   */
  restore(): Awaitable<void> {
    const stored = this.#store.get(this.#key)
    if (stored === undefined) return
    if (!isPromiseLike(stored)) return this.#take(stored)
    this.#meanwhile = {}
    return this.#takeLater(stored)
  }

  /**
   * The given attributes that differ from the stored ones, copied; {@link merge} would change these.
   *
   * @throws {MessageError} reason `invalid` when they cannot be converted to JSON
   */
  changesOf(attributes: Record<string, unknown>): ContextAttributes {
    const known = this.#attributes ?? {}
    const given = Object.entries(copyOf(attributes))
    return Object.fromEntries(
      given.filter(([name, value]) => !Object.hasOwn(known, name) || !sameJson(known[name], value)),
    )
  }

  /**
   * Calls `announce` with the attributes that differ, if any, and merges them. When `announce` throws, nothing is
   * merged.
   *
   * @throws {MessageError} reason `invalid` when they cannot be converted to JSON
   */
  update(attributes: Record<string, unknown>, announce: (changed: ContextAttributes) => void): void {
    const changed = this.changesOf(attributes)
    if (Object.keys(changed).length === 0) return
    announce(changed)
    this.merge(changed)
  }

  /**
   * Merges attributes over the stored ones, by name and not deeper.
   *
   * @throws {MessageError} reason `invalid` when they cannot be converted to JSON
   */
  merge(attributes: Record<string, unknown>): void {
    const changed = this.changesOf(attributes)
    if (Object.keys(changed).length === 0) return
    this.#scope.shared?.handleContext(changed)
    this.#attributes = Object.freeze({ ...this.#attributes, ...changed })
    this.#setHere ??= new Set()
    for (const name of Object.keys(changed)) this.#setHere.add(name)
    void this.#write()
  }

  /**
   * Sets the user: a fingerprint, or undefined for an anonymous one. Attributes that a previous page stored for another
   * user are removed; those of an anonymous user are kept at a sign-in.
   */
  belongTo(owner: string | undefined): void {
    const previous = this.#user.owner
    this.#user = { owner, isKnown: true }
    if (owner === previous) return
    const isStrangers = previous !== undefined
    if (isStrangers) this.forgetPrevious()
    else if (this.#attributes !== null) void this.#write()
  }

  /** Removes the attributes that a previous page stored. */
  forgetPrevious(): void {
    if (this.#attributes === null) return
    const own = Object.entries(this.#attributes).filter(([name]) => this.#setHere?.has(name))
    this.#attributes = own.length > 0 ? Object.freeze(Object.fromEntries(own)) : null
    void this.#write()
  }

  /** Removes all attributes, here and in the store. */
  remove(): Awaitable<void> {
    this.#drop()
    return this.#write()
  }

  /**
   * Like {@link remove}, and clears the user of the context. In a page's own store, those of every agent of the deployment go.
   *
   * @throws when the store fails, at once or by the promise
   */
  forgetUser(): Awaitable<void> {
    this.#drop()
    this.belongTo(undefined)
    return this.#store.isShared ? this.#store.erase(this.#key) : this.#store.remove({})
  }

  #drop(): void {
    this.#scope.shared?.handleContext(null)
    this.#attributes = null
    this.#setHere = undefined
    if (this.#meanwhile) this.#meanwhile.removed = true
  }

  #take(stored: StoredEntry<unknown>): void {
    const { owner, isKnown } = this.#user
    if (isKnown && stored.user !== undefined && stored.user !== owner) return
    try {
      this.#attributes = Object.freeze({ ...copyOf(stored.value), ...this.#attributes })
      if (typeof stored.user === 'string') this.#user = { owner: stored.user, isKnown }
    } catch {
      // No attributes were stored under our key, so there is nothing to merge.
    }
  }

  async #takeLater(stored: PromiseLike<StoredEntry<unknown> | undefined>): Promise<void> {
    const entry = await stored
    const { changed, removed } = this.#meanwhile ?? {}
    this.#meanwhile = undefined
    // Removed before it was read: the stored attributes are ignored.
    if (entry && !removed) this.#take(entry)
    if (changed) await this.#write()
  }

  #write(): Awaitable<void> {
    if (this.#meanwhile) {
      this.#meanwhile.changed = true
      return
    }
    const value = this.#attributes
    if (value === null) return this.#store.delete(this.#key)
    return this.#store.set(this.#key, value, { user: this.#user.owner })
  }
}

/** A frozen copy, as JSON would return it. */
function copyOf(attributes: unknown): Record<string, unknown> {
  let copy: unknown
  try {
    const text = JSON.stringify(attributes)
    if (text !== undefined) copy = JSON.parse(text, (_name, value) => Object.freeze(value))
  } catch (cause) {
    throw new MessageError(
      'The context cannot be written as JSON: it contains a circular reference or a BigInt.',
      'invalid',
      {
        cause,
      },
    )
  }
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy))
    throw new MessageError('The context is not an object of attributes by name.', 'invalid')
  return copy as Record<string, unknown>
}

/** Whether two JSON values are equal, regardless of the order of members. */
function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every(
    name =>
      Object.hasOwn(b, name) && sameJson((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  )
}

/** Context attribute that names the portal: it selects the portal automatically, and new sessions carry it. */
export const PORTAL_ATTRIBUTE = 'vendor_portal_id'

const DESCRIPTION = 'Portal id to use'

/**
 * The context of a new session: with the selected portal as the attribute `vendor_portal_id`, which the agent's language
 * model does not see. An attribute that the host has set keeps its other fields.
 */
export function withPortalAttribute(context: Readonly<Record<string, unknown>>, portalId: Id): Record<string, unknown> {
  const given = context[PORTAL_ATTRIBUTE]
  const attribute = isJsonObject(given) ? given : {}
  const { description } = attribute
  return {
    ...context,
    [PORTAL_ATTRIBUTE]: {
      ...attribute,
      value: String(portalId),
      type: 'string',
      notInLLM: true,
      description: typeof description === 'string' && description.trim() ? description : DESCRIPTION,
    },
  }
}
