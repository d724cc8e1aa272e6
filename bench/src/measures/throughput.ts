import { atLeast, type Finding, median, summary } from '../figure.ts'
import type { ThroughputParameters } from '../programs/throughput.ts'
import type { Bench } from './measure.ts'

const WAYS = [
  { way: 'awaited', name: 'Outbound, each send awaited', goal: atLeast(0.85) },
  { way: 'burst', name: 'Outbound, a burst of sends', goal: atLeast(2) },
  { way: 'inbound', name: 'Inbound, a write per frame', goal: atLeast(0.85) },
  // The hardest case for a client, and no goal: the service hands over 64 frames with one write.
  { way: 'packed', name: 'Inbound, 64 frames per write', goal: undefined },
] as const

/** Frames of one round, by their size in bytes. */
const SIZES = [
  { bytes: 120, label: '120 B', frames: 20_000 },
  { bytes: 2_000, label: '2 kB', frames: 8_000 },
] as const

/** Throughput of the library as a part of that of bare `ws`, in alternating processes. */
export async function throughput(bench: Bench): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { way, name, goal } of WAYS)
    for (const { bytes, label, frames } of SIZES) {
      const { bare, library } = await bench.withService(0, async endpoint => {
        const times = { bare: [] as number[], library: [] as number[] }
        for (let pair = bench.times(9, 2); pair > 0; pair--)
          for (const side of pair % 2 === 0 ? (['bare', 'library'] as const) : (['library', 'bare'] as const)) {
            const parameters: ThroughputParameters = { endpoint, side, way, bytes, frames, rounds: bench.times(10, 4) }
            times[side].push(await bench.programs.run<number>('throughput', parameters))
          }
        return times
      })
      const ratios = bare.map((time, index) => time / (library[index] ?? Number.NaN))
      const each = (times: readonly number[]) => ((median(times) / frames) * 1000).toFixed(2)
      findings.push({
        name: `${name}, ${label}`,
        ...summary(ratios),
        unit: '× bare ws',
        ...(goal && { goal }),
        note: `${each(library)} µs per frame, bare ${each(bare)} µs`,
      })
    }
  return findings
}
