import {
  ApiHelper,
  type CacheAdapter,
  type CacheConfig,
  type CacheEntry,
  MemoryCacheAdapter,
  type StorageLike,
} from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { turnEventLoop } from '@aiagent/test-support'
import { expect } from 'vitest'
import { countRequests, LISTS } from '../desk.ts'
import { Journal } from '../journal.ts'
import { newTab, type Place, reloaded } from '../tab.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

const DETAILS = paths.agentDetails('help')

/** Keys of the entries in a storage. */
const keysIn = (store: StorageLike | undefined): string[] =>
  Array.from({ length: store?.length ?? 0 }, (_, index) => store?.key(index) ?? '').sort()

/** Initializes an agent with this cache in a tab or process. */
async function start(service: Service, place: Place, cache?: CacheConfig) {
  const agent = service.newAgent(cache && { cache }, service.environment(place))
  await agent.initialize()
  return agent
}

verifies(
  'CFG-09',
  'by default responses and context are in session storage, and responses are fresh for five minutes',
  async service => {
    const tab = newTab()
    const agent = await start(service, tab)
    await agent.setContext({ plan: 'gold' })
    expect(keysIn(tab.sessionStorage)).toEqual([
      expect.stringMatching(/^aiagent_auth_.*:anonymous_token:[0-9a-f]{8}$/),
      expect.stringMatching(/^aiagent_auth_.*:anonymous_token:[0-9a-f]{8}$/),
      expect.stringMatching(/^aiagent_auth_metadata:/),
      expect.stringMatching(/^aiagent_cache_getAgentDetails:agentId=help&api=/),
      'aiagent_context_help',
      expect.stringMatching(/^aiagent_static_deployment-info-/),
    ])
    expect(keysIn(tab.localStorage)).toEqual([])
    await service.elapse(299_999)
    expect((await start(service, reloaded(tab))).getContext()).toEqual({ plan: 'gold' })
    expect(countRequests(service, DETAILS)).toBe(1)
    await service.elapse(1)
    expect((await start(service, reloaded(tab))).getContext()).toEqual({ plan: 'gold' })
    expect(countRequests(service, DETAILS)).toBe(2)
  },
)

verifies('CFG-09', 'ttl limits how long responses are fresh; with 0 nothing is cached', async service => {
  const tab = newTab()
  await start(service, tab, { ttl: 10_000 })
  await service.elapse(9_999)
  await start(service, reloaded(tab), { ttl: 10_000 })
  expect(countRequests(service, DETAILS)).toBe(1)
  await service.elapse(1)
  await start(service, reloaded(tab), { ttl: 10_000 })
  expect(countRequests(service, DETAILS)).toBe(2)
  await start(service, reloaded(tab), { ttl: 0 })
  expect(countRequests(service, DETAILS)).toBe(3)
})

/** The same store with asynchronous results. */
function answeringLater(store: CacheAdapter): CacheAdapter {
  return {
    get: async key => store.get(key),
    set: async (key, entry) => store.set(key, entry),
    delete: async key => store.delete(key),
    clear: async prefix => store.clear(prefix),
    keys: async prefix => store.keys(prefix),
  }
}

for (const [title, configOf, survives] of [
  ["'session' uses session storage", () => ({ storageType: 'session' }), { reload: true, otherTab: false }],
  ["'local' uses local storage", () => ({ storageType: 'local' }), { reload: true, otherTab: true }],
  ["'memory' lasts until the page is left", () => ({ storageType: 'memory' }), { reload: false, otherTab: false }],
  ['a custom adapter lasts as long as its store', adapter => ({ adapter }), { reload: true, otherTab: true }],
  [
    'a custom adapter may return promises',
    adapter => ({ adapter: answeringLater(adapter) }),
    { reload: true, otherTab: true },
  ],
] as readonly [string, (adapter: CacheAdapter) => CacheConfig, { reload: boolean; otherTab: boolean }][])
  verifies('CFG-09', title, async service => {
    const cache = configOf(new MemoryCacheAdapter())
    const tab = newTab()
    const first = await start(service, tab, cache)
    await first.setContext({ plan: 'gold' })
    // A second agent in the same page, and one after a reload: memory serves only the first of them.
    await start(service, tab, cache)
    expect(countRequests(service, DETAILS)).toBe(1)
    for (const [place, survived] of [
      [reloaded(tab), survives.reload],
      [{ ...newTab(), localStorage: tab.localStorage }, survives.otherTab],
    ] as const) {
      const before = countRequests(service, DETAILS)
      const next = await start(service, place, cache)
      expect(countRequests(service, DETAILS) - before).toBe(survived ? 0 : 1)
      expect(next.getContext()).toEqual(survived ? { plan: 'gold' } : null)
    }
  })

/** The calls whose responses are cached: path and call. */
const KEPT: readonly [string, string, (api: ApiHelper) => Promise<unknown>][] = [
  ['agent details', paths.agentDetails('desk'), api => api.getAgentDetails({ agentId: 'desk' })],
  ['portals', LISTS.all, api => api.getPortals({ departmentId: 999 })],
  ['my portals', LISTS.my, api => api.getMyPortals()],
  ['portal details', paths.portalDetails(1001), api => api.getPortalDetails({ portalId: 1001 })],
  ['profiles', paths.userProfiles(1001), api => api.getUserProfiles({ portalId: 1001 })],
  [
    'agents by portal',
    paths.agentsByPortal(999, 1001),
    api => api.getAgentsByPortal({ departmentId: 999, portalId: 1001 }),
  ],
  ['masking patterns', paths.maskingPatterns(1010, 'chat'), api => api.getMaskingPatterns({ departmentId: 1010 })],
]

verifies(
  'CFG-09',
  'it caches agent details, portals, my portals, portal details, profiles, agents by portal and masking patterns',
  async service => {
    const environment = service.environment()
    const { apiDomain } = await service
      .patient(ApiHelper)
      .getDeploymentInfo(service.endpoint, undefined, { environment })
    const token = service.control.issueToken({ subject: 'desk-agent' })
    const helper = (cache?: CacheConfig) =>
      service.patient(new ApiHelper({ apiDomain, getToken: () => token, cache }, environment))
    for (const [name, path, ask] of KEPT) {
      const first = await ask(helper())
      expect(first, name).not.toEqual([])
      expect(await ask(helper()), name).toEqual(first)
      expect(countRequests(service, path), name).toBe(1)
      // With the cache off, stored entries are ignored too.
      expect(await ask(helper({ enabled: false })), name).toEqual(first)
      expect(countRequests(service, path), name).toBe(2)
    }
    const session = () => helper().getAiAgentSession({ agentId: 'desk' })
    expect(await session()).not.toBe(await session())
    await helper().getUserDetails()
    await helper().getUserDetails()
    expect(countRequests(service, paths.userDetails())).toBe(2)
  },
)

verifies('CFG-09', 'keyPrefix is the prefix of every key, and contextPrefix that of the context', async service => {
  const adapter = new MemoryCacheAdapter()
  const agent = await start(service, newTab(), { adapter, keyPrefix: 'shop_' })
  await agent.setContext({ plan: 'gold' })
  const other = await start(service, newTab(), { adapter, keyPrefix: 'shop_', contextPrefix: 'visitor-2_' })
  expect(other.getContext()).toBeNull()
  await other.setContext({ plan: 'silver' })
  expect(adapter.keys().sort()).toEqual([
    expect.stringMatching(/^shop_cache_getAgentDetails:/),
    'shop_context_help',
    'visitor-2_context_help',
  ])
  expect(countRequests(service, DETAILS)).toBe(1)
})

/** Lets time pass for each wait for a store until a promise settles. */
async function pastStores<T>(service: Service, promise: Promise<T>): Promise<T> {
  let settled = false
  const settle = () => {
    settled = true
  }
  promise.then(settle, settle)
  while (!settled) {
    await turnEventLoop()
    if (!settled && service.clock.pending.includes(2_000)) await service.elapse(2_000)
  }
  return promise
}

/** A store whose methods all do the same. */
function storeThat(does: () => unknown): CacheAdapter {
  const method = () => does() as never
  return { get: method, set: method, delete: method, clear: method, keys: method }
}

const broken = () => {
  throw new Error('The store is broken.')
}
const rubbish: CacheEntry = { value: [{ agentId: 7, apiDomain: [] }], timestamp: Number.MAX_SAFE_INTEGER }

for (const [what, adapter, warnings] of [
  ['throws', () => storeThat(broken), 1],
  ['rejects', () => storeThat(async () => broken()), 1],
  ['never responds', () => storeThat(() => new Promise(() => {})), 1],
  ['returns garbage', () => storeThat(() => ({ value: 7, length: -1 })), 0],
  ['returns garbage asynchronously', () => storeThat(async () => 'rubbish'), 0],
  ['holds entries in an unknown format', () => storeThat(() => rubbish), 0],
] as const)
  verifies(
    ['CFG-09', 'OWN-01'],
    `a custom adapter that ${what} costs requests, and logs at most one warning`,
    async service => {
      const cache = { adapter: adapter() }
      const auth = { type: 'anonymous', config: { cache } } as const
      const agent = service.newAgent({ cache, auth, context: { plan: 'gold' } })
      const journal = new Journal(agent)
      await pastStores(service, agent.initialize())
      await pastStores(service, agent.connect())
      await pastStores(service, agent.setContext({ page: 'the basket' }))
      expect(agent.getContext()).toEqual({ plan: 'gold', page: 'the basket' })
      await agent.send('hello')
      await service.until(() => journal.answers.length > 0, 'an answer')
      expect(journal.answers).toEqual(['You said: hello'])
      await pastStores(service, agent.removeContext())
      expect(agent.getContext()).toBeNull()
      expect(journal.of('error')).toEqual([])
      expect(service.printed.filter(line => /\[WARN\].*(?:store|cache adapter)/.test(line))).toHaveLength(warnings)
    },
  )

/** A storage that refuses the given operations, like a full or blocked one. */
function refusing(what: 'writes' | 'everything'): StorageLike {
  const refuse = (): never => {
    throw Object.assign(new Error('The operation is refused.'), {
      name: what === 'writes' ? 'QuotaExceededError' : 'SecurityError',
    })
  }
  const items = new Map([['aiagent_cache_old', '{"value":']])
  if (what === 'writes')
    return {
      length: 1,
      key: () => 'aiagent_cache_old',
      getItem: key => items.get(key) ?? null,
      removeItem: key => void items.delete(key),
      setItem: refuse,
    }
  return {
    get length() {
      return refuse()
    },
    key: refuse,
    getItem: refuse,
    removeItem: refuse,
    setItem: refuse,
  }
}

for (const [title, storage] of [
  ['a full storage, or that of a private window', () => refusing('writes')],
  ['a storage that the browser blocks', () => refusing('everything')],
  ['no storage', () => undefined],
] as const)
  for (const storageType of ['session', 'local'] as const)
    verifies('CFG-09', `${title} ('${storageType}') keeps responses and context in memory`, async service => {
      const place: Place = { memory: new MemoryCacheAdapter(), sessionStorage: storage(), localStorage: storage() }
      const agent = await start(service, place, { storageType })
      await agent.setContext({ plan: 'gold' })
      expect(agent.getContext()).toEqual({ plan: 'gold' })
      await agent.connect()
      await start(service, place, { storageType })
      expect(countRequests(service, DETAILS)).toBe(1)
    })

verifies(
  'CFG-09',
  'an expired response is removed from the adapter when it is read, even if the service fails then',
  async service => {
    const entries = new Map<string, CacheEntry>()
    const adapter: CacheAdapter = {
      get: async key => entries.get(key) ?? null,
      set: async (key, entry) => void entries.set(key, entry),
      delete: async key => void entries.delete(key),
      clear: async () => entries.clear(),
      keys: async () => [...entries.keys()],
    }
    const place = newTab()
    await start(service, place, { adapter })
    const isStored = () => [...entries.keys()].some(key => key.includes('getAgentDetails'))
    expect(isStored()).toBe(true)
    await service.elapse(300_001)
    service.faults.add({ kind: 'answer', route: `GET ${DETAILS}`, status: 500 })
    await service
      .newAgent({ cache: { adapter } }, service.environment(place))
      .getAgentDetails()
      .catch(() => {})
    expect(isStored()).toBe(false)
  },
)
