import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeStorage } from '../../test/fake-service.ts'
import { FakeLocks, FakeWindow } from '../../test/fake-window.ts'
import type { AgentScope } from '../scope.ts'
import type { CacheAdapter, CacheEntry } from '../storage/cache-adapter.ts'
import { KINDS, keysWith } from '../storage/keyed-store.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { StorageCacheAdapter } from '../storage/storage-cache-adapter.ts'
import { StoredSession } from './stored-session.ts'

const KEY = 'aiagent_session_agent:person:place'

interface PageOptions {
  readonly isTabs?: boolean
  readonly isPage?: boolean
  readonly adapter?: CacheAdapter
}

/** The pages of one browser: each stores the session of one agent. */
function setUpBrowser({ withLocks = true } = {}) {
  const locks = new FakeLocks()
  const warnings: string[] = []
  let holders = 0
  const pageIn = (storage: FakeStorage, { isTabs = true, isPage = true, adapter }: PageOptions = {}) => {
    const window = new FakeWindow(withLocks ? locks : undefined)
    const environment = {
      clock: new ManualClock(),
      console,
      memory: new MemoryCacheAdapter(),
      page: isPage ? { window } : undefined,
      randomUUID: () => `holder-${++holders}`,
    }
    const warn = (message: string) => void warnings.push(message)
    const scope = { environment, config: { cache: {} }, logger: { warn } } as unknown as AgentScope<never>
    const keeper = (own: CacheAdapter = adapter ?? new StorageCacheAdapter(storage)) =>
      new StoredSession(scope, own, isTabs)
    return { window, keeper }
  }
  return { locks, warnings, pageIn }
}

/** A tab's store in the state of a new tab. */
function copyOf(storage: FakeStorage): FakeStorage {
  const copy = new FakeStorage()
  for (const [key, value] of storage.items) copy.setItem(key, value)
  return copy
}

/** What an entry holds, with its holder. */
const partsOf = ({ left, holder }: { left: object; holder?: string }) => ({
  ...left,
  ...(holder !== undefined && { holder: holder.replace('aiagent-session-1-', '') }),
})

/** The entries of a tab's store. */
const entriesOf = (storage: FakeStorage) =>
  Object.fromEntries([...storage.items].map(([key, text]) => [key, partsOf(JSON.parse(text).value)]))

describe.each([
  ['a browser with locks', { withLocks: true }],
  ['a browser without locks', { withLocks: false }],
])('StoredSession in %s', (_name, options) => {
  let browser: ReturnType<typeof setUpBrowser>
  let storage: FakeStorage
  beforeEach(() => {
    browser = setUpBrowser(options)
    storage = new FakeStorage()
  })

  /** A page that has stored a session. */
  const keepOne = async (sessionId = 's1') => {
    const page = browser.pageIn(storage)
    const kept = page.keeper()
    expect(await kept.take(KEY)).toBeUndefined()
    kept.keep(sessionId, KEY)
    await turnEventLoop()
    return { ...page, kept }
  }

  it('passes the session to the next page', async () => {
    const { window } = await keepOne()
    window.leave()
    await turnEventLoop()
    expect(await browser.pageIn(storage).keeper().take(KEY)).toBe('s1')
  })

  it('passes it to no page whose store was copied while it was in use', async () => {
    await keepOne()
    const copy = copyOf(storage)
    const opened = browser.pageIn(copy).keeper()
    expect(await opened.take(KEY)).toBeUndefined()
    opened.keep('s2', KEY)
    await turnEventLoop()
    expect(entriesOf(copy)).toEqual({ [KEY]: { sessionId: 's2', holder: 'holder-2' } })
    expect(entriesOf(storage)).toEqual({ [KEY]: { sessionId: 's1', holder: 'holder-1' } })
  })

  it('passes data on that is stored while the page is left, and waits for no lock to do so', async () => {
    const { window, kept } = await keepOne()
    window.leave()
    void kept.setData({ draft: 'half' })
    await turnEventLoop()
    expect(entriesOf(storage)).toEqual({ [KEY]: { sessionId: 's1', data: { draft: 'half' } } })
    expect(browser.locks.size).toBe(0)
    window.comeBack()
    await turnEventLoop()
    expect(entriesOf(storage)).toEqual({ [KEY]: { sessionId: 's1', holder: 'holder-1', data: { draft: 'half' } } })
  })

  it('claims it again when the page is restored from the back/forward cache', async () => {
    const { window } = await keepOne()
    window.leave()
    await turnEventLoop()
    expect(entriesOf(storage)).toEqual({ [KEY]: { sessionId: 's1' } })
    expect(browser.locks.size).toBe(0)
    window.comeBack()
    await turnEventLoop()
    expect(entriesOf(storage)).toEqual({ [KEY]: { sessionId: 's1', holder: 'holder-1' } })
    expect(await browser.pageIn(copyOf(storage)).keeper().take(KEY)).toBeUndefined()
  })

  it('stores the session of the restored page, even if another one has stored its own meanwhile', async () => {
    const { window } = await keepOne()
    window.leave()
    await turnEventLoop()
    const next = browser.pageIn(storage)
    const kept = next.keeper()
    await kept.take(KEY)
    kept.keep('s2', KEY)
    await turnEventLoop()
    next.window.leave()
    window.comeBack()
    await turnEventLoop()
    expect(entriesOf(storage)).toEqual({ [KEY]: { sessionId: 's1', holder: 'holder-1' } })
  })

  it('releases it to another agent of the same page in destroy()', async () => {
    const { kept, keeper } = await keepOne()
    const released = kept.release()
    const next = keeper()
    await released
    expect(await next.take(KEY)).toBe('s1')
    kept.keep('late', KEY)
    kept.drop()
    await turnEventLoop()
    expect(entriesOf(storage)).toEqual({ [KEY]: { sessionId: 's1', holder: 'holder-2' } })
  })

  it('stores nothing for the second of two agents of a page, and warns once', async () => {
    const { keeper, kept } = await keepOne()
    const adapter = new StorageCacheAdapter(storage)
    const [first, second] = [keeper(adapter), keeper(adapter)]
    await kept.release()
    expect(await first.take(KEY)).toBe('s1')
    expect(await second.take(KEY)).toBeUndefined()
    second.keep('s2', KEY)
    second.keep('s3', KEY)
    second.drop()
    await turnEventLoop()
    expect(entriesOf(storage)).toEqual({ [KEY]: { sessionId: 's1', holder: 'holder-2' } })
    expect(browser.warnings).toEqual([expect.stringContaining('Another agent stores its session')])
  })

  it('removes it, and stores the next one', async () => {
    const { kept } = await keepOne()
    kept.drop()
    await turnEventLoop()
    expect(entriesOf(storage)).toEqual({})
    kept.keep('s2', KEY)
    await turnEventLoop()
    expect(entriesOf(storage)).toEqual({ [KEY]: { sessionId: 's2', holder: 'holder-1' } })
  })

  it('moves with the conversation to another key', async () => {
    const { kept } = await keepOne()
    kept.keep('s2', `${KEY}-2`)
    await turnEventLoop()
    expect(entriesOf(storage)).toEqual({ [`${KEY}-2`]: { sessionId: 's2', holder: 'holder-2' } })
  })

  it('removes all with a prefix, except those in use by another agent of the page', async () => {
    const adapter = new StorageCacheAdapter(storage)
    const page = browser.pageIn(storage)
    const [mine, other] = [page.keeper(adapter), page.keeper(adapter)]
    const keyFor = (agent: string, user: string, portal: string) =>
      keysWith(KINDS.session, {}, { hash: 'h', agent, user, selectedAgent: agent, portal, profile: '', version: '1' })
        .key
    const [first, second] = [keyFor('a', 'ann', '1'), keyFor('a', 'ann', '2')]
    await Promise.all([mine.take(first), other.take(second)])
    mine.keep('s1', first)
    other.keep('s2', second)
    await turnEventLoop()
    const kept = [keyFor('a', 'bob', '1'), keyFor('b', 'ann', '1'), 'cart']
    for (const key of [keyFor('a', 'ann', '3'), ...kept]) storage.setItem(key, '{}')
    await mine.forget({ hash: 'h', agent: 'a' }, { user: 'bob' })
    expect([...storage.items.keys()]).toEqual([second, ...kept])
    page.window.leave()
    await turnEventLoop()
    expect([...storage.items.keys()]).not.toContain(first)
  })

  it.each([
    ['a number', 7],
    ['an object of another kind', { id: 's1' }],
    ['a placeholder', { sessionId: 'undefined' }],
  ])('does not accept %s as a session', async (_kind, value) => {
    new StorageCacheAdapter(storage).set(KEY, { value: { left: value }, timestamp: 1 })
    expect(await browser.pageIn(storage).keeper().take(KEY)).toBeUndefined()
  })

  it('loses only the session if the store fails', async () => {
    const failing = new MemoryCacheAdapter()
    failing.get = () => {
      throw new Error('out of order')
    }
    failing.set = () => {
      throw new Error('out of order')
    }
    const kept = browser.pageIn(storage).keeper(failing)
    expect(await kept.take(KEY)).toBeUndefined()
    kept.keep('s1', KEY)
    kept.drop()
    await kept.release()
    expect(browser.warnings.length).toBeGreaterThan(0)
  })
})

describe('StoredSession after a page that crashed', () => {
  it('continues if the browser knows that the holder is gone', async () => {
    const { pageIn, locks } = setUpBrowser()
    const storage = new FakeStorage()
    const page = pageIn(storage)
    const kept = page.keeper()
    await kept.take(KEY)
    kept.keep('s1', KEY)
    await turnEventLoop()
    locks.bury(page.window)
    const copy = copyOf(storage)
    expect(await pageIn(storage).keeper().take(KEY)).toBe('s1')
    // The tab of the crashed page was copied as well: one of the two continues.
    expect(await pageIn(copy).keeper().take(KEY)).toBeUndefined()
  })

  it('does not continue if the browser cannot know', async () => {
    const { pageIn } = setUpBrowser({ withLocks: false })
    const storage = new FakeStorage()
    const kept = pageIn(storage).keeper()
    await kept.take(KEY)
    kept.keep('s1', KEY)
    await turnEventLoop()
    expect(await pageIn(storage).keeper().take(KEY)).toBeUndefined()
  })
})

/** A slow store that several pages or processes share. */
class SharedStore implements CacheAdapter {
  readonly entries = new MemoryCacheAdapter()
  get = async (key: string) => (await turnEventLoop(), this.entries.get(key))
  set = async (key: string, entry: CacheEntry) => (await turnEventLoop(), this.entries.set(key, entry))
  delete = async (key: string) => (await turnEventLoop(), this.entries.delete(key))
  clear = async (prefix?: string) => this.entries.clear(prefix)
  keys = async (prefix?: string) => this.entries.keys(prefix)
}

describe('StoredSession in a shared store', () => {
  it('keeps the entry of a page that is alive', async () => {
    const { pageIn } = setUpBrowser()
    const store = new SharedStore()
    const first = pageIn(new FakeStorage(), { isTabs: false, adapter: store }).keeper()
    await first.take(KEY)
    first.keep('s1', KEY)
    await turnEventLoop(20)
    const second = pageIn(new FakeStorage(), { isTabs: false, adapter: store }).keeper()
    expect(await second.take(KEY)).toBeUndefined()
    second.keep('s2', KEY)
    second.drop()
    await second.release()
    expect(store.entries.get(KEY)?.value).toMatchObject({ left: { sessionId: 's1' } })
  })

  it('belongs to the latest caller outside a page, who alone may remove it', async () => {
    const { pageIn } = setUpBrowser()
    const store = new SharedStore()
    const shared = { isTabs: false, adapter: store, isPage: false }
    const first = pageIn(new FakeStorage(), shared).keeper()
    await first.take(KEY)
    first.keep('s1', KEY)
    // Another process: it shares only the store.
    const processStore = new SharedStore()
    processStore.get = store.get
    processStore.set = store.set
    processStore.delete = store.delete
    const second = pageIn(new FakeStorage(), { ...shared, adapter: processStore }).keeper()
    await turnEventLoop(20)
    expect(await second.take(KEY)).toBe('s1')
    first.drop()
    await turnEventLoop(20)
    expect(partsOf(store.entries.get(KEY)?.value as { left: object })).toEqual({ sessionId: 's1', holder: 'holder-2' })
    second.drop()
    await turnEventLoop(20)
    expect(store.entries.get(KEY)).toBeNull()
  })
})
