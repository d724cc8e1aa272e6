import { ManualClock, propertyRuns, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeStorage } from '../../test/fake-service.ts'
import { HostStore } from '../../test/host-store.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import { sleep } from '../util/abort.ts'
import { fnv1a } from '../util/text.ts'
import type { CacheConfig } from './cache-adapter.ts'
import { clearStored } from './clear-stored.ts'
import { KeyedStore, type KeyParts, KINDS, type Kind } from './keyed-store.ts'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'

/*
 * Two users, two deployments and two agents over the same stores. Each value names its owner, so that a value in the wrong
 * hands, and one that is left, are seen.
 */

const USERS = ['ada', 'bob']
const DEPLOYMENTS = ['https://a.test', 'https://b.test/shop']
const AGENTS = ['help', 'help_2']

interface Owner {
  readonly user: string
  readonly deployment: string
  readonly agent: string
}

const OWNERS: readonly Owner[] = USERS.flatMap(user =>
  DEPLOYMENTS.flatMap(deployment => AGENTS.map(agent => ({ user, deployment, agent }))),
)
const nameOf = ({ user, deployment, agent }: Owner) => `${user} at ${deployment} with ${agent}`

/** Kinds whose keys name the user and the deployment, with what a part passes for an entry. */
const OF_USERS: readonly (readonly [Kind, (owner: Owner) => KeyParts])[] = [
  [
    KINDS.response,
    ({ user, deployment, agent }) => ({ name: 'getPortals', api: deployment, user, agentId: agent, departmentId: '9' }),
  ],
  [KINDS.profiles, ({ user, deployment, agent }) => ({ agent, portal: '1_2', deployment, user })],
  [
    KINDS.session,
    ({ user, deployment, agent }) => ({
      hash: fnv1a(deployment),
      agent,
      user,
      selectedAgent: agent,
      portal: '',
      profile: '',
    }),
  ],
]

/** What a sign-out of an agent's user removes of a kind. */
const signOutOf = (kind: Kind, { deployment, agent }: Owner): KeyParts => {
  const names: KeyParts = { deployment, hash: fnv1a(deployment), agent }
  const ofKind = Object.entries(names).filter(([name]) => kind.key.includes(`{${name}}`))
  return kind === KINDS.response ? { api: deployment, agentId: agent } : Object.fromEntries(ofKind)
}

type Place = 'session storage' | 'local storage' | 'a custom adapter'

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('set' as const), owner: fc.nat(7), kind: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('sign out' as const), owner: fc.nat(7), kind: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom('is slow', 'fails', 'hangs', 'works', 'works', 'wait'),
      owner: fc.constant(0),
      kind: fc.constant(0),
    }),
  },
)

function setUp(place: Place) {
  const clock = new ManualClock(1)
  const environment = resolveEnvironment({
    clock,
    sessionStorage: new FakeStorage(),
    localStorage: new FakeStorage(),
    memory: new MemoryCacheAdapter(),
  })
  const host = new HostStore()
  const warnings: unknown[] = []
  // Nothing expires, however long a slow store takes.
  const cache: CacheConfig = {
    ttl: 86_400_000,
    ...(place === 'a custom adapter'
      ? { adapter: host }
      : { storageType: place === 'session storage' ? 'session' : 'local' }),
  }
  const stores = OWNERS.map(({ deployment }) =>
    OF_USERS.map(
      ([kind]) =>
        new KeyedStore<string>(kind, {
          environment,
          cache,
          deployment,
          logger: { warn: (...each) => void warnings.push(each) },
        }),
    ),
  )
  const stored = () => {
    const texts = [environment.sessionStorage, environment.localStorage].flatMap(storage => [
      ...((storage as FakeStorage).items.values() ?? []),
    ])
    return [...texts.map(text => JSON.parse(text)), ...host.entries.values()].map(({ value }) => value as string)
  }
  return { clock, environment, host, warnings, stores, stored }
}

describe('any order of operations of two users, two deployments and two agents', () => {
  it.each<Place>(['session storage', 'local storage', 'a custom adapter'])(
    '[SEC-15] leaves and shows nothing of one to another, and touches nothing else: %s',
    async place => {
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 25, size: 'max' }), async operations => {
          const { clock, host, stores, stored, warnings } = setUp(place)
          const isCustom = place === 'a custom adapter'
          /** What each owner must find, by kind: undefined where it may be lost with a store that fails. */
          const expected = new Map<string, string | null>()
          /** Whether the store has answered everything so far. */
          let isReliable = true
          /** The result of a call, which waits for a store for ten seconds at most. */
          const settled = async (work: () => unknown): Promise<unknown> => {
            const done = Promise.resolve()
              .then(work)
              .catch((error: unknown) => ({ error }))
            let result: unknown
            let isDone = false
            void done.then(value => {
              result = value
              isDone = true
            })
            for (let waited = 0; waited <= 10_000; waited += 500) {
              await turnEventLoop()
              if (isDone) return result
              await clock.advance(500)
            }
            await turnEventLoop()
            expect(isDone).toBe(true)
            return result
          }
          let count = 0
          for (const [index, owner] of OWNERS.entries())
            for (const [each, [, partsOf]] of OF_USERS.entries()) {
              const store = stores[index]?.[each] as KeyedStore<string>
              const value = `${nameOf(owner)}: ${count++}`
              await settled(() => store.set(store.key(partsOf(owner)), value))
              expected.set(`${each} ${nameOf(owner)}`, value)
            }
          for (const { does, owner: index, kind: kindIndex } of operations) {
            const owner = OWNERS[index] as Owner
            const [kind, partsOf] = OF_USERS[kindIndex] as (typeof OF_USERS)[number]
            const store = stores[index]?.[kindIndex] as KeyedStore<string>
            const slot = `${kindIndex} ${nameOf(owner)}`
            if (does === 'set') {
              const value = `${nameOf(owner)}: ${count++}`
              const key = store.key(partsOf(owner))
              await settled(() => store.set(key, value))
              expected.set(slot, value)
            } else if (does === 'sign out') {
              const outcome = await settled(() =>
                store.remove({ ...signOutOf(kind, owner), ...(isCustom && { user: owner.user }) }),
              )
              const isFailed = outcome !== undefined
              if (isFailed) expect(isReliable).toBe(false)
              for (const other of OWNERS) {
                const isSame = other.deployment === owner.deployment && other.agent === owner.agent
                // A page's own store belongs to one user.
                if (isSame && (!isCustom || other === owner)) expected.set(`${kindIndex} ${nameOf(other)}`, null)
              }
              if (!isFailed && isReliable)
                expect(
                  stored().filter(value => value.startsWith(nameOf(owner)) && expected.get(slot) === value),
                ).toEqual([])
            } else if (does === 'wait') await clock.advance(31_000)
            else {
              host.fails = does === 'fails'
              host.hangs = does === 'hangs'
              host.pause = does === 'is slow' ? () => sleep(clock, 700) : undefined
              if (isCustom && (host.fails || host.hangs)) isReliable = false
            }
            for (const [place, other] of OWNERS.entries())
              for (const [each, [, parts]] of OF_USERS.entries()) {
                const reader = stores[place]?.[each] as KeyedStore<string>
                const wanted = expected.get(`${each} ${nameOf(other)}`) ?? null
                const found = (await settled(() => reader.get(reader.key(parts(other))))) as
                  | { value: string }
                  | undefined
                if (found === undefined) {
                  if (isReliable) expect(wanted).toBeNull()
                } else if (isReliable) expect(found.value).toBe(wanted)
                else {
                  // An older value of one's own may be left, where the store has refused the newer one.
                  expect(found.value.startsWith(`${nameOf(other)}:`)).toBe(true)
                  expect(wanted).not.toBeNull()
                }
              }
          }
          expect(warnings.length).toBeLessThanOrEqual(1)
          if (!isReliable && isCustom) return
          const left = [...expected.values()].filter(value => value !== null)
          expect(stored().sort()).toEqual(left.sort())
        }),
        { numRuns: propertyRuns(25) },
      )
    },
  )

  it('[SEC-18] clears the stores of the page of one deployment, and no custom adapter', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ owner: fc.nat(7), kind: fc.nat(2) }), { maxLength: 20 }),
        fc.constantFrom<Place>('session storage', 'local storage', 'a custom adapter'),
        async (sets, place) => {
          const { environment, stores, stored } = setUp(place)
          for (const { owner: index, kind } of sets) {
            const store = stores[index]?.[kind] as KeyedStore<string>
            const parts = OF_USERS[kind]?.[1](OWNERS[index] as Owner) as KeyParts
            await store.set(store.key(parts), nameOf(OWNERS[index] as Owner))
          }
          const [cleared = '', other = ''] = DEPLOYMENTS
          const info = new KeyedStore(KINDS.deploymentInfo, { environment })
          await info.set(info.key({ deployment: cleared }), { apiDomain: cleared })
          const before = stored()
          await clearStored(environment, cleared)
          const stays = (value: unknown) => typeof value === 'string' && value.includes(` at ${other} `)
          expect(stored().sort()).toEqual(
            place === 'a custom adapter'
              ? before.filter(value => typeof value === 'string').sort()
              : before.filter(stays).sort(),
          )
        },
      ),
      { numRuns: propertyRuns(40) },
    )
  })
})
