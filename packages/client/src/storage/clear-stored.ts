import { type DeploymentInfo, isJsonObject, restBase } from '@aiagent/protocol'
import type { StorageLike } from '../platform/environment.ts'
import type { SignOutCause } from '../scope.ts'
import { withTimeLimit } from '../util/abort.ts'
import { type CacheAdapter, type CacheConfig, hasDatabase } from './cache-adapter.ts'
import { databaseOf } from './indexed-db-cache-adapter.ts'
import { ANONYMOUS, KeyedStore, type KeyParts, KINDS, type Kind, namesOf, type StorePlace } from './keyed-store.ts'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'
import { type StorageCacheAdapter, storageAdapter } from './storage-cache-adapter.ts'
import { REMOVAL_LIMIT_MS } from './store-guard.ts'
import { TextAdapter } from './text-adapter.ts'

/** Which entries of a deployment are removed. */
interface Removal {
  /** Only those that go with a user, for this reason. @default all */
  readonly cause?: SignOutCause
  /** The user, as keys name them. @default unknown: in a page the sessions and queues of all users are removed, elsewhere none */
  readonly user?: string | undefined
  /** Fingerprints of the users of the agent, also of anonymous ones, whose cached responses and profiles are removed. @default none */
  readonly readers?: ReadonlySet<string>
  /** The deployment. @default as stored; without it the entries of every API host and tenant are removed */
  readonly info?: Pick<DeploymentInfo, 'apiDomain' | 'tenantId'> | undefined
  /** The store of the anonymous token, where the host app has configured one. */
  readonly ofToken?: StoreOptions | undefined
}

/** The options of `cache` that say where entries are, and how their keys begin. */
type StoreOptions = Partial<Pick<CacheConfig, 'adapter' | 'keyPrefix' | 'contextPrefix'>>

/**
 * Removes the entries of a deployment: in the stores of the page those of every user, since a page has one user, but for the
 * sessions and queues of others, who may come back to them. Many users share a custom adapter and the memory of a process: there
 * only the entries go whose key names the user.
 *
 * @throws when such a store failed or did not answer in time: entries may remain, but are not read
 */
export async function clearStored(
  environment: StorePlace['environment'],
  endpoint: string,
  cache: StoreOptions = {},
  { cause, user, readers = new Set(), info, ofToken = {} }: Removal = {},
): Promise<void> {
  const { sessionStorage, localStorage, memory, page, console, clock } = environment
  const stores: { storage?: StorageLike; adapter: MemoryCacheAdapter | StorageCacheAdapter }[] = []
  for (const storage of [sessionStorage, localStorage])
    if (storage) stores.push({ storage, adapter: storageAdapter(storage, message => console.warn(message)) })
  if (page && memory instanceof MemoryCacheAdapter) stores.push({ adapter: memory })
  const infoKey = new KeyedStore(KINDS.deploymentInfo, { environment }).key({ deployment: endpoint })
  // One that has expired, too: deployments seldom move.
  const infos = stores.map(({ adapter }) => adapter.get(infoKey)?.value)
  const names = { ...namesOf(endpoint), ...namesIn(info ?? infos.find(isJsonObject)) }
  const kinds = Object.values<Kind>(KINDS).filter(
    ({ goesWith }) => cause === undefined || goesWith === 'user' || goesWith === cause,
  )
  const prefixes = [{}, ...[cache, ofToken].filter(({ keyPrefix, contextPrefix }) => keyPrefix || contextPrefix)]
  /** Begins at once. */
  const remove = async (kind: Kind, options: StoreOptions, adapter: CacheAdapter, parts: KeyParts) => {
    const store = new KeyedStore(kind, { environment, cache: options, deployment: endpoint, adapter })
    // Those of now: who comes later finds nothing that could not be removed.
    const inUse = new Set(cause && store.inUse.keys())
    // Other names would count as parameters of a response. Another user may come back to what is handed over.
    const isHandedOver = kind === KINDS.session || kind === KINDS.queue
    const named =
      kind === KINDS.response ? { api: parts['api'], user: parts['user'] } : isHandedOver ? { user, ...parts } : parts
    await store.remove(named, { inUse })
  }
  const removals = stores.flatMap(({ storage, adapter }) =>
    kinds.flatMap(kind => {
      const place = kind.ownerIn === 'beside' ? new TextAdapter(storage, adapter) : adapter
      return prefixes.map(options => remove(kind, options, place, names))
    }),
  )
  const shared = cache.adapter ?? (page ? undefined : memory)
  // A prefix names the conversation, so that its anonymous user is the present one.
  const isOfConversation = cache.contextPrefix !== undefined
  const name = user ?? (isOfConversation ? ANONYMOUS : undefined)
  if (cause && shared) {
    const removeOf = (kind: Kind, owner: string) => remove(kind, cache, shared, { ...names, user: owner })
    if (name !== undefined && (name !== ANONYMOUS || isOfConversation))
      removals.push(...[KINDS.session, KINDS.queue].map(kind => removeOf(kind, name)))
    // Other services may know the same user.
    const ofReaders = names['api'] === undefined ? [KINDS.profiles] : [KINDS.profiles, KINDS.response]
    for (const reader of readers) removals.push(...ofReaders.map(kind => removeOf(kind, reader)))
  }
  const window = page?.window
  const inDatabase = async () => {
    if (!window || !(await hasDatabase(window))) return
    const adapter = databaseOf(window)
    await Promise.all(prefixes.map(options => remove(KINDS.queue, options, adapter, names)))
  }
  removals.push(withTimeLimit(clock, REMOVAL_LIMIT_MS, undefined, inDatabase))
  await Promise.all(removals)
}

/** The parts of keys that name the service of a deployment. */
function namesIn(info: unknown): KeyParts {
  const { apiDomain, tenantId } = isJsonObject(info) ? info : {}
  return {
    ...(typeof apiDomain === 'string' && { api: restBase(apiDomain), apiDomain }),
    tenant: typeof tenantId === 'string' && tenantId !== '' ? tenantId : undefined,
  }
}
