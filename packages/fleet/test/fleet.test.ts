import { hasRedis } from '@aiagent/test-support/redis'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { type FleetError, type FleetEvents, toPrometheus } from '../src/index.ts'
import { startRedisProxy } from './redis-proxy.ts'
import { acceptedTexts, collect, LEASE, LIMIT, SHORT_LEASE, setUpFleets } from './set-up.ts'

describe.skipIf(!hasRedis())('a fleet over Redis', () => {
  const fleets = setUpFleets()

  it('[REL-130] sends from a process without conversations, and tells what the agent answers', async () => {
    const { fleet } = fleets.create()
    const sender = fleet({ worker: false })
    const { said, updates } = collect(sender)
    await sender.start()
    await fleet().start()
    const id = await sender.open('order-1', { context: { page: 'basket' } })
    const messageId = await sender.send(id, 'Hello')
    await vi.waitFor(() => expect(said).toHaveLength(1), LIMIT)
    expect(said[0]).toMatchObject({ conversationId: 'order-1', message: { content: 're: Hello' } })
    const acknowledged = { conversationId: 'order-1', id: messageId, state: 'acknowledged' }
    await vi.waitFor(() => expect(updates).toEqual([acknowledged]), LIMIT)
    expect(await sender.conversation(id)).toMatchObject({ state: 'open', pending: 0 })
  })

  it('[REL-130] keeps messages in order while no worker runs, and repeats no call with the same id', async () => {
    const { fleet, service } = fleets.create()
    const sender = fleet({ worker: false })
    const { said } = collect(sender)
    await sender.start()
    await sender.open('a')
    const texts = Array.from({ length: 30 }, (_, index) => `text ${index}`)
    for (const text of texts) expect(await sender.send('a', text, { id: text })).toBe(text)
    await sender.send('a', 'text 3', { id: 'text 3' })
    await fleet().start()
    await vi.waitFor(() => expect(said).toHaveLength(30), LIMIT)
    await sender.send('a', 'text 4', { id: 'text 4' })
    await sender.send('a', 'last')
    await vi.waitFor(() => expect(said).toHaveLength(31), LIMIT)
    expect(acceptedTexts(service)).toEqual([...texts, 'last'])
  })

  it('[REL-142] delivers messages of two conversations that have the same id, and settles each', async () => {
    const { fleet, service } = fleets.create()
    const sender = fleet({ worker: false, shards: 1 })
    const { updates } = collect(sender)
    await sender.start()
    for (const id of ['c1', 'c2']) {
      await sender.open(id)
      await sender.send(id, `Hello from ${id}`, { id: 'message-1' })
    }
    await fleet({ shards: 1 }).start()
    await vi.waitFor(() => expect(updates).toHaveLength(2), LIMIT)
    const settled = ['c1', 'c2'].map(conversationId => ({ conversationId, id: 'message-1', state: 'acknowledged' }))
    expect(updates).toEqual(expect.arrayContaining(settled))
    expect(acceptedTexts(service).toSorted()).toEqual(['Hello from c1', 'Hello from c2'])
    expect(await sender.conversation('c2')).toMatchObject({ pending: 0 })
    // A repeated call has no effect, also after it was settled.
    await sender.send('c2', 'Hello from c2', { id: 'message-1' })
    await sender.send('c2', 'last')
    await vi.waitFor(() => expect(updates).toHaveLength(3), LIMIT)
    expect(acceptedTexts(service).toSorted()).toEqual(['Hello from c1', 'Hello from c2', 'last'])
  })

  it('[REL-142] knows in which session each of two messages with the same id may have been sent, after a take-over', async () => {
    const { fleet, service } = fleets.create()
    service.faults.add({ kind: 'lose-receipts' })
    const sender = fleet({ worker: false, shards: 1 })
    const { updates } = collect(sender)
    await sender.start()
    const first = fleet({ shards: 1 })
    await first.start()
    for (const id of ['c1', 'c2']) {
      await sender.open(id)
      await sender.send(id, `Hello from ${id}`, { id: 'message-1' })
    }
    await vi.waitFor(() => expect(acceptedTexts(service)).toHaveLength(2), LIMIT)
    await first.close()
    service.faults.lift()
    await fleet({ shards: 1 }).start()
    await vi.waitFor(() => expect(updates).toHaveLength(2), LIMIT)
    const settled = ['c1', 'c2'].map(conversationId => ({ conversationId, id: 'message-1', state: 'acknowledged' }))
    expect(updates).toEqual(expect.arrayContaining(settled))
    expect(acceptedTexts(service)).toHaveLength(2)
  })

  it('[REL-130] holds a conversation whose ids have half a surrogate pair', async () => {
    const { fleet } = fleets.create()
    const worker = fleet()
    const { said, updates } = collect(worker)
    await worker.start()
    const conversationId = await worker.open('c\ud83d')
    expect(conversationId).toBe('c\ufffd')
    const id = await worker.send('c\ud83d', 'Hello', { id: 'm\ude00' })
    await vi.waitFor(() => expect(updates).toEqual([{ conversationId, id, state: 'acknowledged' }]), LIMIT)
    await vi.waitFor(() => expect(said).toMatchObject([{ conversationId }]), LIMIT)
    expect(await worker.conversation('c\ud83d')).toMatchObject({ id: conversationId, state: 'open', pending: 0 })
  })

  it('starts the other conversations when the host never answers for the configuration of one', async () => {
    const { fleet, service } = fleets.create()
    const help = { id: 'help', endpoint: service.origin }
    const asked: string[] = []
    const one = fleet({
      agent: id => {
        asked.push(id)
        return id === 'stuck' ? new Promise(() => {}) : help
      },
    })
    const { texts } = collect(one)
    await one.start()
    await one.open('stuck')
    await vi.waitFor(() => expect(asked).toEqual(['stuck']), LIMIT)
    await one.open('other')
    await one.send('other', 'Hello')
    await vi.waitFor(() => expect(texts()).toEqual(['re: Hello']), LIMIT)
  })

  it('[REL-131] hands the conversations of a drained worker over with session, context and position', async () => {
    const { fleet, service } = fleets.create({
      reply: ({ text, context }) => ({ content: `${text}: ${context.page}` }),
    })
    const sender = fleet({ worker: false })
    const { said, texts } = collect(sender)
    await sender.start()
    const first = fleet()
    await first.start()
    await sender.open('a', { context: { page: 'basket' } })
    await sender.send('a', 'one')
    await vi.waitFor(() => expect(said).toHaveLength(1), LIMIT)
    await first.drain()
    expect((await first.metrics()).worker.shards).toBe(0)
    // Said while nobody holds the conversation.
    const [session] = service.world.sessions.values()
    service.control.say(session?.id ?? '', { content: 'Are you still there?' })
    await fleet().start()
    await sender.send('a', 'two')
    await vi.waitFor(() => expect(said).toHaveLength(3), LIMIT)
    expect(texts()).toEqual(['one: basket', 'Are you still there?', 'two: basket'])
    expect(said[1]).toMatchObject({ recovered: true })
    expect(service.world.sessions.size).toBe(1)
  })

  it('[REL-132] refuses the writes of a worker that lost its lease, and lets it send nothing', async () => {
    const { fleet, service, name } = fleets.create()
    const sender = fleet({ worker: false, shards: 1 })
    const { updates } = collect(sender)
    await sender.start()
    const worker = fleet({ shards: 1 })
    await worker.start()
    await sender.open('a')
    await sender.send('a', 'one')
    await vi.waitFor(() => expect(updates).toHaveLength(1), LIMIT)
    const redis = new Redis(fleets.redis.path)
    const events = await redis.xlen(`{${name}:s0}:out`)
    // Another worker has the shard: nothing tells the first one but its next write.
    await redis.set(`{${name}:s0}:owner`, 'another:99', 'PX', 60_000)
    const [session] = service.world.sessions.values()
    const frames = session?.received.total
    service.control.say(session?.id ?? '', { content: 'Hello?' })
    await vi.waitFor(async () => expect((await worker.metrics()).worker.leaseLosses).toBe(1), LIMIT)
    await sender.send('a', 'two')
    expect(await redis.xlen(`{${name}:s0}:out`)).toBe(events)
    expect(session?.received.total).toBe(frames)
    expect(acceptedTexts(service)).toEqual(['one'])
    // Given free, it goes on where it was.
    await redis.del(`{${name}:s0}:owner`)
    redis.disconnect()
    await vi.waitFor(() => expect(acceptedTexts(service)).toEqual(['one', 'two']), LIMIT)
  })

  it('[REL-133] tells a message as unknown that a worker may have sent before it crashed, where the service has no receipts', async () => {
    const { fleet, service } = fleets.create({ settings: { capabilities: [] } })
    const proxy = await startRedisProxy(fleets.redis.path)
    try {
      const sender = fleet({ worker: false })
      const { updates } = collect(sender)
      await sender.start()
      const first = fleet({ redis: proxy.path, worker: { ...SHORT_LEASE, drainMs: 0 }, storeTimeoutMs: 1_000 })
      await first.start()
      await sender.open('a')
      const id = await sender.send('a', 'one')
      await vi.waitFor(() => expect(acceptedTexts(service)).toEqual(['one']), LIMIT)
      // Nothing that it does after this is stored, as after SIGKILL.
      proxy.cut()
      await fleet({ worker: SHORT_LEASE }).start()
      const unknown = { conversationId: 'a', id, state: 'unknown', reason: 'worker_lost' }
      await vi.waitFor(() => expect(updates).toEqual([unknown]), LIMIT)
      expect(acceptedTexts(service)).toEqual(['one'])
    } finally {
      await proxy.close()
    }
  })

  it('[REL-133] sends it again under its id with receipts, so that it arrives once', async () => {
    const { fleet, service } = fleets.create()
    service.faults.add({ kind: 'lose-receipts' })
    const sender = fleet({ worker: false })
    const { updates, said } = collect(sender)
    await sender.start()
    const first = fleet()
    await first.start()
    await sender.open('a')
    const id = await sender.send('a', 'one')
    await vi.waitFor(() => expect(acceptedTexts(service)).toEqual(['one']), LIMIT)
    await first.close()
    service.faults.lift()
    await fleet().start()
    await vi.waitFor(() => expect(updates).toEqual([{ conversationId: 'a', id, state: 'acknowledged' }]), LIMIT)
    await vi.waitFor(() => expect(said).toHaveLength(1), LIMIT)
    expect(acceptedTexts(service)).toEqual(['one'])
  })

  it('[REL-134] rejects what exceeds the limits, and messages to conversations that are not open', async () => {
    const { fleet } = fleets.create()
    const sender = fleet({ worker: false, maxPending: 2, maxConversations: 2 })
    await sender.start()
    await sender.open('a')
    await sender.open('b')
    await expect(sender.open('c')).rejects.toMatchObject({ code: 'too_many_conversations' })
    await sender.send('a', 'one')
    await sender.send('a', 'two')
    await expect(sender.send('a', 'three')).rejects.toMatchObject({ code: 'too_many_pending', conversationId: 'a' })
    await sender.send('b', 'one')
    await expect(sender.send('x', 'one')).rejects.toMatchObject({ code: 'unknown_conversation' })
    await expect(sender.send('a', '')).rejects.toMatchObject({ code: 'invalid' })
    await expect(fleet({ shards: 5, worker: false }).start()).rejects.toMatchObject({ code: 'config_invalid' })
    expect(() => fleet({ mask: undefined as never })).toThrow('`mask` must be')
  })

  it('[REL-134] sends no more messages per second than the deployment allows', async () => {
    const { fleet, service } = fleets.create()
    const sender = fleet({ worker: false })
    const { updates } = collect(sender)
    await sender.start()
    await fleet({ rateLimit: { messagesPerSecond: 20 } }).start()
    await sender.open('a')
    for (let index = 0; index < 60; index++) await sender.send('a', `text ${index}`)
    await vi.waitFor(() => expect(updates).toHaveLength(60), LIMIT)
    const [session] = service.world.sessions.values()
    const times = session?.accepted.entries().map(({ at }) => at) ?? []
    // A second's worth may have added up before.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1_500)
  })

  it('[REL-135] masks before anything is stored, and removes everything of a conversation that ends', async () => {
    const { fleet, service, name } = fleets.create()
    const sender = fleet({ worker: false, shards: 1, mask: text => text.replaceAll(/\d/g, '*') })
    const { ended, opened } = collect(sender)
    await sender.start()
    await sender.open('a', { context: { page: 'basket' } })
    await sender.send('a', 'my card is 4111')
    const redis = new Redis(fleets.redis.path)
    const stored = JSON.stringify(await redis.xrange(`{${name}:s0}:in`, '-', '+'))
    expect(stored).toContain('my card is ****')
    expect(stored).not.toContain('4111')
    await fleet({ shards: 1 }).start()
    await vi.waitFor(() => expect(opened).toEqual(['a']), LIMIT)
    await sender.end('a')
    await expect(sender.send('a', 'late')).rejects.toMatchObject({ code: expect.stringMatching(/ending|unknown/) })
    await vi.waitFor(() => expect(ended).toEqual(['a']), LIMIT)
    expect(acceptedTexts(service)).toEqual(['my card is ****'])
    const left = await redis.keys(`{${name}:s0}:*`)
    expect(left.filter(key => /:(?:c:|open|ending|pending|counts)/.test(key))).toEqual([])
    expect(await redis.xlen(`{${name}:s0}:in`)).toBe(0)
    redis.disconnect()
  })

  it('[REL-135] gives nothing of one conversation to another one', async () => {
    const { fleet } = fleets.create({ reply: ({ text, context }) => ({ content: `${context.user}: ${text}` }) })
    const sender = fleet({ worker: false })
    const { said } = collect(sender)
    await sender.start()
    const first = fleet()
    await first.start()
    const ids = Array.from({ length: 12 }, (_, index) => `user-${index}`)
    const round = async (text: string, expected: number) => {
      await Promise.all(ids.map(id => sender.send(id, `${text} of ${id}`)))
      await vi.waitFor(() => expect(said).toHaveLength(expected), LIMIT)
    }
    await Promise.all(ids.map(id => sender.open(id, { context: { user: id } })))
    await round('first', 12)
    await first.close()
    await fleet().start()
    await round('second', 24)
    for (const { conversationId, message } of said)
      expect(message.content).toMatch(new RegExp(`^${conversationId}: (?:first|second) of ${conversationId}$`))
  })

  it('[REL-136] delivers each event once to a named group of processes', async () => {
    const { fleet } = fleets.create()
    const sender = fleet({ worker: false })
    const other = fleet({ worker: false })
    const live = collect(other)
    const seen: FleetEvents['agentMessage'][] = []
    for (const each of [sender, other]) each.on('agentMessage', payload => void seen.push(payload), { group: 'crm' })
    await sender.start()
    await other.start()
    await fleet().start()
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await sender.open(id)
      await sender.send(id, 'Hello')
    }
    await vi.waitFor(() => expect(live.said).toHaveLength(6), LIMIT)
    await vi.waitFor(() => expect(seen).toHaveLength(6), LIMIT)
    expect(new Set(seen.map(({ conversationId }) => conversationId)).size).toBe(6)
  })

  it('[REL-137] shares the shards evenly between workers that come and go', async () => {
    const { fleet } = fleets.create()
    const more = { shards: 12 }
    const first = fleet(more)
    await first.start()
    expect((await first.metrics()).worker.shards).toBe(12)
    const second = fleet(more)
    await second.start()
    const shares = async () => Promise.all([first, second].map(async each => (await each.metrics()).worker.shards))
    await vi.waitFor(async () => expect(await shares()).toEqual([6, 6]), LIMIT)
    await second.drain()
    await vi.waitFor(async () => expect((await first.metrics()).worker.shards).toBe(12), LIMIT)
    expect((await first.metrics()).worker.leaseLosses).toBe(0)
  })

  it('[REL-137] reports its numbers, also as text for Prometheus', async () => {
    const { fleet } = fleets.create()
    const worker = fleet()
    const { said } = collect(worker)
    await worker.start()
    await worker.open('a')
    await worker.send('a', 'Hello')
    await vi.waitFor(() => expect(said).toHaveLength(1), LIMIT)
    await vi.waitFor(async () => expect((await worker.metrics()).worker.settled.acknowledged).toBe(1), LIMIT)
    const metrics = await worker.metrics()
    expect(metrics.fleet).toEqual({
      workers: 1,
      shards: 4,
      orphanedShards: 0,
      conversations: 1,
      pending: 0,
      oldestPendingMs: 0,
    })
    expect(metrics.worker).toMatchObject({ running: 1, starts: 1, agentMessages: 1, shards: 4 })
    expect(toPrometheus(metrics)).toContain('aiagent_fleet_worker_messages_total{state="acknowledged"} 1\n')
  })

  it('[REL-138] survives a store that hangs shorter than its leases, and tells the caller about it', async () => {
    const { fleet, service } = fleets.create()
    const worker = fleet({ worker: { ...LEASE, leaseMs: 20_000 } })
    const impatient = fleet({ worker: false, storeTimeoutMs: 100 })
    const { said } = collect(worker)
    await worker.start()
    await worker.open('a')
    await worker.send('a', 'one')
    await vi.waitFor(() => expect(said).toHaveLength(1), LIMIT)
    await vi.waitFor(() => impatient.start(), LIMIT)
    fleets.redis.freeze(true)
    let failure: FleetError | undefined
    try {
      await impatient.send('a', 'two', { id: 'two' })
    } catch (error) {
      failure = error as FleetError
    } finally {
      fleets.redis.freeze(false)
    }
    expect(failure).toMatchObject({ code: 'store_unavailable', conversationId: 'a' })
    await worker.send('a', 'two', { id: 'two' })
    await vi.waitFor(() => expect(said).toHaveLength(2), LIMIT)
    expect(acceptedTexts(service)).toEqual(['one', 'two'])
    expect((await worker.metrics()).worker.leaseLosses).toBe(0)
  })

  it('[REL-138] tells why a conversation does not start, and starts it once it can', async () => {
    const { fleet, service } = fleets.create()
    let agent = 'missing'
    const worker = fleet({ agent: () => ({ id: agent, endpoint: service.origin }) })
    const { errors, opened, said } = collect(worker)
    await worker.start()
    await worker.open('a')
    await worker.send('a', 'Hello')
    await vi.waitFor(() => expect(errors[0]).toMatchObject({ conversationId: 'a', code: 'API_ERROR' }), LIMIT)
    agent = 'help'
    await vi.waitFor(() => expect(said).toHaveLength(1), LIMIT)
    expect(opened).toEqual(['a'])
  })
})
