import type { FailingDatabase, Fault } from '../../store-places.ts'

const NAME = 'aiagent'
const { open } = IDBFactory.prototype
const { get, put, delete: remove, getAllKeys } = IDBObjectStore.prototype

/** The IndexedDB of the page, which fails as a browser's does. It replaces the methods that the client calls. */
export class FaultyDatabase implements FailingDatabase {
  fault: Fault = 'works'
  wait = async (): Promise<void> => {}
  /** Requests without an answer, apart from those that never get one. */
  #open = 0
  #begun = 0

  constructor() {
    const database = this
    IDBFactory.prototype.open = function (name, version) {
      if (database.fault === 'fails') throw new DOMException('The user forbids it.', 'SecurityError')
      return database.#watch(open.call(this, name, version))
    }
    IDBObjectStore.prototype.get = function (key) {
      if (['fails', 'cannot be read'].includes(database.fault)) throw new DOMException('Broken.', 'UnknownError')
      return database.#answer(get.call(this, key))
    }
    IDBObjectStore.prototype.getAllKeys = function (query) {
      if (database.fault === 'fails') throw new DOMException('Broken.', 'UnknownError')
      return database.#answer(getAllKeys.call(this, query))
    }
    IDBObjectStore.prototype.put = function (value, key) {
      // Nothing is written by one that hangs.
      if (database.fault === 'hangs') return database.#answer(get.call(this, 'none')) as IDBRequest<IDBValidKey>
      const request = database.#answer(put.call(this, value, key))
      if (['fails', 'is full'].includes(database.fault)) this.transaction.abort()
      return request
    }
    IDBObjectStore.prototype.delete = function (key) {
      if (database.fault === 'hangs') return database.#answer(get.call(this, 'none')) as IDBRequest<undefined>
      const request = database.#answer(remove.call(this, key))
      if (database.fault === 'fails') this.transaction.abort()
      return request
    }
  }

  async content(): Promise<unknown[]> {
    if (!(await indexedDB.databases()).some(({ name }) => name === NAME)) return []
    const database = await resultOf(open.call(indexedDB, NAME))
    const content = await resultOf(database.transaction('entries').objectStore('entries').getAll())
    database.close()
    return content
  }

  async settle(): Promise<void> {
    for (let seen = -1; seen !== this.#begun; ) {
      seen = this.#begun
      do await turn(4)
      while (this.#open > 0)
    }
  }

  async clear(): Promise<void> {
    // Resolves only when every page has closed its connection.
    await resultOf(indexedDB.deleteDatabase(NAME))
    await this.settle()
  }

  #answer<T>(request: IDBRequest<T>): IDBRequest<T> {
    if (this.fault === 'hangs' || this.fault === 'is slow') {
      const { fault } = this
      let isLate = false
      request.addEventListener('success', event => {
        if (isLate) return
        event.stopImmediatePropagation()
        if (fault === 'hangs') return
        void this.wait().then(() => {
          isLate = true
          request.dispatchEvent(new Event('success'))
        })
      })
    }
    return this.#watch(request)
  }

  #watch<Request extends IDBRequest>(request: Request): Request {
    this.#begun++
    this.#open++
    const done = () => void this.#open--
    // Before those of the client, one of which stops the event.
    const transaction = request.transaction ?? request
    if (transaction === request) {
      request.addEventListener('success', done, { capture: true, once: true })
      request.addEventListener('error', done, { capture: true, once: true })
    } else {
      transaction.addEventListener('complete', done, { once: true })
      transaction.addEventListener('abort', done, { once: true })
    }
    return request
  }
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error))
  })
}

async function turn(turns: number): Promise<void> {
  for (let count = 0; count < turns; count++) await new Promise<void>(resolve => setImmediate(resolve))
}
