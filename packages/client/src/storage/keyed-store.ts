import { restBase } from '@aiagent/protocol'
import type { Environment, StorageLike } from '../platform/environment.ts'
import { fnv1a } from '../util/fnv1a.ts'
import { isPromiseLike } from '../util/is-promise-like.ts'
import { JoinedTask } from '../util/joined-task.ts'
import { copyJson, objectIn } from '../util/json.ts'
import type { UserStateRegistry } from '../util/user-state.ts'
import { encodeKey } from '../util/well-formed.ts'
import type { Awaitable, CacheAdapter, CacheConfig, CacheEntry } from './cache-adapter.ts'
import { createCacheAdapter, storageAdapter } from './create-cache-adapter.ts'
import { guardCacheAdapter, type StoreGuard, type StoreWarning } from './store-guard.ts'

/** How a part is written into a key, and the pattern of any part. */
interface PartForm {
  /** @default as it is */
  readonly write?: (part: string) => string
  readonly any: string
}

const PLAIN: PartForm = { any: '.*' }
/** A colon separates the parts. */
const ENCODED: PartForm = { write: encodeKey, any: '[^:]*' }
/** An underscore separates the parts. */
const UNDERSCORED: PartForm = {
  write: part => part.replaceAll('%', '%25').replaceAll('_', '%5F'),
  any: '[^_]*',
}

const FIVE_MINUTES_MS = 300_000
const DAY_MS = 86_400_000

/** How the entries of one kind are stored. */
export interface Kind {
  /**
   * The form of a key. `{name}` is a part of it, and `{_name}` one that may be absent. `{parameters}` are all other
   * parts, as `name=value`. `{keyPrefix}` and `{contextPrefix}` are the options of `cache`, else `aiagent_`.
   *
   * The parts `deployment`, `hash` (of the deployment's address), `api` and `apiDomain` name the deployment, and `user` the
   * user. Entries that are found without naming a deployment belong to a login provider, and are those of all deployments.
   */
  readonly key: string
  /** @default PLAIN */
  readonly parts?: PartForm
  /** Whether entries go with the user who signs out. All go with `clearStoredData()`. */
  readonly isUsers: boolean
  /** Where the deployment and the user stand if the key does not name them: in the entry, or in one beside it. */
  readonly ownerIn?: 'entry' | 'beside'
  /** How long an entry is fresh, in milliseconds. @default without a limit */
  readonly ttlMs?: number
  /** For a text without an envelope, the time from which `ttlMs` counts; undefined for one that stays. */
  readonly timeOf?: (text: string) => number | undefined
}

/** Everything that the client stores. An agent stores nothing under another key. */
export const KINDS = {
  deploymentInfo: {
    key: 'aiagent_static_deployment-info-{deployment}',
    isUsers: false,
    ttlMs: FIVE_MINUTES_MS,
  },
  response: {
    key: '{keyPrefix}cache_{name}:{parameters}',
    parts: ENCODED,
    isUsers: true,
    ttlMs: FIVE_MINUTES_MS,
  },
  metadata: {
    key: '{keyPrefix}auth_metadata:customer:{apiDomain}:{tenant}:false',
    isUsers: true,
    ttlMs: FIVE_MINUTES_MS,
  },
  loginMetadata: {
    key: 'aiagent_auth_metadata:{userType}:{api}:{tenant}:true',
    isUsers: true,
    ttlMs: FIVE_MINUTES_MS,
  },
  anonymousToken: { key: '{keyPrefix}auth_{tenant}:{api}:anonymous_token:{scopes}', isUsers: true },
  context: { key: '{contextPrefix}context_{agent}', isUsers: true, ownerIn: 'entry' },
  session: {
    key: '{contextPrefix}session_{hash}:{agent}:{user}:{selectedAgent}:{portal}:{profile}:{version}',
    parts: ENCODED,
    isUsers: true,
  },
  queue: {
    key: '{contextPrefix}queue_{hash}:{user}:{selectedAgent}:{portal}:{profile}:{version}:{page}',
    parts: ENCODED,
    isUsers: true,
  },
  profiles: {
    key: 'vendor_profiles_{agent}_{portal}_{deployment}_{user}{_language}',
    parts: UNDERSCORED,
    isUsers: true,
    ttlMs: FIVE_MINUTES_MS,
  },
  selectedProfile: { key: 'v2_{tenant}selectedProfile-{portal}', isUsers: true, ownerIn: 'beside' },
  signOut: {
    key: 'aiagent_signed-out_{contextPrefix}session_{hash}:{group}',
    isUsers: false,
    ttlMs: 30 * DAY_MS,
    timeOf: text => finite(Number.parseInt(text, 10)),
  },
  rememberedLogin: { key: 'aiagent_auth_login:{deployment}', isUsers: false },
  loginUser: {
    key: 'aiagent_oidc_user.{login}',
    isUsers: false,
    // After the expiry of the access token: longer than providers renew it.
    ttlMs: 90 * DAY_MS,
    timeOf: text => finite(objectIn(text)?.['expiresAt']),
  },
  loginState: {
    key: 'aiagent_oidc_state.{id}',
    isUsers: false,
    ttlMs: DAY_MS,
    timeOf: text => finite(objectIn(text)?.['beganAt']) ?? Number.NEGATIVE_INFINITY,
  },
  loginAnswer: { key: 'aiagent_login_answer', isUsers: false },
  loginReturn: { key: 'aiagent_login_return', isUsers: false },
} satisfies Record<string, Kind>

/** Parts of a key by name. */
export type KeyParts = Readonly<Record<string, string | undefined>>

/** The options of `cache` that begin keys. */
export type Prefixes = { [Field in 'keyPrefix' | 'contextPrefix']?: CacheConfig[Field] | undefined }

/** The stored form of a value. */
export interface StoredEntry<T> extends CacheEntry<T> {
  /** When it expires, in milliseconds since the epoch. @default never */
  readonly expiresAt?: number | undefined
  /** Address of the deployment. */
  readonly deployment?: string | undefined
  /** Fingerprint of the user; undefined for an anonymous one. */
  readonly user?: string | undefined
}

/** Where entries are stored, and for whom. */
export interface StorePlace {
  readonly environment: Pick<Environment, 'sessionStorage' | 'localStorage' | 'memory' | 'console' | 'clock' | 'page'>
  readonly cache?: { [Field in keyof CacheConfig]?: CacheConfig[Field] | undefined } | undefined
  /** Address of the deployment. */
  readonly deployment?: string | undefined
  /** Id of the agent. */
  readonly agent?: string | undefined
  /** Where a store of users' entries registers itself, so that a sign-out empties it. */
  readonly userState?: UserStateRegistry | undefined
  /** Called once when the store fails. @default warns on the console */
  readonly warn?: StoreWarning | undefined
  /**
   * Whether the caller has the values too. Then nothing is stored where there is no store but the memory of the process, which
   * is shared by conversations of different users.
   *
   * @default false
   */
  readonly isCopy?: boolean
  /** Replaces the store of the configuration. */
  readonly adapter?: CacheAdapter | undefined
}

/**
 * The entries of one kind in a store. It answers synchronously if the store does, and never fails: a store that fails counts
 * as empty. Values are copied on the way in and out.
 */
export class KeyedStore<T = unknown> {
  readonly #kind: Kind
  readonly #place: StorePlace
  readonly #deployment: string | undefined
  readonly #ttlMs: number
  #store: { readonly adapter: CacheAdapter | undefined; readonly guard: StoreGuard | undefined } | undefined
  /** Requests in flight where nothing is stored. */
  flights: JoinedTask<unknown> | undefined
  /** Users whose keys this object has made. */
  #users: Set<string> | undefined
  /** Incremented with every removal, so that results of earlier requests are not stored after it. */
  #removals = 0

  constructor(kind: Kind, place: StorePlace) {
    this.#kind = kind
    this.#place = place
    this.#deployment = place.deployment === undefined ? undefined : restBase(place.deployment)
    this.#ttlMs = kind.ttlMs === undefined ? Number.POSITIVE_INFINITY : (place.cache?.ttl ?? kind.ttlMs)
    if (kind.isUsers) place.userState?.own(this)
  }

  /** Whether several users may use the store: a custom one, or the memory of a process without a page. */
  get isShared(): boolean {
    const { environment, cache } = this.#place
    const { adapter } = this.#opened
    return (
      adapter !== undefined && (adapter === cache?.adapter || (adapter === environment.memory && !environment.page))
    )
  }

  /** The key of an entry. */
  key(parts: KeyParts): string {
    const { user } = parts
    if (user) (this.#users ??= new Set()).add(user)
    return keyOf(this.#kind, this.#place.cache ?? {}, parts)
  }

  /** The fresh entry of a key; undefined for one of another deployment. */
  get(key: string): Awaitable<StoredEntry<T> | undefined> {
    const entry = this.#opened.guard?.get(key)
    if (isPromiseLike(entry)) return entry.then(each => (each ? this.#read(key, each) : undefined))
    return entry ? this.#read(key, entry) : undefined
  }

  /** Stores a value. Resolves when it is stored, and when the store fails. */
  set(key: string, value: T, facts: Pick<StoredEntry<T>, 'user' | 'expiresAt'> = {}): Awaitable<void> {
    const { guard } = this.#opened
    if (!guard) return
    const timestamp = this.#place.environment.clock.now()
    const { expiresAt = timestamp + this.#ttlMs } = facts
    const entry: StoredEntry<T> = {
      value: copyJson(value),
      timestamp,
      ...(expiresAt !== Number.POSITIVE_INFINITY && { expiresAt }),
      ...(this.#deployment !== undefined && { deployment: this.#deployment }),
      ...(facts.user !== undefined && { user: facts.user }),
    }
    return guard.set(key, entry)
  }

  /** Removes the entry of a key, unless it is another deployment's. */
  delete(key: string): Awaitable<void> {
    const { guard } = this.#opened
    if (!guard || this.#kind.ownerIn === undefined) return guard?.delete(key)
    const open = guard.settled(key)
    return open ? open.then(() => this.#deleteOwn(guard, key)) : this.#deleteOwn(guard, key)
  }

  /**
   * The fresh value of a key, otherwise the result of `fetch`, which is then stored. Concurrent callers share one `fetch`.
   *
   * @param read returns a stored value as `fetch` would; throws or returns undefined if it has another shape
   */
  async load(
    key: string,
    fetch: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
    read?: (stored: T) => unknown,
  ): Promise<T> {
    const removals = this.#removals
    const value = await this.share(
      `${key}#${removals}`,
      async flight => {
        removeExpiredEntries(this.#place.environment, this.#place.cache)
        const stored = await this.get(key)
        try {
          const known = read && stored ? await read(stored.value) : stored?.value
          if (known) return known
        } catch {
          // Other code of the page may have written it.
        }
        const fetched = await fetch(flight)
        if (removals === this.#removals) await this.set(key, fetched)
        return fetched
      },
      signal,
    )
    // A key always has the same type of value, for all callers.
    return copyJson(value) as T
  }

  /** Starts a request, or joins the one in flight for the same key, of any agent that shares the store. */
  share<U>(key: string, start: (signal: AbortSignal) => Promise<U>, signal?: AbortSignal): Promise<U> {
    const owner = this.#opened.guard ?? this
    owner.flights ??= new JoinedTask()
    return (owner.flights as JoinedTask<U>).join(start, signal, key)
  }

  /**
   * The keys of the entries with the given parts, except those with the other ones.
   *
   * @throws when the store failed or did not answer in time: it is not empty
   */
  async keys(parts: KeyParts, except?: KeyParts): Promise<string[]> {
    const { cache = {} } = this.#place
    const { start, pattern } = patternOf(this.#kind, cache, parts)
    const others = except && patternOf(this.#kind, cache, { ...parts, ...except }).pattern
    return ((await this.#opened.guard?.list(start)) ?? []).filter(key => pattern.test(key) && !others?.test(key))
  }

  /**
   * Removes the entries with the given parts, except those with the other ones, and those of other deployments.
   *
   * @param text a part of the keys after the prefix
   * @throws when the store failed or did not answer in time, at once or by the promise: entries may remain, but are not read
   */
  remove(parts: KeyParts, except?: KeyParts, text = ''): Awaitable<void> {
    this.#removals++
    const { guard } = this.#opened
    if (!guard) return
    const { cache = {} } = this.#place
    const { start, pattern } = patternOf(this.#kind, cache, parts)
    if (this.#kind.ownerIn) {
      const isWanted = (entry: StoredEntry<unknown> | null) => {
        if (this.#isOthers(entry)) return false
        return except === undefined || (entry?.deployment !== undefined && entry.user !== except['user'])
      }
      return removeOwned(guard, start, pattern, isWanted)
    }
    const others = except && patternOf(this.#kind, cache, { ...parts, ...except }).pattern
    const matches = (key: string) => key.includes(text, start.length) && pattern.test(key) && !others?.test(key)
    return guard.removeAll(`${pattern.source} ${others?.source} ${text}`, start, matches)
  }

  /**
   * As {@link remove}, only for the users of this object and the given one. In a page's own store it removes the entries of
   * all users.
   */
  removeUsers(parts: KeyParts, user?: string): Awaitable<void> {
    if (!this.isShared) return this.remove(parts)
    const users = new Set(this.#users)
    if (user !== undefined) users.add(user)
    this.#users = undefined
    const keep = (error: unknown) => {
      this.#users = new Set([...users, ...(this.#users ?? [])])
      throw error
    }
    try {
      const removed = all([...users].map(each => this.remove({ ...parts, user: each })))
      return isPromiseLike(removed) ? removed.then(undefined, keep) : removed
    } catch (error) {
      return keep(error)
    }
  }

  /** Removes what {@link removeUsers} does of the deployment, and of the agent where the key names it. */
  forgetUser(): Awaitable<void> {
    const { agent } = this.#place
    return this.removeUsers(named(this.#kind, { agent, ...namesOf(this.#deployment) }))
  }

  /** The store, with its guard; neither where nothing is stored. */
  get #opened() {
    if (this.#store) return this.#store
    const { environment, cache = {}, isCopy, warn } = this.#place
    let { adapter } = this.#place
    if (!adapter && cache.enabled !== false)
      adapter = cache.adapter ?? createCacheAdapter(cache.storageType, environment, warn)
    if (isCopy && adapter === environment.memory) adapter = undefined
    const onFailure: StoreWarning = warn ?? ((message, details) => environment.console.warn(message, details?.error))
    const guard = adapter && guardCacheAdapter(adapter, environment.clock, onFailure, adapter === cache.adapter)
    this.#store = { adapter, guard }
    return this.#store
  }

  #deleteOwn(guard: StoreGuard, key: string): Awaitable<void> {
    const remove = (entry: StoredEntry<unknown> | null) => (this.#isOthers(entry) ? undefined : guard.delete(key))
    const entry = guard.get(key)
    return isPromiseLike(entry) ? entry.then(remove) : remove(entry)
  }

  #isOthers(entry: StoredEntry<unknown> | null): boolean {
    return entry?.deployment !== undefined && entry.deployment !== this.#deployment
  }

  #read(key: string, entry: StoredEntry<unknown>): StoredEntry<T> | undefined {
    if (this.#kind.ownerIn === 'entry' && entry.deployment !== this.#deployment) return undefined
    if (this.#kind.ownerIn && this.#isOthers(entry)) return undefined
    const now = this.#place.environment.clock.now()
    const isFresh = this.#ttlMs === Number.POSITIVE_INFINITY || Math.abs(now - entry.timestamp) < this.#ttlMs
    if (isFresh && now < (entry.expiresAt ?? Number.POSITIVE_INFINITY)) {
      try {
        return copyJson(entry) as StoredEntry<T>
      } catch {
        // A custom store may return what JSON cannot represent.
        return undefined
      }
    }
    void this.#opened.guard?.delete(key)
    return undefined
  }
}

/** Minimum time between two removals of expired entries from a store, in milliseconds. */
const SWEEP_EVERY_MS = 60_000

/** When expired entries were removed from a store, by the prefixes of the keys. */
const sweeps = /* @__PURE__ */ new WeakMap<CacheAdapter, Map<string, number>>()

/**
 * Removes the expired entries of every user and deployment from the stores of the page and the memory of the process, at most
 * once a minute. Not from a custom adapter, whose keys may be many and remote.
 */
export function removeExpiredEntries(environment: StorePlace['environment'], prefixes: Prefixes = {}): void {
  const { sessionStorage, localStorage, memory, console, clock } = environment
  const now = clock.now()
  const name = `${prefixes.keyPrefix} ${prefixes.contextPrefix}`
  for (const storage of [sessionStorage, localStorage, undefined]) {
    const adapter = storage ? storageAdapter(storage, message => console.warn(message)) : memory
    const times = sweeps.get(adapter) ?? new Map<string, number>()
    if (Math.abs(now - (times.get(name) ?? Number.NEGATIVE_INFINITY)) < SWEEP_EVERY_MS) continue
    sweeps.set(adapter, times.set(name, now))
    const keys = adapter.keys()
    if (isPromiseLike(keys)) continue
    if (storage) sweepPage(adapter, storage, keys, prefixes, now)
    else for (const key of keys) removeExpired(adapter, key, now)
  }
}

function sweepPage(adapter: CacheAdapter, storage: StorageLike, keys: string[], prefixes: Prefixes, now: number): void {
  for (const { timeOf, ttlMs = 0, ...kind } of Object.values<Kind>(KINDS)) {
    const { pattern } = patternOf(kind, prefixes, {})
    for (const key of keys) {
      if (!pattern.test(key)) continue
      const time = timeOf?.(textOf(storage, key))
      if (!timeOf) removeExpired(adapter, key, now)
      else if (time !== undefined && Math.abs(now - time) >= ttlMs) void adapter.delete(key)
    }
  }
}

/** The text of a key; empty where access is forbidden. */
function textOf(storage: StorageLike, key: string): string {
  try {
    return storage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

function removeExpired(adapter: CacheAdapter, key: string, now: number): void {
  const entry = adapter.get(key)
  if (entry === null || isPromiseLike(entry)) return
  const { timestamp, expiresAt } = entry as StoredEntry<unknown>
  // An entry of the future was written before the clock was set back.
  if (typeof expiresAt === 'number' && Math.abs(now - timestamp) >= expiresAt - timestamp) void adapter.delete(key)
}

/** Start of keys without a configured prefix. */
const PREFIX = 'aiagent_'

/** Texts and names of a key's form in turn. */
const FORM = /[{}]/

/** The key of an entry of a kind. */
export function keyOf({ key, parts: form = PLAIN }: Kind, prefixes: Prefixes, parts: KeyParts): string {
  const { keyPrefix, contextPrefix = keyPrefix } = prefixes
  let text = ''
  let isName = false
  for (const piece of key.split(FORM)) {
    const separator = isName && piece.startsWith('_') ? '_' : ''
    const part = isName ? parts[piece.slice(separator.length)] : undefined
    if (!isName) text += piece
    else if (part !== undefined) text += separator + (form.write?.(part) ?? part)
    else if (piece === 'parameters') text += parametersOf(key, form, parts).join('&')
    else if (piece === 'keyPrefix') text += keyPrefix || PREFIX
    else if (piece === 'contextPrefix') text += contextPrefix || PREFIX
    isName = !isName
  }
  return text
}

/** The parts without a place in a key, by name. */
function parametersOf(key: string, { write }: PartForm, parts: KeyParts): string[] {
  const parameters: string[] = []
  for (const name of Object.keys(parts).sort()) {
    const value = parts[name]
    if (value !== undefined && !key.includes(`{${name}}`)) parameters.push(`${name}=${write?.(value) ?? value}`)
  }
  return parameters
}

/** The pattern of the keys with some parts, and the start that they have in common. */
export function patternOf(
  { key, parts: form = PLAIN }: Kind,
  prefixes: Prefixes,
  parts: KeyParts,
): { readonly start: string; readonly pattern: RegExp } {
  let start = ''
  let source = ''
  let isCommon = true
  const { keyPrefix, contextPrefix = keyPrefix } = prefixes
  const prefix: KeyParts = { keyPrefix: keyPrefix || PREFIX, contextPrefix: contextPrefix || PREFIX }
  for (const [index, piece] of key.split(FORM).entries()) {
    const value = index % 2 ? parts[piece] : piece
    const written = index % 2 && value !== undefined ? form.write?.(value) : undefined
    const known = written ?? value ?? prefix[piece]
    isCommon &&= known !== undefined
    if (isCommon) start += known
    if (known !== undefined) source += escaped(known)
    else source += piece.startsWith('_') ? `(?:_${form.any})?` : piece === 'parameters' ? '.*' : form.any
  }
  const parameters = key.includes('{parameters}') ? parametersOf(key, form, parts) : []
  const required = parameters.map(each => `(?=.*[:&]${escaped(each)}(?:&|$))`).join('')
  return { start, pattern: new RegExp(`^${required}${source}$`, 's') }
}

/** The parts that name a deployment. */
export function namesOf(deployment: string | undefined): KeyParts {
  return { deployment, hash: deployment && fnv1a(deployment) }
}

/** Those of some parts that the keys of a kind have: with parameters, `api` is one of them. */
export function named({ key }: Kind, parts: KeyParts): KeyParts {
  const has = (name: string) => key.includes(`{${name}}`) || (name === 'api' && key.includes('{parameters}'))
  return Object.fromEntries(Object.entries(parts).filter(([name]) => has(name)))
}

/** Removes the matching entries, of which the entry itself decides. */
export function removeOwned(
  adapter: Pick<CacheAdapter, 'get' | 'delete' | 'keys'>,
  start: string,
  pattern: RegExp,
  isWanted: (entry: StoredEntry<unknown> | null) => boolean,
): Awaitable<void> {
  return after(adapter.keys(start), keys =>
    all(
      keys
        .filter(key => pattern.test(key))
        .map(key => after(adapter.get(key), entry => (isWanted(entry) ? adapter.delete(key) : undefined))),
    ),
  )
}

/** Continues with a value, at once if it is there. */
function after<T, U>(value: Awaitable<T>, work: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromiseLike(value) ? Promise.resolve(value).then(work) : work(value)
}

export function all(awaited: readonly Awaitable<unknown>[]): Awaitable<void> {
  return awaited.some(isPromiseLike) ? Promise.all(awaited).then(() => {}) : undefined
}

/** A finite number; undefined for anything else. */
function finite(value: unknown): number | undefined {
  return Number.isFinite(value) ? (value as number) : undefined
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
