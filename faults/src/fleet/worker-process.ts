// A process of a fleet: holds conversations until it is ended. Started by worker-pool.ts with its options as JSON.
import { Fleet } from '@aiagent/fleet'
import type { WorkerSettings } from './worker-pool.ts'

const { redis, name, endpoint, shards, worker, rateLimit } = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings
const fleet = new Fleet({
  redis,
  name,
  shards,
  mask: false,
  agent: { id: 'help', endpoint, baseReconnectDelay: 200, maxReconnectDelay: 2_000 },
  worker,
  ...(rateLimit && { rateLimit }),
  log: () => {},
})
// Its parent has ended, even by SIGKILL.
process.on('disconnect', () => process.exit())
await fleet.start()
process.send?.('ready')
process.on('message', async () => {
  const metrics = await fleet.metrics()
  process.send?.({ metrics, memory: process.memoryUsage(), cpu: process.cpuUsage() })
})
