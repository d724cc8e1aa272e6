import fc from 'fast-check'
import { resolveEnvironment } from '../../../src/platform/default-environment.ts'
import { clearStored } from '../../../src/storage/clear-stored.ts'
import { IndexedDbCacheAdapter } from '../../../src/storage/indexed-db-cache-adapter.ts'
import { KeyedStore, type KeyParts, KINDS } from '../../../src/storage/keyed-store.ts'
import { fnv1a } from '../../../src/util/text.ts'

const DEPLOYMENTS = ['https://a.test', 'https://b.test/shop'] as const

interface Owner {
  readonly user: string
  readonly deployment: string
  readonly agent: string
}

const OWNERS: readonly Owner[] = ['ada', 'bob'].flatMap(user =>
  DEPLOYMENTS.flatMap(deployment => ['help', 'help_2'].map(agent => ({ user, deployment, agent }))),
)

const partsOf = ({ user, deployment, agent }: Owner): KeyParts => ({
  hash: fnv1a(deployment),
  user,
  selectedAgent: agent,
  portal: '',
  profile: '',
  version: '1',
  page: 'one',
})

const nameOf = ({ user, deployment, agent }: Owner) => `${user} at ${deployment} with ${agent}`

/** Runs the property over the page's IndexedDB. Rejects with a counterexample. */
export async function checkStoredKinds(seed: number, numRuns: number): Promise<void> {
  const environment = resolveEnvironment()
  // Each step is that of another page, with its own guard and connection.
  const open = () => new KeyedStore<string>(KINDS.queue, { environment, adapter: new IndexedDbCacheAdapter() })
  const step = fc.record({
    does: fc.constantFrom('set', 'set', 'set', 'sign out', 'clear', 'expire'),
    owner: fc.nat(OWNERS.length - 1),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async steps => {
      await new IndexedDbCacheAdapter().clear()
      const expected = new Map<string, string>()
      for (const [count, { does, owner: index }] of steps.entries()) {
        const owner = OWNERS[index] as Owner
        const { user, deployment } = owner
        const store = open()
        const value = `${nameOf(owner)}: ${count}`
        if (does === 'set') {
          await store.set(store.key(partsOf(owner)), value)
          expected.set(nameOf(owner), value)
        } else if (does === 'expire') {
          await store.set(store.key(partsOf(owner)), value, { expiresAt: environment.clock.now() - 1 })
          expected.delete(nameOf(owner))
        } else {
          if (does === 'clear') await clearStored(environment, deployment)
          else await store.remove({ hash: fnv1a(deployment), user })
          for (const each of OWNERS)
            if (each.deployment === deployment && (does === 'clear' || each.user === user))
              expected.delete(nameOf(each))
        }
        for (const each of OWNERS) {
          const reader = open()
          const found = await reader.get(reader.key(partsOf(each)))
          const wanted = expected.get(nameOf(each))
          if (found?.value !== wanted) throw new Error(`${nameOf(each)} finds ${found?.value} instead of ${wanted}`)
        }
      }
      const left = (await new IndexedDbCacheAdapter().keys()).length
      if (left !== expected.size) throw new Error(`${left} entries are left instead of ${expected.size}`)
    }),
    { seed, numRuns },
  )
}
