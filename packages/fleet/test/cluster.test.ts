import { hasRedis } from '@aiagent/test-support/redis'
import { describe, expect, it, vi } from 'vitest'
import { ShardKeys } from '../src/keys.ts'
import { startRedisCluster } from './redis-cluster.ts'
import { acceptedTexts, collect, LIMIT, setUpFleets } from './set-up.ts'

const SHARDS = 12

describe.skipIf(!hasRedis())('a fleet over a Redis Cluster', () => {
  const fleets = setUpFleets()

  it('[REL-140] works over three masters, and keeps the keys of each shard in one slot', async () => {
    const cluster = await startRedisCluster(3)
    const { connection, servers } = cluster
    const { fleet, service, name } = fleets.create()
    const more = { redis: connection, shards: SHARDS }
    const sender = fleet({ ...more, worker: false })
    const crm: string[] = []
    const first = fleet(more)
    const second = fleet(more)
    try {
      const { said, updates, ended, errors } = collect(sender)
      sender.on('agentMessage', ({ conversationId }) => void crm.push(conversationId), { group: 'crm' })
      await sender.start()
      await first.start()
      await second.start()
      const ids = Array.from({ length: 24 }, (_, index) => `user-${index}`)
      await Promise.all(ids.map(id => sender.open(id, { context: { user: id } })))
      await Promise.all(ids.map(id => sender.send(id, `one of ${id}`)))
      await vi.waitFor(() => expect(said).toHaveLength(24), LIMIT)
      await first.close()
      await Promise.all(ids.map(id => sender.send(id, `two of ${id}`)))
      await vi.waitFor(() => expect(said).toHaveLength(48), LIMIT)
      await vi.waitFor(() => expect(updates.map(({ state }) => state)).toEqual(Array(48).fill('acknowledged')), LIMIT)
      await vi.waitFor(() => expect(crm).toHaveLength(48), LIMIT)
      expect(acceptedTexts(service).toSorted()).toEqual(ids.flatMap(id => [`one of ${id}`, `two of ${id}`]).toSorted())
      expect(service.world.sessions.size).toBe(24)
      const { fleet: all } = await sender.metrics()
      expect(all).toMatchObject({ conversations: 24, pending: 0, orphanedShards: 0, shards: SHARDS })

      // Each master has shards, and all keys of a shard have the slot of its tag.
      const keys = (await Promise.all(servers.map(server => server.keys(`{${name}:*`)))).map(found => found.toSorted())
      for (const found of keys) expect(found.filter(key => key.endsWith(':owner')).length).toBeGreaterThan(0)
      const slots = new Map<string, Set<number>>()
      for (const key of keys.flat()) {
        const tag = key.slice(0, key.indexOf('}'))
        const slot = Number(await servers[0]?.cluster('KEYSLOT', key))
        slots.set(tag, (slots.get(tag) ?? new Set()).add(slot))
      }
      expect([...slots.values()].map(({ size }) => size)).toEqual(Array(SHARDS + 1).fill(1))
      expect(keys.flat()).toContain(new ShardKeys(name, 0).out)

      await Promise.all(ids.map(id => sender.end(id)))
      await vi.waitFor(() => expect(ended.toSorted()).toEqual(ids.toSorted()), LIMIT)
      expect(errors).toEqual([])
    } finally {
      await Promise.all([first, second, sender].map(each => each.close()))
      await cluster.close()
    }
  }, 90_000)
})
