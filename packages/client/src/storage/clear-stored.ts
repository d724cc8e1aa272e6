import { isJsonObject, restBase } from '@aiagent/protocol'
import { type CacheAdapter, hasDatabase } from './cache-adapter.ts'
import { databaseOf } from './indexed-db-cache-adapter.ts'
import {
  all,
  KeyedStore,
  type KeyParts,
  KINDS,
  type Kind,
  namesOf,
  type Prefixes,
  type StorePlace,
} from './keyed-store.ts'
import { storageAdapter } from './storage-cache-adapter.ts'
import { TextAdapter } from './text-adapter.ts'

/**
 * Removes the entries of a deployment from the stores of the page: all of them, or with `isSignOut` those that go with the
 * user. A custom adapter and the memory of a process may be shared by many users; they are left alone.
 *
 * @throws when the database of the page failed or did not answer in time: entries may remain, but are not read
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
  const infoKey = new KeyedStore(KINDS.deploymentInfo, { environment }).key({ deployment: endpoint })
  const [apiDomain] = stores.flatMap(({ adapter }) => {
    const info = adapter.get(infoKey)?.value
    return isJsonObject(info) && typeof info['apiDomain'] === 'string' ? [info['apiDomain']] : []
  })
  // Where the API host is unknown, the entries of all API hosts are removed.
  const api = apiDomain === undefined ? undefined : restBase(apiDomain)
  const names: KeyParts = { ...namesOf(endpoint), api, apiDomain }
  const forms = prefixes.keyPrefix || prefixes.contextPrefix ? [{}, prefixes] : [{}]
  const kinds = Object.values<Kind>(KINDS).filter(({ isUsers }) => isUsers || !isSignOut)
  const removeFrom = (adapterOf: (kind: Kind) => CacheAdapter) =>
    all(
      kinds.flatMap(kind =>
        forms.map(cache =>
          new KeyedStore(kind, { environment, cache, deployment: endpoint, adapter: adapterOf(kind) }).remove(
            // The other names would count as parameters of a response.
            kind === KINDS.response ? { api } : names,
          ),
        ),
      ),
    )
  for (const { storage, adapter } of stores)
    void removeFrom(({ ownerIn }) => (ownerIn === 'beside' ? new TextAdapter(storage, adapter) : adapter))
  const window = environment.page?.window
  if (window && !isSignOut && (await hasDatabase())) await removeFrom(() => databaseOf(window))
}
