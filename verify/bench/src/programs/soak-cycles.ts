// Connects and destroys agents again and again, and counts what remains.

import { finish, parameters } from '@aiagent/test-support/program'
import { connected, makeAgent } from '../clients/library-client.ts'
import { heapInUse } from '../heap.ts'
import { type Remains, remains } from '../soak/remains.ts'

const { cycles, endpoint } = await parameters<{ endpoint: string; cycles: number }>()

/**
 * The first cycles load modules, and fill caches and pools that all agents share. The program runs without the optimizing
 * compilers: what they make grows on the heap for thousands of cycles, and hides what agents leave there.
 */
const WARM_UP_CYCLES = 500

export interface CyclesReport {
  cycles: number
  heapBefore: number
  heapAfter: number
  before: Remains
  after: Remains
  /** Agents that were not collected. */
  agentsLeft: number
  seconds: number
}

const agents: WeakRef<object>[] = []
for (let cycle = 0; cycle < WARM_UP_CYCLES; cycle++) await runCycle()
const heapBefore = await heapInUse()
const before = remains()
agents.length = 0
const start = performance.now()
for (let cycle = 0; cycle < cycles; cycle++) await runCycle()
const seconds = (performance.now() - start) / 1000
const heapAfter = await heapInUse()
const agentsLeft = agents.filter(agent => agent.deref()).length
await finish({ cycles, heapBefore, heapAfter, before, after: remains(), agentsLeft, seconds } satisfies CyclesReport)

/** A whole conversation: connect, a question and its answer, destroy. */
async function runCycle(): Promise<void> {
  const agent = await connected(makeAgent(endpoint))
  agents.push(new WeakRef(agent))
  const reply = await agent.ask('Hello')
  if (!reply.content?.includes('Hello')) throw new Error('The answer is not the one to the question.')
  await agent.destroy()
}
