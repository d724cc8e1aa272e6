// A process of a fleet: holds conversations until it is ended. Started by worker-pool.ts.
import { Fleet } from '@aiagent/fleet'
import { parameters, tell } from '@aiagent/test-support/program'
import type { WorkerReport, WorkerSettings } from './worker-pool.ts'

const { redis, name, endpoint, shards, worker, rateLimit } = await parameters<WorkerSettings>()
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
await report()
process.on('message', report)

async function report(): Promise<void> {
  const metrics = await fleet.metrics()
  await tell({ metrics, memory: process.memoryUsage(), cpu: process.cpuUsage() } satisfies WorkerReport)
}
