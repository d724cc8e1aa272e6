import { createServer } from 'node:net'
import { type RedisServer, startRedis } from '@aiagent/test-support/redis'
import { Cluster, Redis } from 'ioredis'
import { vi } from 'vitest'
import { LIMIT } from './set-up.ts'

const SLOTS = 16_384

/** What a cluster adds to the port of a server for its own messages. */
const BUS_OFFSET = 10_000

/** A Redis Cluster without replicas. */
export interface RedisCluster {
  /** A connection to all servers. */
  readonly connection: Cluster
  /** A connection to each server. */
  readonly servers: readonly Redis[]
  close(): Promise<void>
}

/** Starts a cluster on free ports of this machine, and waits until all servers know all slots. */
export async function startRedisCluster(masters: number): Promise<RedisCluster> {
  const ports: number[] = []
  while (ports.length < masters) ports.push(await findPort(ports))
  const processes: RedisServer[] = []
  const servers: Redis[] = []
  const close = async () => {
    for (const server of servers) server.disconnect()
    await Promise.all(processes.map(each => each.close()))
  }
  try {
    for (const port of ports) {
      const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--cluster-enabled', 'yes']
      processes.push(await startRedis([...settings, '--cluster-node-timeout', '15000']))
      servers.push(new Redis(port, '127.0.0.1'))
    }
    for (const [index, server] of servers.entries()) {
      const from = Math.floor((SLOTS * index) / masters)
      const to = Math.floor((SLOTS * (index + 1)) / masters)
      await server.cluster('ADDSLOTS', ...Array.from({ length: to - from }, (_, slot) => from + slot))
      await server.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
      if (index > 0) await server.cluster('MEET', '127.0.0.1', ports[0] ?? 0)
    }
    for (const server of servers)
      await vi.waitFor(async () => {
        const info = String(await server.cluster('INFO'))
        if (!info.includes('cluster_state:ok') || !info.includes(`cluster_size:${masters}`)) throw new Error(info)
      }, LIMIT)
    const connection = new Cluster(ports.map(port => ({ host: '127.0.0.1', port })))
    return {
      connection,
      servers,
      close: async () => {
        connection.disconnect()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** A port that is free, as is that of its messages. */
async function findPort(taken: readonly number[]): Promise<number> {
  for (;;) {
    const port = await listen(0)
    const bus = port === undefined ? Number.POSITIVE_INFINITY : port + BUS_OFFSET
    if (port !== undefined && bus < 65_536 && !taken.includes(port) && (await listen(bus)) !== undefined) return port
  }
}

/** Listens for a moment. Returns undefined for a port that is taken. */
function listen(port: number): Promise<number | undefined> {
  const server = createServer()
  return new Promise(resolve => {
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined))
    })
  })
}
