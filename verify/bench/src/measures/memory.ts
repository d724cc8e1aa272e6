import { atMost, type Finding, median, summary } from '../figure.ts'
import type { GrowthResult } from '../programs/growth.ts'
import type { HeapParameters } from '../programs/heap.ts'
import type { Bench } from './measure.ts'

const WITH_GC = ['--expose-gc']

/** Heap of one connected, idle agent above that of a bare socket, and what remains of an agent that was dropped. */
export async function heap(bench: Bench): Promise<Finding[]> {
  const chats = bench.times(400, 100)
  const sizes = { bare: [] as number[], library: [] as number[], observed: [] as number[], dropped: [] as number[] }
  await bench.withService(0, async ({ endpoint }) => {
    for (let run = bench.times(3, 1); run > 0; run--)
      for (const side of ['bare', 'library', 'observed', 'dropped'] as const) {
        // What all chats of a process share for good, such as compiled code, must not count as left by each.
        const parameters: HeapParameters = { endpoint, side, chats: side === 'dropped' ? chats * 3 : chats }
        sizes[side].push(await bench.programs.run<number>('heap', parameters, WITH_GC))
      }
  })
  const above = (values: readonly number[]) =>
    summary(values.map((bytes, index) => (bytes - (sizes.bare[index] ?? Number.NaN)) / 1000))
  const kilobytes = (values: readonly number[]) => (median(values) / 1000).toFixed(1)
  return [
    {
      name: 'Heap per idle agent above bare ws',
      ...above(sizes.library),
      unit: 'kB',
      goal: atMost(9.7),
      note: `${kilobytes(sizes.library)} kB, bare ${kilobytes(sizes.bare)} kB`,
    },
    { name: 'The same with a listener on every event', ...above(sizes.observed), unit: 'kB' },
    {
      name: 'Heap per agent after disconnect(), without a reference',
      ...summary(sizes.dropped.map(bytes => bytes / 1000)),
      unit: 'kB',
      goal: atMost(2),
    },
  ]
}

/** What is left of a long conversation whose transcript is bounded. */
export async function growth(bench: Bench): Promise<Finding[]> {
  const messages = 100_000
  const runs: GrowthResult[] = []
  for (let run = bench.times(3, 1); run > 0; run--)
    runs.push(await bench.programs.run<GrowthResult>('growth', { messages, maxEntries: 100 }, WITH_GC))
  // A byte per message: anything that is kept of each would be fifty times that.
  const goal = atMost(messages / 1000)
  const kilobytes = (part: keyof GrowthResult) => ({ ...summary(runs.map(run => run[part] / 1000)), unit: 'kB', goal })
  return [
    { name: 'Growth over 100,000 messages', ...kilobytes('first') },
    { name: 'Growth over the next 100,000 messages', ...kilobytes('second') },
  ]
}
