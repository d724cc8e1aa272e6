import { hasRedis } from '@aiagent/test-support/redis'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { acceptedTexts, collect, LIMIT, setUpFleets } from './set-up.ts'

describe.skipIf(!hasRedis())('a fleet in which two things happen at once', () => {
  const fleets = setUpFleets()

  it('[REL-131] [REL-134] hands over in order what waits for the rate limit when its worker is drained, once', async () => {
    const { fleet, service } = fleets.create()
    const sender = fleet({ worker: false })
    const { updates } = collect(sender)
    await sender.start()
    const first = fleet({ rateLimit: { messagesPerSecond: 10 } })
    await first.start()
    await sender.open('a')
    const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`)
    for (const text of texts) await sender.send('a', text)
    await vi.waitFor(() => expect(acceptedTexts(service).length).toBeGreaterThan(5), LIMIT)
    await first.drain()
    const before = acceptedTexts(service).length
    expect(before).toBeLessThan(texts.length)
    await fleet({ rateLimit: { messagesPerSecond: 100 } }).start()
    await vi.waitFor(() => expect(updates.filter(({ state }) => state === 'acknowledged')).toHaveLength(40), LIMIT)
    expect(acceptedTexts(service)).toEqual(texts)
  })

  it('[REL-132] [REL-135] ends a conversation of which the worker hangs, and leaves nothing of it, once another one has it', async () => {
    const { fleet, service, name } = fleets.create()
    const sender = fleet({ worker: false, shards: 1 })
    const { ended, opened } = collect(sender)
    await sender.start()
    // A worker that hangs is one whose lease another one has taken: it is told by its next write only.
    const hanging = fleet({ shards: 1 })
    await hanging.start()
    await sender.open('a')
    await sender.send('a', 'one')
    await vi.waitFor(() => expect(acceptedTexts(service)).toEqual(['one']), LIMIT)
    const redis = new Redis(fleets.redis.path)
    await redis.set(`{${name}:s0}:owner`, 'another:99', 'PX', 60_000)
    await sender.end('a')
    await expect(sender.send('a', 'late')).rejects.toMatchObject({ code: expect.stringMatching(/ending|unknown/) })
    expect(ended).toEqual([])
    await redis.del(`{${name}:s0}:owner`)
    await vi.waitFor(() => expect(ended).toEqual(['a']), LIMIT)
    expect(opened).toEqual(['a'])
    expect(acceptedTexts(service)).toEqual(['one'])
    const left = await redis.keys(`{${name}:s0}:*`)
    expect(left.filter(key => /:(?:c:|open|ending|pending|counts)/.test(key))).toEqual([])
    redis.disconnect()
  })

  it('[REL-134] [REL-139] rejects what a store without memory refuses, loses nothing that it has accepted, and goes on', async () => {
    const { fleet, service } = fleets.create()
    const sender = fleet({ worker: false })
    const { updates, texts } = collect(sender)
    await sender.start()
    const worker = fleet()
    await worker.start()
    await sender.open('a')
    await sender.send('a', 'before')
    await vi.waitFor(() => expect(updates).toHaveLength(1), LIMIT)
    const redis = new Redis(fleets.redis.path)
    await redis.config('SET', 'maxmemory', '1')
    try {
      await expect(sender.send('a', 'refused')).rejects.toMatchObject({
        cause: { message: expect.stringMatching(/OOM/) },
      })
      // What the agent says meanwhile cannot be stored yet.
      const [session] = service.world.sessions.values()
      service.control.say(session?.id ?? '', { content: 'Are you there?' })
    } finally {
      await redis.config('SET', 'maxmemory', '0')
      redis.disconnect()
    }
    await sender.send('a', 'after')
    await vi.waitFor(() => expect(texts()).toEqual(expect.arrayContaining(['re: after', 'Are you there?'])), LIMIT)
    expect(acceptedTexts(service)).toEqual(['before', 'after'])
    expect(texts().toSorted()).toEqual(['Are you there?', 're: after', 're: before'])
  })
})
