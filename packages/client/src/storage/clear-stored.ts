import { isJsonObject, restBase } from '@aiagent/protocol'
import { type CacheAdapter, hasDatabase } from './cache-adapter.ts'
import { storageAdapter } from './create-cache-adapter.ts'
import { databaseOf } from './indexed-db-cache-adapter.ts'
import {
  after,
  all,
  type KeyParts,
  KINDS,
  type Kind,
  keysWith,
  namesOf,
  type Prefixes,
  type StoredEntry,
  type StorePlace,
} from './keyed-store.ts'
import { TextAdapter } from './text-adapter.ts'

/**
 * Removes the entries of a deployment from the stores of the page: all of them, or with `isSignOut` those that go with the
 * user. A custom adapter and the memory of a process may be shared by many users; they are left alone.
 */
export async function clearStored(
  environment: StorePlace['environment'],
  endpoint: string,
  prefixes: Prefixes = {},
  { isSignOut = false } = {},
): Promise<void> {
  const { sessionStorage, localStorage, console } = environment
  const stores = [sessionStorage, localStorage].flatMap(storage =>
    storage ? [{ storage, adapter: storageAdapter(storage, message => console.warn(message)) }] : [],
  )
  const infoKey = keysWith(KINDS.deploymentInfo, {}, { deployment: endpoint }).key
  const infos = stores.map(({ adapter }) => adapter.get(infoKey)?.value)
  const [apiDomain] = infos.flatMap(info => {
    const domain = isJsonObject(info) ? info['apiDomain'] : undefined
    return typeof domain === 'string' ? [domain] : []
  })
  // Where the API host is unknown, the entries of all API hosts are removed.
  const api = apiDomain === undefined ? undefined : restBase(apiDomain)
  const names: KeyParts = { ...namesOf(endpoint), api, apiDomain }
  const forms = prefixes.keyPrefix || prefixes.contextPrefix ? [{}, prefixes] : [{}]
  const kinds = Object.values<Kind>(KINDS).filter(({ isUsers }) => isUsers || !isSignOut)
  const removeFrom = (adapterOfKind: (kind: Kind) => CacheAdapter) =>
    all(
      kinds.flatMap(kind =>
        forms.map(prefix => {
          // The other names would count as parameters of a response.
          const { start, pattern } = keysWith(kind, prefix, kind === KINDS.response ? { api } : names)
          const isWanted = (entry: StoredEntry<unknown> | null) =>
            kind.ownerIn === undefined || entry?.deployment === endpoint
          const adapter = adapterOfKind(kind)
          const remove = (key: string) =>
            after(adapter.get(key), entry => (isWanted(entry) ? adapter.delete(key) : undefined))
          return after(adapter.keys(start), keys => all(keys.filter(key => pattern.test(key)).map(remove)))
        }),
      ),
    )
  for (const { storage, adapter } of stores)
    void removeFrom(({ ownerIn }) => (ownerIn === 'beside' ? new TextAdapter(storage, adapter) : adapter))
  const window = environment.page?.window
  if (window && !isSignOut && (await hasDatabase())) await removeFrom(() => databaseOf(window))
}
