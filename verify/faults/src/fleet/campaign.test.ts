import { serveEmulator } from '@aiagent/emulator/node'
import { Fleet } from '@aiagent/fleet'
import { hasRedis, startRedis } from '@aiagent/test-support/redis'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { runCampaign } from './campaign.ts'
import { WorkerPool } from './worker-pool.ts'

const LIMIT = { timeout: 25_000, interval: 20 }

describe.skipIf(!hasRedis())('a fleet of processes', () => {
  it('[REL-139] loses and doubles nothing while workers are killed and suspended, and sends no frame without the lease', async () => {
    const redis = await startRedis()
    try {
      const result = await runCampaign(redis, {
        seed: 1,
        conversations: 24,
        workers: 3,
        shards: 8,
        durationMs: 6_000,
        messagesPerSecond: 30,
        killEveryMs: [1_500, 2_500],
        freezeRedisMs: 800,
        freezeWorkerMs: 4_000,
        worker: { leaseMs: 3_000, renewEveryMs: 700, marginMs: 500 },
        capabilities: ['receipts', 'resume', 'fencing'],
        settleMs: 90_000,
        log: () => {},
      })
      expect(result.kills).toBeGreaterThan(0)
      expect(result.acknowledged + result.unknown).toBe(result.messages)
      expect(Object.entries(result.violations).filter(([, count]) => count > 0)).toEqual([])
    } finally {
      await redis.close()
    }
  }, 150_000)

  it('[REL-131] gives its shards back on SIGTERM before it ends', async () => {
    const redis = await startRedis()
    const service = await serveEmulator({ reply: ({ text }) => ({ content: text }), offersLogin: false })
    const endpoint = service.url
    const settings = { redis: redis.path, name: 'drain', endpoint, shards: 6 }
    const pool = await WorkerPool.create({ ...settings, worker: { leaseMs: 20_000 } })
    const fleet = new Fleet({ ...settings, mask: false, agent: { id: 'help', endpoint }, worker: false })
    const connection = new Redis(redis.path)
    try {
      const said: unknown[] = []
      fleet.on('agentMessage', message => void said.push(message))
      await fleet.start()
      const first = await pool.add()
      const ids = ['a', 'b', 'c', 'd']
      await Promise.all(ids.map(id => fleet.open(id)))
      await Promise.all(ids.map(id => fleet.send(id, 'one')))
      await vi.waitFor(() => expect(said).toHaveLength(4), LIMIT)
      await first.end('SIGTERM')
      expect(first.process.signalCode).toBe('SIGTERM')
      expect(await connection.keys('*:owner')).toEqual([])
      await pool.add()
      await Promise.all(ids.map(id => fleet.send(id, 'two')))
      await vi.waitFor(() => expect(said).toHaveLength(8), LIMIT)
      expect(service.emulator.world.sessions.size).toBe(4)
    } finally {
      connection.disconnect()
      await fleet.close()
      await pool.close()
      await service.close()
      await redis.close()
    }
  }, 90_000)
})
