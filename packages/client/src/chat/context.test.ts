import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { framesArrived, lastSession, rejection, sentTo, sessionBodies, setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { createContextMessage } from '../conversation/message-helpers.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'

async function connected(config: object = {}) {
  const all = setUp()
  const { agent } = all.make(config)
  await agent.initialize()
  await agent.connect()
  return { ...all, agent }
}

describe('context', () => {
  it('[FLOW-07] sendImmediately sends only what changed, and nothing without changes', async () => {
    const { agent, emulator } = await connected({ context: { a: 1, user: { x: 1, y: 2 } } })
    await agent.setContext({ a: 1, user: { y: 2, x: 1 } }, { sendImmediately: true })
    await agent.setContext({ a: 1, b: 2 }, { sendImmediately: true })
    await agent.setContext({ c: 3 })
    await agent.setContext({ c: 3 }, { sendImmediately: true })
    await agent.send('done')
    await framesArrived(emulator, 2)
    const frames = emulator.control.frames(lastSession(emulator)).map(({ message }) => message)
    expect(frames).toEqual([
      { persona: 'system', role: 'context', messageData: { context: { b: 2 } } },
      { persona: 'customer', role: 'human', content: 'done' },
    ])
    expect(agent.getContext()).toEqual({ a: 1, b: 2, c: 3, user: { x: 1, y: 2 } })
  })

  it('a context message of the host is merged into the stored context, with all its attributes on the wire', async () => {
    const { agent, emulator } = await connected({ context: { a: 1 } })
    await agent.send(createContextMessage({ context: { a: 1, b: 2 } }))
    await framesArrived(emulator, 1)
    expect(emulator.control.frames(lastSession(emulator))[0]?.message?.messageData).toEqual({ context: { a: 1, b: 2 } })
    expect(agent.getContext()).toEqual({ a: 1, b: 2 })
  })

  it('a change that exceeds the queue is not stored, so that the same call sends it later', async () => {
    const { make, emulator } = setUp()
    const { agent } = make({ maxQueueSize: 1 })
    await agent.initialize()
    await agent.send('waits')
    expect((await rejection(agent.setContext({ plan: 'gold' }, { sendImmediately: true }))).reason).toBe('queue_full')
    expect(agent.getContext()).toBeNull()
    await agent.connect()
    await agent.setContext({ plan: 'gold' }, { sendImmediately: true })
    await framesArrived(emulator, 2)
    expect(sentTo(emulator)).toEqual(['waits', 'context'])
    expect(agent.getContext()).toEqual({ plan: 'gold' })
  })

  it('[FLOW-08] survives a reload: it is restored, and the next session call carries it', async () => {
    const { make, emulator } = setUp({}, { sessionStorage: new FakeStorage() })
    const first = make().agent
    await first.initialize()
    await first.setContext({ plan: 'gold' })
    const second = make().agent
    expect(second.getContext()).toEqual({ plan: 'gold' })
    await second.initialize()
    expect(sessionBodies(emulator)).toEqual([{}, { context: { plan: 'gold' } }])
    await second.removeContext()
    expect(second.getContext()).toBeNull()
    const third = make().agent
    expect(third.getContext()).toBeNull()
    await third.initialize()
    expect(sessionBodies(emulator).at(-1)).toEqual({})
  })

  it('[FLOW-08] an ordinary reconnect sends no context', async () => {
    const { agent, clock, emulator } = await connected({ context: { a: 1 } })
    emulator.control.dropSockets()
    await eventually(() => agent.getState() === 'RECONNECTING')
    await clock.advance(5_000)
    expect(agent.isConnected()).toBe(true)
    await agent.send('Hello')
    await framesArrived(emulator, 1)
    expect(sentTo(emulator)).toEqual(['Hello'])
    expect(sessionBodies(emulator)).toHaveLength(1)
  })

  it('is stored in a slow store of the host, and read from it before the session is created', async () => {
    const kept = new MemoryCacheAdapter()
    const reads: Array<() => void> = []
    const later = async <T>(value: T) => value
    const adapter = {
      get: (key: string) =>
        new Promise<{ value: unknown; timestamp: number } | null>(resolve => {
          if (key.includes('context')) reads.push(() => resolve(kept.get(key)))
          else resolve(kept.get(key))
        }),
      set: (key: string, entry: { value: unknown; timestamp: number }) => later(kept.set(key, entry)),
      delete: (key: string) => later(kept.delete(key)),
      clear: () => later(kept.clear()),
      keys: (prefix?: string) => later(kept.keys(prefix)),
    }
    const { make, emulator } = setUp()
    const initialized = async (context: Record<string, unknown>) => {
      const { agent } = make({ cache: { adapter } })
      const ready = agent.initialize({ context })
      await turnEventLoop()
      for (const read of reads.splice(0)) read()
      await ready
      return agent
    }
    await initialized({ plan: 'gold' })
    await turnEventLoop()
    const second = await initialized({ more: 1 })
    expect(second.getContext()).toEqual({ plan: 'gold', more: 1 })
    expect(sessionBodies(emulator).at(-1)).toEqual({ context: { plan: 'gold', more: 1 } })
  })

  it('a store that fails costs no call', async () => {
    for (const later of [true, false]) {
      const fail = () => {
        if (later) return Promise.reject(new Error('disk on fire'))
        throw new Error('disk on fire')
      }
      const { make } = setUp()
      const { agent } = make({ cache: { adapter: { get: fail, set: fail, delete: fail, clear: fail, keys: fail } } })
      await agent.initialize({ context: { plan: 'gold' } })
      expect(agent.getContext()).toEqual({ plan: 'gold' })
      await agent.removeContext()
      expect(agent.getContext()).toBeNull()
    }
  })
})
