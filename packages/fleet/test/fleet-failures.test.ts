import { hasRedis, startRedis } from '@aiagent/test-support/redis'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { LateError } from '../src/within.ts'
import { startRedisProxy } from './redis-proxy.ts'
import { collect, LIMIT, SHORT_LEASE, setUpFleets } from './set-up.ts'

describe.skipIf(!hasRedis())('a fleet whose parts fail', () => {
  const fleets = setUpFleets()

  it('[REL-136] delivers an event again that a listener of a group rejects, or whose process has ended', async () => {
    const { fleet } = fleets.create()
    const more = { worker: false, redeliverAfterMs: 200 } as const
    const worker = fleet()
    await worker.start()
    const first = fleet(more)
    const tried: string[] = []
    const handled: string[] = []
    first.on(
      'agentMessage',
      ({ message }) => {
        tried.push(message.content ?? '')
        // One event is never handled, the other one at the second try.
        if (message.content === 're: stuck') return new Promise(() => {})
        if (tried.length === 1) throw new Error('The database is away.')
        handled.push(message.content ?? '')
        return undefined
      },
      { group: 'crm' },
    )
    await first.start()
    await worker.open('a')
    await worker.send('a', 'one')
    await vi.waitFor(() => expect(handled).toEqual(['re: one']), LIMIT)
    expect(tried).toEqual(['re: one', 're: one'])
    await worker.send('a', 'stuck')
    await vi.waitFor(() => expect(tried).toContain('re: stuck'), LIMIT)
    await first.close()
    const second = fleet(more)
    const taken: string[] = []
    second.on('agentMessage', ({ message }) => void taken.push(message.content ?? ''), { group: 'crm' })
    await second.start()
    await vi.waitFor(() => expect(taken).toEqual(['re: stuck']), LIMIT)
  })

  it('[REL-136] goes on with the next events while a listener of a group never ends', async () => {
    const { fleet } = fleets.create()
    const worker = fleet({ redeliverAfterMs: 200 })
    const handled: string[] = []
    worker.on(
      'agentMessage',
      ({ message }) => {
        if (message.content === 're: stuck') return new Promise(() => {})
        handled.push(message.content ?? '')
        return undefined
      },
      { group: 'crm' },
    )
    await worker.start()
    await worker.open('a')
    await worker.send('a', 'stuck')
    await worker.send('a', 'next')
    await vi.waitFor(() => expect(handled).toEqual(['re: next']), LIMIT)
  })

  it('[REL-152] removes the consumers of processes that have ended, and loses none of their events', async () => {
    const { fleet, name } = fleets.create()
    const more = { worker: false, redeliverAfterMs: 300 } as const
    const worker = fleet()
    await worker.start()
    const taken: string[] = []
    const listen = async (listener: (text: string) => unknown) => {
      const process = fleet(more)
      process.on('agentMessage', ({ message }) => listener(message.content ?? ''), { group: 'crm' })
      await process.start()
      return process
    }
    const redis = new Redis(fleets.redis.path)
    const consumers = async () => {
      const keys = Array.from({ length: 4 }, (_, shard) => `{${name}:s${shard}}:out`)
      const lists = await Promise.all(keys.map(key => redis.xinfo('CONSUMERS', key, 'crm')))
      return new Set((lists.flat() as string[][]).map(fields => fields[1]))
    }
    // Two processes read one after the other, and end with an event that they have not handled.
    const ids = Array.from({ length: 8 }, (_, index) => `user-${index}`)
    for (const text of ['one', 'two']) {
      const process = await listen(() => new Promise(() => {}))
      await Promise.all(ids.map(id => worker.open(id)))
      await Promise.all(ids.map(id => worker.send(id, `${text} of ${id}`)))
      await vi.waitFor(async () => expect((await worker.metrics()).fleet.pending).toBe(0), LIMIT)
      await process.close()
    }
    expect((await consumers()).size).toBe(2)
    await listen(text => void taken.push(text))
    const all = ['one', 'two'].flatMap(text => ids.map(id => `re: ${text} of ${id}`))
    await vi.waitFor(() => expect([...new Set(taken)].toSorted()).toEqual(all.toSorted()), LIMIT)
    await vi.waitFor(async () => expect((await consumers()).size).toBeLessThanOrEqual(1), LIMIT)
    redis.disconnect()
  })

  it('[REL-141] gives up a shard whose commits the store refuses, holds the others, and goes on when it is mended', async () => {
    const { fleet, service, name } = fleets.create()
    const problems: [string, string, unknown][] = []
    const sender = fleet({ worker: false, shards: 2 })
    const { updates, said } = collect(sender)
    await sender.start()
    const log = (level: string, text: string, details?: unknown) => void problems.push([level, text, details])
    const worker = fleet({ shards: 2, log, worker: SHORT_LEASE })
    await worker.start()
    const ids = await Promise.all(Array.from({ length: 8 }, (_, index) => sender.open(`user-${index}`)))
    const shards = await Promise.all(ids.map(async id => (await sender.conversation(id)).shard))
    const [spoilt = '', healthy = ''] = [0, 1].map(shard => ids[shards.indexOf(shard)])
    const redis = new Redis(fleets.redis.path)
    await sender.send(spoilt, 'one')
    await vi.waitFor(() => expect(updates).toHaveLength(1), LIMIT)
    await sender.send(spoilt, 'two')
    await redis.hset(`{${name}:s0}:counts`, spoilt, 'many')
    const session = [...service.world.sessions.values()].find(({ accepted }) => accepted.total > 0)
    service.control.say(session?.id ?? '', { content: 'Hello?' })
    await vi.waitFor(
      () =>
        expect(problems).toContainEqual([
          'error',
          expect.stringContaining('gives up'),
          expect.objectContaining({ shard: 0 }),
        ]),
      LIMIT,
    )
    await vi.waitFor(async () => expect((await worker.metrics()).worker.shards).toBe(1), LIMIT)
    await sender.send(healthy, 'elsewhere')
    await vi.waitFor(() => expect(said.at(-1)).toMatchObject({ conversationId: healthy }), LIMIT)
    await redis.hset(`{${name}:s0}:counts`, spoilt, '1')
    redis.disconnect()
    await fleet({ shards: 2, worker: SHORT_LEASE }).start()
    const texts = () =>
      said.filter(({ conversationId }) => conversationId === spoilt).map(({ message }) => message.content)
    await vi.waitFor(() => expect(new Set(texts())).toEqual(new Set(['re: one', 're: two', 'Hello?'])), LIMIT)
    expect(texts()).toHaveLength(3)
    await vi.waitFor(async () => expect(await sender.conversation(spoilt)).toMatchObject({ pending: 0 }), LIMIT)
  })

  it('[REL-138] ends a conversation that does not start, and tells what becomes of its messages', async () => {
    const { fleet, service } = fleets.create()
    const worker = fleet({ agent: () => ({ id: 'missing', endpoint: service.origin }) })
    const { errors, ended, updates } = collect(worker)
    await worker.start()
    await worker.open('a')
    const id = await worker.send('a', 'Hello')
    await vi.waitFor(() => expect(errors).toHaveLength(1), LIMIT)
    await worker.end('a')
    await vi.waitFor(() => expect(ended).toEqual(['a']), LIMIT)
    expect(updates).toEqual([{ conversationId: 'a', id, state: 'failed', reason: 'session_ended' }])
    expect(await worker.conversation('a')).toMatchObject({ state: 'unknown', pending: 0 })
  })

  it('[REL-138] reports a host that never answers for the configuration of a conversation', async () => {
    const { fleet, service } = fleets.create()
    const config = { id: 'help', endpoint: service.origin }
    let isStuck = true
    const worker = fleet({ agent: () => (isStuck ? new Promise<never>(() => {}) : config), storeTimeoutMs: 500 })
    const { errors, opened } = collect(worker)
    await worker.start()
    await worker.open('a')
    await vi.waitFor(() => expect(errors[0]).toMatchObject({ conversationId: 'a', code: 'TIMEOUT' }), LIMIT)
    isStuck = false
    await vi.waitFor(() => expect(opened).toEqual(['a']), LIMIT)
  })

  it('[REL-134] rejects a text that is not masked in time, and stores nothing of it', async () => {
    const { fleet } = fleets.create()
    let mask = (text: string): string | Promise<string> => text
    const sender = fleet({ worker: false, storeTimeoutMs: 300, mask: text => mask(text) })
    await sender.start()
    await sender.open('a')
    mask = () => new Promise(() => {})
    await expect(sender.send('a', 'secret')).rejects.toMatchObject({
      code: 'mask_failed',
      cause: expect.any(LateError),
    })
    mask = () => undefined as never
    await expect(sender.send('a', 'secret')).rejects.toMatchObject({ code: 'mask_failed', conversationId: 'a' })
    expect(await sender.conversation('a')).toMatchObject({ pending: 0 })
  })

  it('[REL-154] connects again when its server has become a read-only replica', async () => {
    const { fleet } = fleets.create()
    const [old, next] = [await startRedis(), await startRedis()]
    const proxy = await startRedisProxy(old.path)
    const admin = new Redis(old.path)
    try {
      const sender = fleet({ worker: false, redis: proxy.path })
      await sender.start()
      await sender.open('a')
      await admin.call('REPLICAOF', '127.0.0.1', '1')
      proxy.redirect(next.path)
      await vi.waitFor(async () => expect(await sender.open('b')).toBe('b'), LIMIT)
      await sender.close()
    } finally {
      admin.disconnect()
      await proxy.close()
      await Promise.all([old.close(), next.close()])
    }
  })

  it('[REL-138] starts after a store that did not answer the first time', async () => {
    const { fleet } = fleets.create()
    const sender = fleet({ worker: false, storeTimeoutMs: 300 })
    fleets.redis.freeze(true)
    try {
      await expect(sender.start()).rejects.toMatchObject({ code: 'store_unavailable' })
      await expect(sender.open('a')).rejects.toMatchObject({ code: 'not_started' })
    } finally {
      fleets.redis.freeze(false)
    }
    await sender.start()
    expect(await sender.open('a')).toBe('a')
  })
})
