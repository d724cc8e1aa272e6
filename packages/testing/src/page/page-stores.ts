/** An entry of a store of a page: the name of the store, the key, the value. */
export type StoredEntry = readonly [sink: string, where: string, value: string]

/**
 * Reads everything that a page has stored. Runs in the page, so it must not use anything outside of it.
 *
 * Binary data is read as text.
 */
export async function readStores(): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = []
  const stores = { 'local storage': () => localStorage, 'session storage': () => sessionStorage }
  for (const [sink, open] of Object.entries(stores))
    try {
      for (const [key, value] of Object.entries({ ...open() })) entries.push([sink, key, String(value)])
    } catch {
      // A page without an origin has no stores.
    }
  const toText = (value: unknown): string => {
    if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return new TextDecoder().decode(value)
    if (typeof value !== 'object' || value === null) return String(value)
    if (value instanceof Map || value instanceof Set) return [...value].map(toText).join('\n')
    return Object.entries(value)
      .map(([key, child]) => `${key}: ${toText(child)}`)
      .join('\n')
  }
  const settled = <Result>(request: IDBRequest<Result>) =>
    new Promise<Result>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  const databases = 'databases' in indexedDB ? await indexedDB.databases() : []
  for (const { name } of databases) {
    if (name === undefined) continue
    const database = await settled(indexedDB.open(name))
    for (const store of [...database.objectStoreNames]) {
      const records = database.transaction(store).objectStore(store)
      const [keys, values] = await Promise.all([settled(records.getAllKeys()), settled(records.getAll())])
      for (const [index, key] of keys.entries())
        entries.push(['IndexedDB', `${name}/${store}/${toText(key)}`, toText(values[index])])
    }
    database.close()
  }
  if ('caches' in globalThis)
    for (const name of await caches.keys()) {
      const cache = await caches.open(name)
      for (const request of await cache.keys())
        entries.push(['cache storage', `${name} ${request.url}`, (await (await cache.match(request))?.text()) ?? ''])
    }
  entries.push(['page', 'title', document.title], ['page', 'window.name', window.name])
  return entries
}
