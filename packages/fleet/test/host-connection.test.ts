import { hasRedis, startRedis } from '@aiagent/test-support/redis'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { Fleet } from '../src/index.ts'
import { startRedisCluster } from './redis-cluster.ts'
import { startRedisProxy } from './redis-proxy.ts'
import { collect, LIMIT, setUpFleets } from './set-up.ts'

const KEEPS_NO_PREFIX = expect.objectContaining({
  code: 'config_invalid',
  message: expect.stringContaining('keyPrefix'),
})

describe('a connection that a fleet is given', () => {
  const create = (redis: unknown) =>
    new Fleet({ redis: redis as Redis, name: 'shop', mask: false, agent: { id: 'help', endpoint: 'https://a.test' } })

  it('[REL-270] is refused with `keyPrefix`, wherever that is set', () => {
    const unopened = { keyPrefix: 'shop:', lazyConnect: true }
    const nodes = [{ host: '127.0.0.1', port: 1 }]
    const given = [
      new Redis(unopened),
      new Cluster(nodes, unopened),
      new Cluster(nodes, { lazyConnect: true, redisOptions: { keyPrefix: 'shop:' } }),
      'redis://127.0.0.1:1/0?keyPrefix=shop:',
    ]
    for (const redis of given) expect(() => create(redis)).toThrow(KEEPS_NO_PREFIX)
  })

  it('[REL-270] is refused when it is a client of another package, or none', () => {
    // The client of the package `redis` can be duplicated too.
    const other = { duplicate: () => ({}), options: {}, connect: async () => {} }
    for (const redis of [other, new URL('redis://127.0.0.1'), { host: '127.0.0.1' }, 6379])
      expect(() => create(redis)).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  })
})

describe.skipIf(!hasRedis())('a fleet over the connection of a host', () => {
  const fleets = setUpFleets()
  const countReads = async () => {
    const admin = new Redis(fleets.redis.path)
    const [, calls] = /cmdstat_xreadgroup:calls=(\d+)/.exec(await admin.info('commandstats')) ?? []
    admin.disconnect()
    return Number(calls ?? 0)
  }
  const breaking: Record<string, RedisOptions> = {
    stringNumbers: { stringNumbers: true },
    enableOfflineQueue: { enableOfflineQueue: false },
    commandTimeout: { commandTimeout: 500 },
    socketTimeout: { socketTimeout: 300 },
    blockingTimeout: { blockingTimeout: 1, blockingTimeoutGrace: -900 },
    monitor: { monitor: true },
    lazyConnect: { lazyConnect: true },
    autoResendUnfulfilledCommands: { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 },
  }

  it.each(Object.keys(breaking))('[REL-270] delivers messages whatever the host has set for %s', async option => {
    const own = new Redis(fleets.redis.path, breaking[option] ?? {})
    own.on('error', () => {})
    const log = vi.fn()
    const { fleet } = fleets.create()
    const worker = fleet({ redis: own, log })
    const { said, updates } = collect(worker)
    try {
      await worker.start()
      await worker.open('a')
      await worker.send('a', 'one')
      await vi.waitFor(() => expect(said).toHaveLength(1), LIMIT)
      await vi.waitFor(() => expect(updates).toHaveLength(1), LIMIT)
      // A read that waits for entries ends without one, too.
      const before = await countReads()
      await vi.waitFor(async () => expect(await countReads()).toBeGreaterThan(before + 2), LIMIT)
      await worker.send('a', 'two')
      await vi.waitFor(() => expect(said).toHaveLength(2), LIMIT)
      expect(log.mock.calls.filter(([level]) => level !== 'info')).toEqual([])
    } finally {
      own.disconnect()
    }
  })

  it.each(['a strategy that gives up', 'a READONLY answer of no interest'])(
    '[REL-270] connects again after a failover, for a host with %s',
    async kind => {
      const [old, next] = [await startRedis(), await startRedis()]
      const proxy = await startRedisProxy(old.path)
      const admin = new Redis(old.path)
      admin.on('error', () => {})
      const options = kind.includes('strategy') ? { retryStrategy: () => null } : { reconnectOnError: () => false }
      const own = new Redis(proxy.path, options)
      own.on('error', () => {})
      const { fleet } = fleets.create()
      try {
        const sender = fleet({ worker: false, redis: own })
        await sender.start()
        await sender.open('a')
        if (kind.includes('strategy')) await old.stop()
        else await admin.call('REPLICAOF', '127.0.0.1', '1')
        proxy.redirect(next.path)
        await vi.waitFor(async () => expect(await sender.open('b')).toBe('b'), LIMIT)
        await sender.close()
      } finally {
        admin.disconnect()
        own.disconnect()
        await proxy.close()
        await Promise.all([old.close(), next.close()])
      }
    },
  )

  it('[REL-270] delivers messages over a cluster whose options would break it', async () => {
    const cluster = await startRedisCluster(2)
    const [port] = cluster.servers.map(server => server.options.port)
    const own = new Cluster([{ host: '127.0.0.1', port: port ?? 0 }], {
      enableOfflineQueue: false,
      scaleReads: 'slave',
      enableAutoPipelining: true,
      redisOptions: { stringNumbers: true, commandTimeout: 500, socketTimeout: 300 },
    })
    own.on('error', () => {})
    const log = vi.fn()
    const { fleet } = fleets.create()
    const worker = fleet({ redis: own, log })
    const { said } = collect(worker)
    try {
      await worker.start()
      await worker.open('a')
      await worker.send('a', 'one')
      await vi.waitFor(() => expect(said).toHaveLength(1), LIMIT)
      expect(log.mock.calls.filter(([level]) => level !== 'info')).toEqual([])
      await worker.close()
    } finally {
      own.disconnect()
      await cluster.close()
    }
  }, 90_000)

  it('[REL-271] warns at the start about a server that may evict what is stored, and about no other one', async () => {
    const admin = new Redis(fleets.redis.path)
    const warningsWith = async (policy: string) => {
      await admin.config('SET', 'maxmemory-policy', policy)
      const log = vi.fn()
      const sender = fleets.create().fleet({ worker: false, log })
      await sender.start()
      return log.mock.calls
    }
    try {
      expect(await warningsWith('noeviction')).toEqual([])
      for (const policy of ['volatile-lru', 'allkeys-random'])
        expect(await warningsWith(policy)).toEqual([['warn', expect.stringContaining(policy), { policy }]])
      // Where the fleet may not ask, it starts without a word.
      await admin.call('ACL', 'SETUSER', 'fleet', 'on', '>secret', '~*', '+@all', '-info')
      const denied = vi.fn()
      const own = new Redis(fleets.redis.path, { username: 'fleet', password: 'secret', enableReadyCheck: false })
      const sender = fleets.create().fleet({ worker: false, redis: own, log: denied })
      await sender.start()
      expect(await sender.open('a')).toBe('a')
      expect(denied.mock.calls).toEqual([])
      own.disconnect()
    } finally {
      await admin.config('SET', 'maxmemory-policy', 'noeviction')
      admin.disconnect()
    }
  })

  it('[REL-271] warns about each server of a cluster that may evict', async () => {
    const cluster = await startRedisCluster(2)
    const log = vi.fn()
    const sender = fleets.create().fleet({ worker: false, redis: cluster.connection, log })
    try {
      await cluster.servers[1]?.config('SET', 'maxmemory-policy', 'volatile-ttl')
      await sender.start()
      expect(log.mock.calls).toEqual([['warn', expect.stringContaining('volatile-ttl'), { policy: 'volatile-ttl' }]])
    } finally {
      await sender.close()
      await cluster.close()
    }
  }, 90_000)
})
