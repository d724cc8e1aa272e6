import { ManualClock } from '@aiagent/test-support'
import { afterEach, describe, expect, it } from 'vitest'
import { setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { HostStore } from '../../test/host-store.ts'
import { AiAgent } from '../ai-agent.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import { KeyedStore, KINDS, type Kind } from './keyed-store.ts'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'

const NOTE: Kind = { key: '{keyPrefix}note_{deployment}:{user}:{id}', goesWith: 'user' }

describe('a kind that is added to the table', () => {
  const kinds: Record<string, Kind> = KINDS
  afterEach(() => {
    delete kinds['note']
  })

  const setUpPage = (goesWith?: 'user' | 'logout') => {
    kinds['note'] = { key: NOTE.key, ...(goesWith && { goesWith }) }
    const parts = setUp({}, { sessionStorage: new FakeStorage(), localStorage: new FakeStorage() })
    const environment = resolveEnvironment(parts.environment)
    const notes = (deployment: string, storageType: 'session' | 'local', keyPrefix?: string) =>
      new KeyedStore(NOTE, { environment, cache: { storageType, keyPrefix }, deployment })
    const write = (deployment: string, keyPrefix?: string) => {
      for (const storageType of ['session', 'local'] as const) {
        const store = notes(deployment, storageType, keyPrefix)
        for (const user of ['ada', 'bob']) void store.set(store.key({ deployment, user, id: '1' }), 'a note')
      }
    }
    const left = () =>
      [environment.sessionStorage, environment.localStorage].flatMap(storage =>
        [...(storage as FakeStorage).items.keys()].filter(key => key.includes('note_')),
      )
    return { ...parts, environment, write, left }
  }

  it('[SEC-18] is emptied by clearStoredData(), for that deployment only', async () => {
    const { emulator, environment, write, left } = setUpPage()
    write(emulator.origin)
    write(emulator.origin, 'shop_')
    write('https://else.test')
    expect(left()).toHaveLength(12)
    await AiAgent.clearStoredData(emulator.origin, { environment, cache: { keyPrefix: 'shop_' } })
    expect(left().map(key => key.includes('https://else.test'))).toEqual([true, true, true, true])
    await AiAgent.clearStoredData('https://else.test', { environment })
    expect(left()).toEqual([])
  })

  const sign = async (agent: AiAgent, how: string, token: (subject: string) => string) => {
    if (how === 'logout') return agent.logout()
    await agent.updateAccessToken(token('customer'))
    await agent.updateAccessToken(token('new-customer'))
  }

  it.each([
    ['user', 'logout', 0],
    ['user', 'change of the user', 0],
    ['logout', 'logout', 0],
    ['logout', 'change of the user', 4],
    [undefined, 'logout', 4],
  ] as const)(
    '[SEC-15] [AUTH-14] that goes with %j has at a %s, at any time, %i entries',
    async (goesWith, how, count) => {
      for (const begin of [
        () => {},
        (agent: AiAgent) => agent.getDeploymentInfo(),
        (agent: AiAgent) => agent.initialize(),
      ]) {
        const { emulator, make, write, left } = setUpPage(goesWith)
        const { agent } = make()
        await begin(agent)
        write(emulator.origin)
        await sign(agent, how, subject => emulator.control.issueToken({ subject }))
        expect(left()).toHaveLength(count)
        await agent.destroy()
      }
    },
  )
})

describe('the keys that other code knows', () => {
  it.each<[keyof typeof KINDS, Record<string, string>, object, string]>([
    ['selectedProfile', { prefix: 'acme', portal: '5' }, {}, 'v2_acmeselectedProfile-5'],
    [
      'profiles',
      { agent: '7', portal: '5', deployment: 'https://a.test', user: 'ada' },
      { keyPrefix: 'shop_' },
      'vendor_profiles_7_5_https://a.test_ada_',
    ],
    [
      'anonymousToken',
      { tenant: 'TEN', api: 'https://a.test', scopes: '0a1b2c3d' },
      {},
      'aiagent_auth_TEN:https://a.test:anonymous_token:0a1b2c3d',
    ],
    [
      'metadata',
      { apiDomain: 'a.test', tenant: 'TEN' },
      { keyPrefix: 'shop_' },
      'shop_auth_metadata:customer:a.test:TEN:false',
    ],
    ['context', { agent: 'help' }, {}, 'aiagent_context_help'],
    ['context', { agent: 'help' }, { keyPrefix: 'shop_' }, 'shop_context_help'],
    ['context', { agent: 'help' }, { keyPrefix: 'shop_', contextPrefix: 'ada_' }, 'ada_context_help'],
    [
      'deploymentInfo',
      { deployment: 'https://a.test' },
      { keyPrefix: 'shop_' },
      'aiagent_static_deployment-info-https://a.test',
    ],
    [
      'response',
      { name: 'getPortals', departmentId: '9', api: 'https://a.test' },
      {},
      'aiagent_cache_getPortals:api=https%3A%2F%2Fa.test&departmentId=9',
    ],
    ['loginUser', { version: '1', login: 'https://login.test:app' }, {}, 'aiagent_oidc_user.1.https://login.test:app'],
    ['loginState', { id: '0a' }, {}, 'aiagent_oidc_state.0a'],
    ['loginAnswer', {}, {}, 'aiagent_login_answer'],
    ['loginReturn', {}, {}, 'aiagent_login_return'],
  ])('%s with %j and the prefixes %j is %s', (kind, parts, cache, key) => {
    expect(new KeyedStore(KINDS[kind], { environment: resolveEnvironment(), cache }).key(parts)).toBe(key)
  })
})

describe('the store of a kind', () => {
  const parts = { name: 'getPortals', api: 'a' }
  const environment = () => resolveEnvironment({ sessionStorage: new FakeStorage(), memory: new MemoryCacheAdapter() })

  it('is the adapter of the host, rather than the storage type', () => {
    const adapter = new MemoryCacheAdapter()
    const store = new KeyedStore(KINDS.response, {
      environment: environment(),
      cache: { adapter, storageType: 'local' },
    })
    void store.set(store.key(parts), 1)
    expect(adapter.keys()).toEqual([store.key(parts)])
  })

  it('is empty if the cache is off', () => {
    const cache = { enabled: false, adapter: new MemoryCacheAdapter() }
    const store = new KeyedStore(KINDS.response, { environment: environment(), cache })
    void store.set(store.key(parts), 1)
    expect([store.get(store.key(parts)), cache.adapter.keys()]).toEqual([undefined, []])
  })

  it('shares requests in flight with the others over the same store', async () => {
    const place = { environment: environment(), cache: { adapter: new MemoryCacheAdapter() } }
    let requests = 0
    const load = () => {
      const store = new KeyedStore<number>(KINDS.response, place)
      return store.load(store.key(parts), async () => ++requests)
    }
    expect(await Promise.all([load(), load()])).toEqual([1, 1])
    expect(await load()).toBe(1)
  })

  it('shares no request that began before a removal by any of the others, and those that follow again', async () => {
    const place = { environment: environment(), cache: { adapter: new MemoryCacheAdapter() } }
    const [one, other] = [new KeyedStore<number>(KINDS.response, place), new KeyedStore<number>(KINDS.response, place)]
    const key = one.key(parts)
    let requests = 0
    const load = (store: KeyedStore<number>) => store.load(key, async () => ++requests)
    const before = load(other)
    void one.remove({})
    const after = [load(one), load(other)]
    expect([await before, ...(await Promise.all(after))]).toEqual([1, 2, 2])
  })
})

describe('an entry whose key does not name the deployment', () => {
  it('[SEC-15] stays when another deployment signs out just after the store has hung', async () => {
    const clock = new ManualClock()
    const adapter = new HostStore()
    const environment = resolveEnvironment({ clock })
    const cache = { adapter }
    const logger = { warn: () => {} }
    const contexts = (deployment: string) =>
      new KeyedStore<string>(KINDS.context, { environment, cache, deployment, logger })
    const store = contexts('https://a.test')
    const key = store.key({ agent: 'help' })
    await contexts('https://b.test').set(key, 'of the other')
    adapter.hangs = true
    const read = store.get(key)
    await clock.advance(2_000)
    expect(await read).toBeUndefined()
    adapter.hangs = false
    await store.erase(key)
    await store.delete(key)
    expect([...adapter.entries.values()]).toMatchObject([{ value: 'of the other' }])
  })
})

describe('a store that has failed to remove an entry', () => {
  it('[SEC-15] does not return it after a removal of fewer entries, either', async () => {
    const adapter = new HostStore()
    const environment = resolveEnvironment({ clock: new ManualClock() })
    const store = new KeyedStore(KINDS.session, { environment, cache: { adapter }, logger: { warn: () => {} } })
    const key = store.key({ hash: '0a', agent: 'help', user: 'ada' })
    await store.set(key, 'of ada')
    adapter.fails = true
    await expect(store.remove({ user: 'ada' })).rejects.toThrow()
    await expect(store.remove({ user: 'ada' }, { inUse: new Set([key]) })).rejects.toThrow()
    adapter.fails = false
    expect(await store.get(key)).toBeUndefined()
  })
})

describe('expired entries', () => {
  const load = (store: KeyedStore<string>, key: string) => store.load(key, async () => 'loaded')

  it('[SEC-77] of every user and kind go from the stores of a page with the next request of any user', async () => {
    const clock = new ManualClock(1)
    const sessionStorage = new FakeStorage()
    const localStorage = new FakeStorage()
    const environment = resolveEnvironment({ clock, sessionStorage, localStorage, memory: new MemoryCacheAdapter() })
    const local = { storageType: 'local' } as const
    const responses = new KeyedStore<string>(KINDS.response, { environment, cache: local })
    const ofAda = responses.key({ name: 'getPortals', api: 'a', user: 'ada' })
    await load(responses, ofAda)
    const tokens = new KeyedStore<string>(KINDS.anonymousToken, { environment })
    const token = tokens.key({ tenant: 'TEN', api: 'a', scopes: '0a' })
    await tokens.set(token, 'token', { expiresAt: clock.now() + 3_600_000 })
    const contexts = new KeyedStore<string>(KINDS.context, { environment, deployment: 'https://a.test' })
    await contexts.set(contexts.key({ agent: 'help' }), 'stays')
    const expiresAt = clock.now() + 90 * 86_400_000
    const users = new KeyedStore<string>(KINDS.loginUser, { environment, cache: local })
    await users.set('aiagent_oidc_user.a', 'ada', { expiresAt })
    await new KeyedStore<string>(KINDS.loginState, { environment }).set('aiagent_oidc_state.0a', 'began')
    localStorage.setItem('cart', JSON.stringify({ value: 1, timestamp: 1, expiresAt: 2 }))
    const left = () => [...sessionStorage.items.keys(), ...localStorage.items.keys()].sort()
    const later = async (ms: number) => {
      await clock.advance(ms)
      const ofBob = new KeyedStore<string>(KINDS.response, { environment })
      await load(ofBob, ofBob.key({ name: 'getPortals', api: 'b', user: 'bob' }))
      return left().filter(key => !key.includes('user=bob'))
    }
    const lasting = ['aiagent_context_help', 'aiagent_oidc_user.a', 'cart']
    expect(await later(299_999)).toEqual([...lasting, ofAda, token, 'aiagent_oidc_state.0a'].sort())
    expect(await later(60_000)).toEqual([...lasting, token, 'aiagent_oidc_state.0a'].sort())
    expect(await later(3_600_000)).toEqual([...lasting, 'aiagent_oidc_state.0a'].sort())
    expect(await later(86_400_000)).toEqual(lasting)
    expect(await later(90 * 86_400_000)).toEqual(['aiagent_context_help', 'cart'])
  })

  it('[SEC-77] go from a custom adapter only when their owner reads them', async () => {
    const clock = new ManualClock(1)
    const adapter = new HostStore()
    const environment = resolveEnvironment({ clock })
    const store = () => new KeyedStore<string>(KINDS.response, { environment, cache: { adapter } })
    const ofAda = store().key({ name: 'getPortals', api: 'a', user: 'ada' })
    const ofBob = store().key({ name: 'getPortals', api: 'a', user: 'bob' })
    await load(store(), ofAda)
    await clock.advance(300_000)
    await load(store(), ofBob)
    expect([...adapter.entries.keys()]).toEqual([ofAda, ofBob])
    expect(await store().get(ofAda)).toBeUndefined()
    expect([...adapter.entries.keys()]).toEqual([ofBob])
  })

  it('are those of the future too, which were written before the clock was set back', async () => {
    const clock = new ManualClock(1_000_000)
    const adapter = new MemoryCacheAdapter()
    const store = new KeyedStore<string>(KINDS.response, { environment: resolveEnvironment({ clock }), adapter })
    await store.set('a', 'of the future')
    clock.shiftWallClock(-300_000)
    expect(store.get('a')).toBeUndefined()
    expect(adapter.keys()).toEqual([])
  })
})
