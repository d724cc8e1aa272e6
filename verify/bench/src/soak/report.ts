import type { CyclesReport } from '../programs/soak-cycles.ts'
import type { IdleReport } from '../programs/soak-idle.ts'
import type { Remains } from './remains.ts'

export interface SoakResult {
  cycles: CyclesReport
  idle: IdleReport
}

/** Heap that may remain of one cycle, in bytes: the noise of collections, far less than an agent. */
const HEAP_PER_CYCLE = 512
/** Heap that may remain of one idle agent, in bytes. */
const HEAP_LEFT_PER_AGENT = 1024

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`

/** The figures as a table. */
export function describeSoak({ cycles, idle }: SoakResult): string {
  const { after, before } = cycles
  const change = (name: keyof Remains) => `${before[name]} → ${after[name]}`
  const grown = cycles.heapAfter - cycles.heapBefore
  return [
    '| | |',
    '|---|---|',
    `| Cycles of connect, question, answer and destroy | ${cycles.cycles.toLocaleString('en')} in ${cycles.seconds.toFixed(0)} s |`,
    `| Heap before and after | ${kilobytes(cycles.heapBefore)} → ${kilobytes(cycles.heapAfter)} (${(grown / cycles.cycles).toFixed(0)} bytes for each cycle) |`,
    `| Agents that were not collected | ${cycles.agentsLeft} |`,
    `| Listeners of the process, timers, sockets | ${change('processListeners')}, ${change('timers')}, ${change('sockets')} |`,
    `| Idle agents in one process | ${idle.agents.toLocaleString('en')}, connected in ${idle.connectSeconds.toFixed(0)} s |`,
    `| Heap of an idle agent, with its socket | ${kilobytes(idle.heapPerAgent)} |`,
    `| Memory of the process | ${(idle.residentBytes / 1e6).toFixed(0)} MB |`,
    `| Processor time while idle | ${(idle.idleCpu * 100).toFixed(2)} % of one core, over ${idle.idleSeconds.toFixed(0)} s |`,
    `| Still connected after that | ${idle.stillConnected.toLocaleString('en')} |`,
    `| Heap that remains of each after destroy() | ${idle.heapLeftPerAgent.toFixed(0)} bytes |`,
  ].join('\n')
}

/** What is not as it was before, one sentence each. */
export function soakProblems({ cycles, idle }: SoakResult): string[] {
  const grown = (cycles.heapAfter - cycles.heapBefore) / cycles.cycles
  return [
    ...(grown > HEAP_PER_CYCLE ? [`The heap grew by ${grown.toFixed(0)} bytes for each cycle.`] : []),
    ...(cycles.agentsLeft > 0 ? [`${cycles.agentsLeft} destroyed agents were not collected.`] : []),
    ...leftovers('the cycles', cycles),
    ...leftovers('the idle agents', idle),
    ...(idle.stillConnected < idle.agents
      ? [`${idle.agents - idle.stillConnected} idle agents lost their connection.`]
      : []),
    ...(idle.heapLeftPerAgent > HEAP_LEFT_PER_AGENT
      ? [`${idle.heapLeftPerAgent.toFixed(0)} bytes of heap remain of each destroyed agent.`]
      : []),
  ]
}

function leftovers(of: string, { after, before }: { before: Remains; after: Remains }): string[] {
  return (['processListeners', 'timers', 'sockets'] as const)
    .filter(name => after[name] > before[name])
    .map(name => `After ${of} there are ${after[name]} ${name}, and ${before[name]} before.`)
}
