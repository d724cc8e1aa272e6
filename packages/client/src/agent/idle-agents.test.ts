import { collectGarbage } from '@aiagent/test-support/collect-garbage'
import { describe, expect, it } from 'vitest'
import { passing, setUp } from '../../test/agent-harness.ts'
import { AiAgent } from '../ai-agent.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { AgentScope } from '../scope.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { AgentLifecycle } from './lifecycle.ts'

describe('a disconnected agent', () => {
  it('[REL-01] is collected whole once the host has dropped it, whether or not it was connected', async () => {
    const { clock, emulator, environment } = setUp()
    const use = async (isConnected: boolean) => {
      const lifecycle = new AgentLifecycle(
        new AgentScope({ id: 'help', endpoint: emulator.origin }, resolveEnvironment(environment)),
      )
      const { outbox, context, start, chat, log, authentication } = lifecycle.parts
      await lifecycle.initialize({}, undefined)
      if (isConnected) {
        await lifecycle.connect(undefined)
        outbox.send('hello')
        await passing(clock, lifecycle.disconnect({}))
      }
      return [lifecycle, chat, outbox, log, context, authentication, start].map(part => new WeakRef<object>(part))
    }
    const references = [...(await use(true)), ...(await use(false))]
    // A part that is still being loaded holds its agent until then.
    const held = async () => {
      await collectGarbage()
      return references.filter(reference => reference.deref() !== undefined).length
    }
    await expect.poll(held, { timeout: 15_000 }).toBe(0)
  })

  it('[REL-01] leaves nothing of the environment that the host gave it alone', async () => {
    const { emulator, environment } = setUp()
    const use = async () => {
      const fetch: Environment['fetch'] = (...given) => emulator.fetch(...given)
      const own = { ...environment, memory: new MemoryCacheAdapter(), fetch }
      const agent = new AiAgent({ id: 'help', endpoint: emulator.origin, enableLogging: false }, own)
      await agent.initialize()
      await agent.destroy()
      return [new WeakRef<object>(own.memory), new WeakRef<object>(own.fetch)]
    }
    const references = [...(await use()), ...(await use())]
    const held = async () => {
      await collectGarbage()
      return references.filter(reference => reference.deref() !== undefined).length
    }
    await expect.poll(held, { timeout: 15_000 }).toBe(0)
  })

  it('[REL-02] renews nothing and holds no timer, and watches its token again with the next connection', async () => {
    const { clock, emulator, make } = setUp()
    let renewals = 0
    const issue = () => emulator.control.issueToken({ subject: 'customer', lifeSeconds: 600 })
    const refreshTokenFn = () => {
      renewals++
      return issue()
    }
    const { agent } = make({ id: 'account', auth: { type: 'pre-auth', accessToken: issue(), refreshTokenFn } })
    await agent.initialize()
    await agent.connect()
    await clock.advance(310_000)
    expect(renewals).toBe(1)
    await passing(clock, agent.disconnect())
    expect(clock.pendingTimers).toBe(0)
    await clock.advance(400_000)
    expect(renewals).toBe(1)
    await agent.connect()
    expect(renewals).toBe(2)
    await clock.advance(310_000)
    expect(renewals).toBeGreaterThan(2)
    await agent.destroy()
  })

  it('[REL-03] ends with `await using`', async () => {
    const { clock, make } = setUp()
    const { agent } = make()
    {
      await using used = agent
      await used.initialize()
    }
    expect(clock.pendingTimers).toBe(0)
    await expect(agent.initialize()).rejects.toMatchObject({ code: 'ABORTED' })
  })
})
