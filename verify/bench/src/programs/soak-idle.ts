// Keeps many agents open and idle in one process, and measures what they cost.
import type { AiAgent } from '@aiagent/client'
import { finish, parameters } from '@aiagent/test-support/program'
import { connected, makeAgent } from '../clients/library-client.ts'
import { heapInUse } from '../heap.ts'
import { type Remains, remains } from '../soak/remains.ts'

const { agents: wanted, endpoint, idleMs } = await parameters<{ endpoint: string; agents: number; idleMs: number }>()

/** Agents that connect at the same time. */
const BATCH = 50
/** The first agents of a process pay for what all of them share, and for compiled code. */
const WARM_UP_AGENTS = 200

export interface IdleReport {
  agents: number
  connectSeconds: number
  /** Heap of one agent, in bytes. */
  heapPerAgent: number
  /** Memory of the process, in bytes. */
  residentBytes: number
  /** Share of one processor while all agents are idle. */
  idleCpu: number
  idleSeconds: number
  stillConnected: number
  /** Heap that remains of each agent after all were destroyed, in bytes. */
  heapLeftPerAgent: number
  before: Remains
  after: Remains
}

const open: AiAgent[] = []
const connectMore = async (count: number) => {
  open.push(...(await Promise.all(Array.from({ length: count }, () => connected(makeAgent(endpoint))))))
}
const destroyAll = async () => {
  for (const agent of open.splice(0)) await agent.destroy()
}

await connectMore(WARM_UP_AGENTS)
await destroyAll()
const heapBefore = await heapInUse()
const before = remains()
const start = performance.now()
while (open.length < wanted) await connectMore(Math.min(BATCH, wanted - open.length))
const connectSeconds = (performance.now() - start) / 1000
const heapPerAgent = ((await heapInUse()) - heapBefore) / wanted
const residentBytes = process.memoryUsage.rss()

const idleStart = performance.now()
const cpuStart = process.cpuUsage()
await new Promise(resolve => setTimeout(resolve, idleMs))
const { user, system } = process.cpuUsage(cpuStart)
const idleSeconds = (performance.now() - idleStart) / 1000
const stillConnected = open.filter(agent => agent.isConnected()).length
await destroyAll()
const report: IdleReport = {
  agents: wanted,
  connectSeconds,
  heapPerAgent,
  residentBytes,
  idleCpu: (user + system) / 1e6 / idleSeconds,
  idleSeconds,
  stillConnected,
  heapLeftPerAgent: ((await heapInUse()) - heapBefore) / wanted,
  before,
  after: remains(),
}
await finish(report)
