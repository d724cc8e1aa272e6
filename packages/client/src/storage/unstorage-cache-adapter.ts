import { ConfigError } from '../errors.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import type { CacheAdapter, CacheEntry } from './cache-adapter.ts'
import { guardCacheAdapter, type StoreWarning } from './store-guard.ts'

const DEFAULT_BASE = 'aiagent'
/** Segments that every driver accepts unchanged. */
const BASE = /^[\w-]+(?::[\w-]+)*$/

/** The part of an `unstorage` storage that is used. */
export interface UnstorageLike {
  /** The value of a key, or null. */
  getItem(key: string): Promise<unknown>
  /** Stores a value. */
  setItem(key: string, value: object, options?: { ttl?: number }): Promise<void>
  /** Removes the value of a key. */
  removeItem(key: string): Promise<void>
  /** The keys below a base. */
  getKeys(base?: string): Promise<string[]>
}

/** Base of the library's keys, lifetime of entries, and the warning callback. All are optional. */
export interface UnstorageCacheOptions {
  /**
   * Base of all keys, to separate them from other data in the store: letters, digits, `_` and `-`, and colons between
   * segments.
   *
   * @default 'aiagent'
   */
  base?: string
  /**
   * Milliseconds after which the store itself removes an entry that was not written again, in drivers that support it:
   * Redis, Cloudflare KV, Upstash and others. Contexts are entries too, so choose more than the longest pause in a
   * conversation.
   *
   * Without it, entries stay until they are removed, also those that are never read again.
   */
  ttl?: number
  /** Called once when the store fails. @default logs a warning to the console */
  warn?: StoreWarning
  /** Replaces parts of the platform, like the second argument of `AiAgent`. */
  environment?: Partial<Environment>
}

/**
 * An adapter for stores that programs share, such as Redis, over any driver of `unstorage`. Use it as `cache.adapter`,
 * `auth.config.cache.adapter` or in `ApiHelper.setStaticCacheAdapter()`.
 *
 * A store that fails, or takes more than two seconds, costs requests, never a failure.
 *
 * @throws {ConfigError} when `base` or `ttl` is invalid
 */
export function unstorageCacheAdapter(storage: UnstorageLike, options: UnstorageCacheOptions = {}): CacheAdapter {
  const { base = DEFAULT_BASE, ttl } = options
  if (!BASE.test(base))
    throw new ConfigError('base', '`base` is invalid. Use letters, digits, _ and -, with colons between segments.')
  if (ttl !== undefined && !(ttl > 0))
    throw new ConfigError('ttl', '`ttl` is invalid. Use a number of milliseconds above 0.')
  const { clock, console } = resolveEnvironment(options.environment)
  const warn: StoreWarning = (message, details) => console.warn(message, details?.error)
  const adapter = bareAdapter(storage, `${base}:`, ttl)
  return guardCacheAdapter(adapter, clock, options.warn ?? warn)
}

/** The adapter without its guard: it rejects as the store does. */
function bareAdapter(storage: UnstorageLike, start: string, ttlMs = Infinity): CacheAdapter {
  // Drivers count in whole seconds; one that cannot expire entries ignores it.
  const lifetime = ttlMs === Infinity ? {} : { ttl: Math.ceil(ttlMs / 1_000) }
  const place = (key: string) => start + encodeStoreKey(key)
  const remove = (key: string) => storage.removeItem(place(key))
  const keys = async (prefix = ''): Promise<string[]> => {
    // A base ends at a colon, so all keys are listed and filtered here.
    const places = (await storage.getKeys(start)).filter(each => each.startsWith(start))
    const decoded = places.map(each => decodeStoreKey(each.slice(start.length)))
    return decoded.filter(key => key?.startsWith(prefix) === true) as string[]
  }
  return {
    // Validated by the guard, like every result of a store.
    get: key => storage.getItem(place(key)) as Promise<CacheEntry | null>,
    set: (key, entry) => storage.setItem(place(key), entry, lifetime),
    delete: remove,
    async clear(prefix) {
      await Promise.all((await keys(prefix)).map(remove))
    },
    keys,
  }
}

/*
 * Keys for stores that accept few characters: colons and slashes separate, a question mark ends, dots navigate upwards,
 * and file systems limit names.
 *
 * Letters, digits, `_` and `-` stay. Any other UTF-16 unit becomes `~`, its code in hexadecimal, and `_`. Long keys are
 * split by `~:`, which occurs nowhere else, since a `~` in the key itself is encoded.
 */

/** Maximum length of a segment; most file systems accept names of up to 255 bytes. */
const SEGMENT_CHARS = 200
const SEGMENTS = new RegExp(`.{${SEGMENT_CHARS - 1}}(?=..)`, 'g')

/** A key in the form of such a store. Different keys stay different. */
export function encodeStoreKey(key: string): string {
  // The empty key would be the parent folder.
  if (key === '') return '~_'
  const plain = key.replace(/[^A-Za-z0-9_-]/g, unit => `~${unit.charCodeAt(0).toString(16)}_`)
  return plain.replace(SEGMENTS, '$&~:')
}

/** The decoded key; undefined for one that other code stored. */
export function decodeStoreKey(encoded: string): string | undefined {
  const plain = encoded.replaceAll('~:', '').replace('~_', '')
  const key = plain.replace(/~([0-9a-f]{1,4})_/g, (_text, code) => String.fromCharCode(Number.parseInt(code, 16)))
  return encodeStoreKey(key) === encoded ? key : undefined
}
