import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { hasRedis } from '@aiagent/test-support/redis'
import { describe, expect, it, vi } from 'vitest'
import { ConversationStore } from '../src/conversation-store.ts'
import { createCounters } from '../src/metrics.ts'
import { resolveOptions } from '../src/options.ts'
import { OwnedShard } from '../src/owned-shard.ts'
import { Pacer } from '../src/pacer.ts'
import type { Connection } from '../src/redis.ts'
import { acceptedTexts, collect, LIMIT, setUpFleets } from './set-up.ts'

const WORKER = { leaseMs: 20_000, renewEveryMs: 5_000, marginMs: 2_000, concurrentStarts: 1, drainMs: 0, signals: [] }

/** A shard whose lease begins now, over a store that answers when the test says so. */
function createShard() {
  const clock = new ManualClock()
  const answers: ((value: unknown) => void)[] = []
  const connection = { evalsha: () => new Promise(resolve => answers.push(resolve)) } as unknown as Connection
  const parts = {
    options: resolveOptions({
      redis: 'unused',
      name: 'test',
      mask: false,
      agent: () => new Promise(() => {}),
      log: () => {},
    }),
    worker: WORKER,
    workerId: 'worker',
    connection,
    store: new ConversationStore(() => undefined),
    starts: new Pacer(1, clock),
    messages: new Pacer(1, clock),
    counters: createCounters(),
    clock,
    enqueueStart: () => {},
  }
  const shard = new OwnedShard(parts, 0, 1, clock.monotonic())
  shard.isLoaded = true
  return { shard, clock, answer: () => answers.shift()?.(1) }
}

describe('a lease', () => {
  it('[REL-132] ends for its worker before another one may have it, by the margin', () => {
    const { shard, clock } = createShard()
    clock.jump(17_999)
    expect(shard.isHeld()).toBe(true)
    clock.jump(1)
    expect(shard.isHeld()).toBe(false)
  })

  it('[REL-132] is extended from the time at which its renewal was sent', async () => {
    const { shard, clock, answer } = createShard()
    clock.jump(5_000)
    const renewed = shard.renew()
    clock.jump(5_000)
    answer()
    await renewed
    clock.jump(12_999)
    expect(shard.isHeld()).toBe(true)
    clock.jump(1)
    expect(shard.isHeld()).toBe(false)
  })

  it('[REL-132] is not revived by a renewal that is answered too late', async () => {
    const { shard, clock, answer } = createShard()
    clock.jump(10_000)
    const renewed = shard.renew()
    clock.jump(8_000)
    answer()
    await renewed
    await turnEventLoop()
    expect(shard.isHeld()).toBe(false)
    expect(shard.isLost).toBe(true)
  })

  it('[REL-139] takes an entry once that is read twice', () => {
    const { shard } = createShard()
    const entry = { id: '1-0', fields: { k: 'message', c: 'a', i: 'm', d: 'Hello', t: '0' } }
    shard.take([entry])
    const held = shard.conversations.get('a')
    const enqueue = held && vi.spyOn(held, 'enqueue')
    shard.take([entry])
    expect(enqueue).not.toHaveBeenCalled()
    shard.take([{ ...entry, id: '2-0' }])
    expect(enqueue).toHaveBeenCalledOnce()
  })
})

describe.skipIf(!hasRedis())('a message that an earlier worker may have sent in another session', () => {
  const fleets = setUpFleets()

  it('[REL-133] is told as unknown, and not sent again', async () => {
    const { fleet, service } = fleets.create()
    service.faults.add({ kind: 'lose-receipts' })
    const sender = fleet({ worker: false })
    const { updates } = collect(sender)
    await sender.start()
    const first = fleet()
    await first.start()
    await sender.open('a')
    const id = await sender.send('a', 'one')
    await vi.waitFor(() => expect(acceptedTexts(service)).toEqual(['one']), LIMIT)
    await first.close()
    service.faults.lift()
    service.world.sessions.clear()
    await fleet().start()
    const unknown = { conversationId: 'a', id, state: 'unknown', reason: 'worker_lost' }
    await vi.waitFor(() => expect(updates).toEqual([unknown]), LIMIT)
    await sender.send('a', 'two')
    await vi.waitFor(() => expect(updates).toHaveLength(2), LIMIT)
    expect(acceptedTexts(service)).toEqual(['one', 'two'])
  })
})
