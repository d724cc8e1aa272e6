import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import { JoinedTask } from '../util/joined-task.ts'
import { encodeKey, fnv1a } from '../util/text.ts'
import { copyJson, isPromiseLike } from '../util/values.ts'
import type { Awaitable, CacheAdapter, CacheConfig, CacheEntry } from './cache-adapter.ts'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'
import { createCacheAdapter, StorageCacheAdapter, storageAdapter } from './storage-cache-adapter.ts'
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
   * The form of a key. `{name}` is a part of it, empty where it has none. `{parameters}` are all other parts, as
   * `name=value`. `{keyPrefix}` and `{contextPrefix}` are the options of `cache`, else `aiagent_`.
   *
   * The parts `deployment`, `hash` (of the deployment's address), `api` and `apiDomain` name the deployment, and `user` the
   * user. Entries that are found without naming a deployment belong to a login provider, and are those of all deployments.
   */
  readonly key: string
  /** @default PLAIN */
  readonly parts?: PartForm
  /**
   * Whether entries go with their user: at a logout, and when the user of an agent is another one. With `logout` they belong to no
   * user, and go at a logout only. All go with `clearStoredData()`.
   */
  readonly goesWith?: 'user' | 'logout'
  /** Where the deployment and the user stand if the key does not name them: in the entry, or in one beside it. */
  readonly ownerIn?: 'entry' | 'beside'
  /** How long an entry is fresh, in milliseconds. @default without a limit */
  readonly ttlMs?: number
  /** Whether an entry is removed where a newer one is not passed on to the store: the next page would send it again. */
  readonly isNewestOnly?: boolean
}

/** Everything that the client and the chat element store. They store nothing under another key. */
export const KINDS = {
  deploymentInfo: { key: 'aiagent_static_deployment-info-{deployment}', ttlMs: FIVE_MINUTES_MS },
  response: {
    key: '{keyPrefix}cache_{name}:{parameters}',
    parts: ENCODED,
    goesWith: 'user',
    ttlMs: FIVE_MINUTES_MS,
  },
  metadata: {
    key: '{keyPrefix}auth_metadata:customer:{apiDomain}:{tenant}:false',
    goesWith: 'logout',
    ttlMs: FIVE_MINUTES_MS,
  },
  loginMetadata: {
    key: 'aiagent_auth_metadata:{userType}:{api}:{tenant}:true',
    goesWith: 'logout',
    ttlMs: FIVE_MINUTES_MS,
  },
  anonymousToken: { key: '{keyPrefix}auth_{tenant}:{api}:anonymous_token:{scopes}', goesWith: 'logout' },
  context: { key: '{contextPrefix}context_{agent}', goesWith: 'user', ownerIn: 'entry' },
  session: {
    key: '{contextPrefix}session_{hash}:{agent}:{user}:{selectedAgent}:{portal}:{profile}:{version}',
    parts: ENCODED,
    goesWith: 'user',
  },
  queue: {
    key: '{contextPrefix}queue_{hash}:{user}:{selectedAgent}:{portal}:{profile}:{version}:{page}',
    parts: ENCODED,
    goesWith: 'user',
    isNewestOnly: true,
  },
  profiles: {
    key: 'vendor_profiles_{agent}_{portal}_{deployment}_{user}_{language}',
    parts: UNDERSCORED,
    goesWith: 'user',
    ttlMs: FIVE_MINUTES_MS,
  },
  selectedProfile: { key: 'v2_{prefix}selectedProfile-{portal}', goesWith: 'user', ownerIn: 'beside' },
  // A browser may bring back a tab, with its sessionStorage, days later.
  signOut: { key: 'aiagent_signed-out_{contextPrefix}session_{hash}:{agent}:{group}', ttlMs: 30 * DAY_MS },
  rememberedLogin: { key: 'aiagent_auth_login:{deployment}' },
  loginUser: { key: 'aiagent_oidc_user.{version}.{login}' },
  loginState: { key: 'aiagent_oidc_state.{id}', ttlMs: DAY_MS },
  // Texts of the chat element's launcher: whether there is a conversation, and the last message that it has shown.
  launcher: { key: 'aiagent_launcher_{launcher}', goesWith: 'user' },
  // Texts that the callback page reads and writes.
  loginAnswer: { key: 'aiagent_login_answer' },
  loginReturn: { key: 'aiagent_login_return' },
} satisfies Record<string, Kind>

/** The user of an anonymous token, in keys. */
export const ANONYMOUS = 'anonymous'

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

/** Which entries a removal leaves. */
interface RemovalOptions {
  /** Those with these parts of keys. The owner in an entry is not one of them. */
  readonly except?: KeyParts | undefined
  /** Those without this text in the key, after the prefix. */
  readonly text?: string | undefined
  /** Those with these keys, which agents use. */
  readonly inUse?: ReadonlySet<string> | undefined
}

/** Where entries are stored, and for whom. */
export interface StorePlace {
  readonly environment: Pick<Environment, 'sessionStorage' | 'localStorage' | 'memory' | 'console' | 'clock' | 'page'>
  readonly cache?: { [Field in keyof CacheConfig]?: CacheConfig[Field] | undefined } | undefined
  /** Address of the deployment, as `restBase()` returns it. */
  readonly deployment?: string | undefined
  /** Receives a warning when the store fails. @default the console */
  readonly logger?: Pick<Logger, 'warn'> | undefined
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
  /** How long an entry is fresh; undefined without a limit. */
  readonly #ttlMs: number | undefined
  /** Undefined until it is used, and null where nothing is stored. */
  #opened: StoreGuard | null | undefined
  #isShared = false
  /** Requests in flight where nothing is stored. */
  flights: JoinedTask<unknown> | undefined

  constructor(kind: Kind, place: StorePlace) {
    this.#kind = kind
    this.#place = place
    this.#ttlMs = kind.ttlMs && (place.cache?.ttl ?? kind.ttlMs)
  }

  /** Whether several users may use the store: a custom one, or the memory of a process without a page. */
  get isShared(): boolean {
    return this.#guard !== undefined && this.#isShared
  }

  /** The key of an entry. */
  key(parts: KeyParts): string {
    return keysWith(this.#kind, this.#place.cache, parts).key
  }

  /** The fresh entry of a key; undefined for one of another deployment. */
  get(key: string): Awaitable<StoredEntry<T> | undefined> {
    const entry = this.#guard?.get(key)
    if (isPromiseLike(entry)) return entry.then(each => (each ? this.#read(key, each) : undefined))
    return entry ? this.#read(key, entry) : undefined
  }

  /** The fresh value of a key, if the store answers at once, as the stores of a page do. */
  peek(key: string): T | undefined {
    const entry = this.get(key)
    return entry && 'value' in entry ? entry.value : undefined
  }

  /** Stores a value. Resolves when it is stored, and when the store fails. */
  set(key: string, value: T, facts: Pick<StoredEntry<T>, 'user' | 'expiresAt'> = {}): Awaitable<void> {
    const { environment, deployment } = this.#place
    const timestamp = environment.clock.now()
    const { expiresAt = timestamp + (this.#ttlMs ?? Infinity), user } = facts
    const entry: StoredEntry<T> = {
      value: copyJson(value),
      timestamp,
      ...(expiresAt !== Infinity && { expiresAt }),
      ...(deployment !== undefined && { deployment }),
      ...(user !== undefined && { user }),
    }
    const guard = this.#guard
    return guard?.isResting && this.#kind.isNewestOnly ? guard.delete(key) : guard?.set(key, entry)
  }

  /** Removes the entry of a key, unless it is another deployment's. */
  delete(key: string): Awaitable<void> {
    const guard = this.#guard
    return this.#unlessOthers(key, () => guard?.delete(key))
  }

  /**
   * As {@link delete}.
   *
   * @throws when the store failed or did not answer in time, at once or by the promise: the entry may remain, but is not read
   */
  erase(key: string): Awaitable<void> {
    const guard = this.#guard
    return this.#unlessOthers(key, () => guard?.remove(key))
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
    const value = await this.share(
      key,
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
        if (this.isWanted(key, flight)) await this.set(key, fetched)
        return fetched
      },
      signal,
    )
    // A key always has the same type of value, for all callers.
    return copyJson(value) as T
  }

  /** Starts a request, or joins the one in flight for the same key, of any agent that shares the store. */
  share<U>(key: string, start: (signal: AbortSignal) => Promise<U>, signal?: AbortSignal): Promise<U> {
    const owner: { flights: JoinedTask<unknown> | undefined } = this.#guard ?? this
    owner.flights ??= new JoinedTask()
    return (owner.flights as JoinedTask<U>).join(start, signal, key)
  }

  /** Whether the result of a request in flight may be stored: its key was not removed since it began, by any agent. */
  isWanted(key: string, flight: AbortSignal): boolean {
    return (this.#guard ?? this).flights?.runs(key, flight) ?? false
  }

  /**
   * The keys of the entries with the given parts.
   *
   * @throws when the store failed or did not answer in time: it is not empty
   */
  async keys(parts: KeyParts): Promise<string[]> {
    const { start, matches } = this.matching(parts)
    return ((await this.#guard?.list(start)) ?? []).filter(matches)
  }

  /**
   * Removes the entries with the given parts, except those of other deployments. Requests in flight for them are not joined any
   * more, and their results not stored.
   *
   * @throws when the store failed or did not answer in time, at once or by the promise: entries may remain, but are not read
   */
  remove(parts: KeyParts, { except, text, inUse }: RemovalOptions = {}): Awaitable<void> {
    const guard = this.#guard
    const { flights } = guard ?? this
    if (!guard && !flights) return
    const { id, start, matches } = this.matching(parts, except, text)
    flights?.forget(matches)
    if (!guard) return
    const mayGo = (key: string) => matches(key) && !inUse?.has(key)
    if (!this.#kind.ownerIn) return guard.removeAll(`${id} ${[...(inUse ?? [])]}`, start, mayGo)
    return after(guard.list(start), keys => all(keys.filter(mayGo).map(key => this.erase(key))))
  }

  /** The store; undefined where nothing is stored. */
  get #guard(): StoreGuard | undefined {
    if (this.#opened !== undefined) return this.#opened ?? undefined
    const { environment, cache = {}, isCopy, logger } = this.#place
    const warn: StoreWarning = (message, details) =>
      logger ? logger.warn(message, details) : environment.console.warn(message, details?.error)
    let { adapter } = this.#place
    if (!adapter && cache.enabled !== false)
      adapter = cache.adapter ?? createCacheAdapter(cache.storageType, environment, warn)
    this.#opened = null
    if (!adapter || (isCopy && adapter === environment.memory)) return undefined
    this.#opened = guardCacheAdapter(
      adapter,
      environment.clock,
      warn,
      adapter === cache.adapter && !(adapter instanceof StorageCacheAdapter),
    )
    this.#isShared = adapter === cache.adapter || (adapter === environment.memory && !environment.page)
    return this.#opened
  }

  /** The keys that agents of this page or process use, with what each of them uses it with. */
  get inUse(): Map<string, object> {
    return this.#guard?.inUse ?? new Map()
  }

  /** What tells the keys with the given parts, with a text after the prefix, except those with the other parts. */
  matching(parts: KeyParts, except?: KeyParts, text = '') {
    const { cache } = this.#place
    const { start, pattern } = keysWith(this.#kind, cache, parts)
    const others = except && keysWith(this.#kind, cache, { ...parts, ...except }).pattern
    const matches = (key: string) => key.includes(text, start.length) && pattern.test(key) && !others?.test(key)
    return { id: `${pattern} ${others} ${text}`, start, matches }
  }

  #unlessOthers(key: string, remove: () => Awaitable<void>): Awaitable<void> {
    const guard = this.#guard
    if (!guard || this.#kind.ownerIn === undefined) return remove()
    return after(guard.find(key), entry => (this.#isOthers(entry) ? undefined : remove()))
  }

  #isOthers(entry: StoredEntry<unknown> | null): boolean {
    return entry?.deployment !== undefined && entry.deployment !== this.#place.deployment
  }

  #read(key: string, entry: StoredEntry<unknown>): StoredEntry<T> | undefined {
    const { ownerIn } = this.#kind
    const { environment, deployment } = this.#place
    if (ownerIn && (this.#isOthers(entry) || (ownerIn === 'entry' && entry.deployment !== deployment))) return undefined
    if (isFresh(entry, environment.clock.now(), this.#ttlMs ?? Infinity)) {
      try {
        return copyJson(entry) as StoredEntry<T>
      } catch {
        // A custom store may return what JSON cannot represent.
        return undefined
      }
    }
    void this.#guard?.delete(key)
    return undefined
  }
}

/** Whether an entry has not expired. One from before the clock was set back lives no longer. */
function isFresh(
  { timestamp, expiresAt = Infinity }: StoredEntry<unknown>,
  now: number,
  ttlMs = expiresAt - timestamp,
): boolean {
  return now < expiresAt && Math.abs(now - timestamp) < ttlMs
}

/** Start of keys without a configured prefix. */
const PREFIX = 'aiagent_'

/** Minimum time between two removals of expired entries from a store, in milliseconds. */
const SWEEP_EVERY_MS = 60_000

/** When expired entries were removed from a store in the last minute, by the start of the keys. */
const sweeps = /* @__PURE__ */ new WeakMap<CacheAdapter, Map<string, number>>()

/**
 * Removes the expired entries of every user and deployment from the stores of the page and the memory of the process, at most
 * once a minute. Not from a store of the host, whose keys may be many and remote.
 */
export function removeExpiredEntries(environment: StorePlace['environment'], prefixes: Prefixes = {}): void {
  const { sessionStorage, localStorage, memory, console, clock } = environment
  const now = clock.now()
  const starts = [PREFIX, 'vendor_profiles_', prefixes.keyPrefix, prefixes.contextPrefix]
  const ownMemory = memory instanceof MemoryCacheAdapter ? memory : undefined
  for (const storage of [sessionStorage, localStorage, undefined]) {
    const adapter = storage ? storageAdapter(storage, message => console.warn(message)) : ownMemory
    if (!adapter) continue
    const times = sweeps.get(adapter) ?? new Map<string, number>()
    sweeps.set(adapter, times)
    for (const start of starts) {
      if (!start || Math.abs(now - (times.get(start) ?? -Infinity)) < SWEEP_EVERY_MS) continue
      // A host may have a prefix for each of its users.
      if (start === PREFIX) times.clear()
      times.set(start, now)
      for (const key of adapter.keys(start)) {
        const entry = adapter.get(key) as StoredEntry<unknown> | null
        if (typeof entry?.expiresAt === 'number' && !isFresh(entry, now)) adapter.delete(key)
      }
    }
  }
}

/** What has a meaning in a pattern. */
const SPECIAL = /[\\^$.*+?()[\]{}|]/g

/** The keys of a kind with some parts: the one without other parts, and of all of them their common start and their pattern. */
export function keysWith(
  { key: form, parts: { write, any } = PLAIN }: Kind,
  { keyPrefix, contextPrefix = keyPrefix }: Prefixes = {},
  parts: KeyParts,
): { readonly key: string; readonly start: string; readonly pattern: RegExp } {
  const written: Record<string, string> = { keyPrefix: keyPrefix || PREFIX, contextPrefix: contextPrefix || PREFIX }
  const parameters: string[] = []
  for (const name of Object.keys(parts).sort()) {
    const part = parts[name]
    if (part === undefined) continue
    const text = write?.(part) ?? part
    if (form.includes(`{${name}}`)) written[name] = text
    else parameters.push(`${name}=${text}`)
  }
  let key = ''
  let start: string | undefined
  let source = ''
  for (const [index, piece] of form.split(/[{}]/).entries()) {
    const text = index % 2 ? written[piece] : piece
    const isList = piece === 'parameters'
    if (text === undefined) start ??= key
    key += text ?? (isList ? parameters.join('&') : '')
    if (text !== undefined) source += text.replace(SPECIAL, '\\$&')
    else
      source += isList
        ? parameters.map(each => `(?=(?:.*&)?${each.replace(SPECIAL, '\\$&')}(?:&|$))`).join('') + PLAIN.any
        : any
  }
  return { key, start: start ?? key, pattern: new RegExp(`^${source}$`, 's') }
}

/** The parts that name a deployment. */
export function namesOf(deployment: string | undefined): KeyParts {
  return { deployment, hash: deployment && fnv1a(deployment) }
}

/** Continues with a value, at once if it is there. */
function after<T, U>(value: Awaitable<T>, work: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromiseLike(value) ? Promise.resolve(value).then(work) : work(value)
}

/** Waits for all, if there is anything to wait for. */
function all(awaited: readonly Awaitable<unknown>[]): Awaitable<void> {
  return awaited.some(isPromiseLike) ? Promise.all(awaited).then(() => {}) : undefined
}
