import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { setUpScope } from '../../../test/fake-scope.ts'
import { ConnectorError } from '../../errors.ts'
import type { HookContract } from './hook-contract.ts'
import type { PlatformComponentService } from './platform-component.ts'
import { PlatformConnector } from './platform-connector.ts'

const URL = 'https://prod.example/desk.js'
const hook = {} as HookContract

function setUp(component: Partial<PlatformComponentService> | Record<string, unknown>) {
  const warnings: string[] = []
  const scope = setUpScope({
    environment: { clock: new ManualClock() },
    logger: { warn: warning => void warnings.push(warning) },
  })
  const connector = new PlatformConnector(scope, { initPlatform() {}, ...component }, URL, hook)
  return { connector, warnings }
}

describe('[OPS-03] PlatformConnector', () => {
  it('passes the contract first, then lets the script attach its functions', async () => {
    const calls: unknown[] = []
    const { connector } = setUp({
      async setHookContract(given: HookContract) {
        await turnEventLoop()
        calls.push(['setHookContract', given === hook])
      },
      loadCustomHook: (given: HookContract) => calls.push(['loadCustomHook', given === hook]),
    })
    await connector.introduce()
    expect(calls).toEqual([
      ['setHookContract', true],
      ['loadCustomHook', true],
    ])
  })

  it('calls only initPlatform() on a script that provides nothing else', async () => {
    const { connector, warnings } = setUp({})
    await connector.introduce()
    expect(await connector.addScopes(['a'])).toBeUndefined()
    await connector.initPlatform()
    expect(connector.portalHooks).toEqual({ address: URL })
    expect(warnings).toEqual([])
  })

  it.each([
    [(scopes: string[]) => [...scopes, 'b'], ['a', 'b']],
    [async () => ['b'], ['b']],
    [() => ['b', 1, null, ' '], ['b']],
    [() => [], []],
  ])('uses the scopes of the platform: %s', async (addCustomAuthScopes, expected) => {
    expect(await setUp({ addCustomAuthScopes }).connector.addScopes(['a'])).toEqual(expected)
  })

  it.each([[undefined], [null], ['a b'], [{ length: 1 }]])(
    'ignores %j as a list of scopes, with a warning',
    async answer => {
      const { connector, warnings } = setUp({ addCustomAuthScopes: () => answer })
      expect(await connector.addScopes(['a'])).toBeUndefined()
      expect(warnings).toHaveLength(1)
    },
  )

  it('protects the default scopes from changes by the script', async () => {
    const defaults = Object.freeze(['a'])
    const { connector } = setUp({
      addCustomAuthScopes(scopes: string[]) {
        scopes.push('b')
        return scopes
      },
    })
    expect(await connector.addScopes(defaults)).toEqual(['a', 'b'])
    expect(defaults).toEqual(['a'])
  })

  it('connects to the platform once, also for concurrent calls and when the agent restarts', async () => {
    let count = 0
    const { connector } = setUp({ initPlatform: async (given: HookContract) => void (given === hook && count++) })
    await Promise.all([connector.initPlatform(), connector.initPlatform()])
    await connector.initPlatform()
    expect(count).toBe(1)
  })

  it('may try to connect again after a failure', async () => {
    const outcomes = [() => Promise.reject(new Error('busy')), () => Promise.resolve()]
    const { connector } = setUp({ initPlatform: () => outcomes.shift()?.() })
    await expect(connector.initPlatform()).rejects.toMatchObject({ code: 'CONNECTOR_FAILED' })
    await expect(connector.initPlatform()).resolves.toBeUndefined()
    expect(outcomes).toEqual([])
  })

  it.each(['setHookContract', 'loadCustomHook', 'addCustomAuthScopes', 'initPlatform'] as const)(
    'reports the address of the script when %s() throws or rejects',
    async name => {
      const cause = new Error('why')
      const failing = [
        () => {
          throw cause
        },
        () => Promise.reject(cause),
      ]
      for (const fail of failing) {
        const { connector } = setUp({ [name]: fail })
        const run = async () => {
          await connector.introduce()
          await connector.addScopes([])
          await connector.initPlatform()
        }
        const error = await run().catch((error: unknown) => error)
        expect(error).toBeInstanceOf(ConnectorError)
        expect(error).toMatchObject({ code: 'CONNECTOR_FAILED', url: URL, cause })
        expect(String(error)).toContain(`${name}()`)
      }
    },
  )

  it('stops waiting for a script that hangs when the signal is aborted', async () => {
    const controller = new AbortController()
    const never = () => new Promise<never>(() => {})
    const { connector } = setUp({ initPlatform: never, addCustomAuthScopes: never })
    const outcomes = Promise.allSettled([
      connector.initPlatform(controller.signal),
      connector.addScopes([], controller.signal),
    ])
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await outcomes).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ])
  })

  it('calls its portal hooks as methods of the component', async () => {
    class Desk {
      readonly hidden = 2
      initPlatform() {}
      getPortalList(portals: { id: number }[]) {
        return portals.filter(({ id }) => id !== this.hidden)
      }
      getDefaultPortal(portals: unknown[]) {
        return portals[this.hidden - 2]
      }
      async onPortalSelected({ id }: { id: number }) {
        return { portal: [id + this.hidden] }
      }
    }
    const component = new Desk() as unknown as PlatformComponentService
    const connector = new PlatformConnector(setUpScope(), component, URL, hook)
    // As the portal pipeline calls them.
    const { portalHooks } = connector
    expect(await portalHooks.getPortalList?.([{ id: 1 }, { id: 2 }])).toEqual([{ id: 1 }])
    expect(await portalHooks.getDefaultPortal?.([{ id: 1 }])).toEqual({ id: 1 })
    expect(await portalHooks.onPortalSelected?.({ id: 1 })).toEqual({ portal: [3] })
  })
})
