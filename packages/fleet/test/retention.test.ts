import { hasRedis } from '@aiagent/test-support/redis'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ConversationStore } from '../src/conversation-store.ts'
import { collect, LIMIT, setUpFleets } from './set-up.ts'

describe.skipIf(!hasRedis())('what a fleet keeps', () => {
  const fleets = setUpFleets()
  let redis: Redis
  beforeEach(() => {
    redis = new Redis(fleets.redis.path)
  })
  afterEach(() => redis.disconnect())

  /** A fleet of one shard, in which two conversations were answered. */
  async function answered(more: Parameters<ReturnType<typeof fleets.create>['fleet']>[0] = {}) {
    const { fleet, name, service } = fleets.create()
    const worker = fleet({ shards: 1, ...more })
    const live = collect(worker)
    await worker.start()
    const read = async () => {
      const keys = await redis.keys(`{${name}:s0}:*`)
      const streams = await Promise.all(
        ['out', 'unreadable', 'in'].map(key => redis.xrange(`{${name}:s0}:${key}`, '-', '+')),
      )
      return JSON.stringify([keys, streams])
    }
    const say = async (...ids: string[]) => {
      for (const id of ids) {
        await worker.open(id)
        await worker.send(id, `secret of ${id}`)
      }
    }
    return { fleet, worker, live, read, say, name, service }
  }

  it('[REL-145] removes the texts of a conversation that has ended, and those of no other one', async () => {
    const { worker, live, read, say } = await answered()
    await say('ending', 'staying')
    await vi.waitFor(() => expect(live.said).toHaveLength(2), LIMIT)
    await worker.end('ending')
    await vi.waitFor(() => expect(live.ended).toEqual(['ending']), LIMIT)
    await vi.waitFor(async () => expect(await read()).not.toContain('ending'), LIMIT)
    expect(await read()).toContain('re: secret of staying')
  })

  it('[REL-145] keeps them until every group has handled them', async () => {
    const { fleet, worker, live, read, say, name } = await answered()
    // A group whose process has stopped.
    const group = fleet({ worker: false, shards: 1 })
    group.on('agentMessage', () => {}, { group: 'crm' })
    await group.start()
    await group.close()
    await say('first', 'second')
    await vi.waitFor(() => expect(live.said).toHaveLength(2), LIMIT)
    await worker.end('first')
    await worker.end('second')
    await vi.waitFor(() => expect(live.ended).toHaveLength(2), LIMIT)
    // The conversation has ended, its events are due, and no group has them.
    await vi.waitFor(async () => expect(await redis.llen(`{${name}:s0}:ended`)).toBe(2), LIMIT)
    expect(await read()).toContain('re: secret of first')
    const seen: string[] = []
    const reader = fleet({ worker: false, shards: 1 })
    reader.on('agentMessage', ({ message }) => void seen.push(String(message.content)), { group: 'crm' })
    await reader.start()
    await vi.waitFor(() => expect(seen).toEqual(['re: secret of first', 're: secret of second']), LIMIT)
    await vi.waitFor(async () => expect(await read()).not.toMatch(/first|second/), { timeout: 40_000, interval: 100 })
  }, 60_000)

  it('[REL-145] removes every event after its age, also for a group that does not read', async () => {
    const { fleet, worker, live, read, say } = await answered({ keepEventsMs: 3_000 })
    const group = fleet({ worker: false, shards: 1 })
    group.on('agentMessage', () => {}, { group: 'crm' })
    await group.start()
    await group.close()
    await say('ended', 'open')
    await vi.waitFor(() => expect(live.said).toHaveLength(2), LIMIT)
    await worker.end('ended')
    await vi.waitFor(() => expect(live.ended).toHaveLength(1), LIMIT)
    await vi.waitFor(async () => expect(await read()).not.toContain('secret'), LIMIT)
    await say('open')
    await vi.waitFor(() => expect(live.said).toHaveLength(3), LIMIT)
  })

  it('[REL-145] removes no event of a conversation that was opened again with the same id', async () => {
    const { worker, live, read, say, name } = await answered()
    await say('again')
    await vi.waitFor(() => expect(live.said).toHaveLength(1), LIMIT)
    await worker.end('again')
    await vi.waitFor(() => expect(live.ended).toHaveLength(1), LIMIT)
    await worker.open('again')
    await worker.send('again', 'second life')
    await vi.waitFor(() => expect(live.said).toHaveLength(2), LIMIT)
    await vi.waitFor(async () => expect(await redis.llen(`{${name}:s0}:ended`)).toBe(0), LIMIT)
    const stored = await read()
    expect(stored).not.toContain('re: secret of again')
    expect(stored).toContain('re: second life')
  })

  it('[REL-145] accepts an id again that an ended conversation of the same name has used', async () => {
    const { worker, live } = await answered()
    await worker.open('again')
    await worker.send('again', 'one', { id: 'message-1' })
    await vi.waitFor(() => expect(live.said).toHaveLength(1), LIMIT)
    await worker.end('again')
    await vi.waitFor(() => expect(live.ended).toHaveLength(1), LIMIT)
    await worker.open('again')
    await worker.send('again', 'two', { id: 'message-1' })
    await vi.waitFor(() => expect(live.texts()).toEqual(['re: one', 're: two']), LIMIT)
  })

  it.each([
    ['that is cut off', { k: 'agentMessage', c: 'broken', d: '{"cut off' }],
    ['of another form', { k: 'agentMessage', c: 'broken', d: '"text"' }],
    ['without data', { k: 'agentMessage', c: 'broken' }],
  ])('[REL-144] passes an event %s, keeps it aside and logs it, with and without a group', async (_form, fields) => {
    const problems: string[] = []
    const { fleet, name, say, live, worker, read } = await answered({
      log: (level, text) => void problems.push(`${level} ${text}`),
    })
    const handled: unknown[] = []
    const group = fleet({ worker: false, shards: 1, redeliverAfterMs: 300 })
    group.on('agentMessage', ({ message }) => void handled.push(message.content), { group: 'crm' })
    await group.start()
    await redis.xadd(`{${name}:s0}:out`, '*', ...Object.entries(fields).flat())
    await say('a')
    await vi.waitFor(() => expect(live.texts()).toEqual(['re: secret of a']), LIMIT)
    await vi.waitFor(() => expect(handled).toEqual(['re: secret of a']), LIMIT)
    expect(problems).toContainEqual(expect.stringMatching(/^error .*could not be read/))
    const unreadable = `{${name}:s0}:unreadable`
    await vi.waitFor(async () => expect(await redis.xlen(unreadable)).toBe(1), LIMIT)
    expect((await redis.xrange(unreadable, '-', '+'))[0]?.[1]).toEqual(Object.entries(fields).flat())
    expect(await redis.pttl(unreadable)).toBeGreaterThan(0)
    // The group has it behind it.
    await vi.waitFor(async () => expect((await redis.xpending(`{${name}:s0}:out`, 'crm'))[0]).toBe(0), LIMIT)
    // It goes with its conversation.
    await worker.open('broken')
    await worker.end('broken')
    await vi.waitFor(() => expect(live.ended).toEqual(['broken']), LIMIT)
    await vi.waitFor(async () => expect(await redis.xlen(unreadable)).toBe(0), LIMIT)
    expect(await read()).toContain('re: secret of a')
  })
})

describe('the cache of a worker', () => {
  it('[REL-145] keeps a limited number of tokens and responses', () => {
    const store = new ConversationStore(() => undefined)
    for (let user = 0; user < 20_000; user++) store.set(`token:${user}`, { value: 'secret', timestamp: 0 })
    expect(store.keys('token:').length).toBeLessThanOrEqual(2_000)
    expect(store.get('token:19999')).toEqual({ value: 'secret', timestamp: 0 })
    expect(store.get('token:0')).toBeNull()
  })
})
