import { isJsonObject, restBase } from '@aiagent/protocol'
import type { Environment, StorageLike } from '../platform/environment.ts'
import type { CacheConfig } from '../storage/cache-adapter.ts'
import { createCacheAdapter } from '../storage/create-cache-adapter.ts'
import { joinKeyParts } from '../storage/key-parts.ts'
import { fnv1a } from '../util/fnv1a.ts'
import { encodeKey } from '../util/well-formed.ts'

/** Key of the cached deployment info; the address of the deployment follows. */
const DEPLOYMENT = 'aiagent_static_deployment-info-'

/** Start of the keys of remembered sign-outs; the key of a session follows. */
const SIGNED_OUT = 'aiagent_signed-out_'

/** Key of the login that a tab remembers; the address of the deployment follows. */
const LOGIN = 'aiagent_auth_login:'

/** What to remove. */
export interface StoredDataOptions {
  /** Base of the deployment's addresses. */
  readonly endpoint: string
  /** Prefixes of the configured cache. */
  readonly cache?: Pick<CacheConfig, 'keyPrefix' | 'contextPrefix'> | undefined
  /** Whether the signed-in user's tokens are removed too. They are stored by provider, so those of every deployment are. */
  readonly withSignIn: boolean
}

/**
 * Removes what the library stored for a deployment in session and local storage, and in IndexedDB. Sends no request. A custom adapter and the
 * memory of a process may be shared by many users; they are left alone.
 */
export async function clearStoredData(environment: Environment, options: StoredDataOptions): Promise<void> {
  const { endpoint, cache, withSignIn } = options
  for (const type of ['session', 'local'] as const) {
    const storage = type === 'session' ? environment.sessionStorage : environment.localStorage
    if (!storage) continue
    const adapter = createCacheAdapter(type, environment)
    const belongs = matcher(options, storage)
    const keys = new Set([...(await adapter.keys()), ...keysOf(storage)])
    // Collected first: an entry may say whose another one is.
    for (const key of [...keys].filter(belongs)) {
      await adapter.delete(key)
      storage.removeItem(key)
    }
  }
  if (!withSignIn || !environment.page || typeof indexedDB === 'undefined') return
  // Unsent messages of `persistQueue`; a signed-out agent removes its own.
  const { clearStoredQueues } = await import('../outbox/create-stored-queue.ts')
  await clearStoredQueues(endpoint, cache)
}

/** Decides whether an entry belongs to the deployment. */
function matcher({ endpoint, cache, withSignIn }: StoredDataOptions, storage: StorageLike): (key: string) => boolean {
  const deployment = storedValue(storage, DEPLOYMENT + endpoint)
  const apiDomain = isJsonObject(deployment) ? deployment['apiDomain'] : undefined
  // Without cached deployment info the API host is unknown: the cached responses of every deployment are removed.
  const api = typeof apiDomain === 'string' ? restBase(apiDomain) : undefined
  const prefixes = (name: string) => [`aiagent_${name}_`, ...(cache?.keyPrefix ? [`${cache.keyPrefix}${name}_`] : [])]
  const contexts = [...prefixes('context'), ...(cache?.contextPrefix ? [`${cache.contextPrefix}context_`] : [])]
  const sessions = [...prefixes('session'), ...(cache?.contextPrefix ? [`${cache.contextPrefix}session_`] : [])]
  const startsWith = (key: string, starts: readonly string[]) => starts.some(start => key.startsWith(start))
  const namesApi = (key: string) =>
    api === undefined || key.includes(encodeKey(api)) || key.includes(api) || key.includes(`${apiDomain}`)
  return key =>
    key === DEPLOYMENT + endpoint ||
    key === LOGIN + endpoint ||
    (startsWith(key, [...prefixes('cache'), ...prefixes('auth')]) && namesApi(key)) ||
    (startsWith(key, contexts) && ownerOf(storage, key) === endpoint) ||
    startsWith(
      key.replace(SIGNED_OUT, ''),
      sessions.map(start => `${start}${fnv1a(endpoint)}:`),
    ) ||
    (key.startsWith('vendor_profiles_') && key.split('_')[4] === joinKeyParts(endpoint)) ||
    (/^(?:aiagent_owner_)?v2_.*selectedProfile-/.test(key) &&
      storage.getItem(`aiagent_owner_${key.replace(/^aiagent_owner_/, '')}`)?.startsWith(joinKeyParts(endpoint, '')) ===
        true) ||
    (withSignIn && /^aiagent_(?:oidc|login_)/.test(key))
}

function keysOf(storage: StorageLike): string[] {
  return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '')
}

/** The deployment that an entry of the context names. */
function ownerOf(storage: StorageLike, key: string): unknown {
  const entry = parse(storage.getItem(key))
  return isJsonObject(entry) ? entry['api'] : undefined
}

function storedValue(storage: StorageLike, key: string): unknown {
  const entry = parse(storage.getItem(key))
  return isJsonObject(entry) ? entry['value'] : undefined
}

function parse(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
