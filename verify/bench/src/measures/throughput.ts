import { atLeast, type Finding, median, summary } from '../figure.ts'
import type { ThroughputParameters } from '../programs/throughput.ts'
import { alternating, type Bench } from './measure.ts'

const WAYS = [
  { way: 'awaited', name: 'Outbound, each send awaited', goal: atLeast(0.85) },
  { way: 'burst', name: 'Outbound, a burst of sends', goal: atLeast(2) },
  { way: 'inbound', name: 'Inbound', goal: atLeast(0.85) },
] as const

/** Frames of one round, by their size in bytes. */
const SIZES = [
  { bytes: 120, label: '120 B', frames: 10_000 },
  { bytes: 2_000, label: '2 kB', frames: 4_000 },
] as const

/** Round trips of one round. */
const ECHOES = 1_000

/** Speed of the library beside that of bare `ws`, in alternating processes. */
export async function throughput(bench: Bench): Promise<Finding[]> {
  const measure = (parameters: Omit<ThroughputParameters, 'endpoint' | 'side' | 'rounds'>) =>
    bench.withService(0, ({ endpoint }) =>
      alternating(bench.times(5, 2), side =>
        bench.programs.run<number>('throughput', { ...parameters, endpoint, side, rounds: bench.times(6, 3) }),
      ),
    )
  const microseconds = (times: readonly number[], count = 1) => ((median(times) / count) * 1000).toFixed(2)
  const findings: Finding[] = []
  for (const { way, name, goal } of WAYS)
    for (const { bytes, label, frames } of SIZES) {
      const { bare, library, ratios } = await measure({ way, bytes, frames })
      findings.push({
        name: `${name}, ${label}`,
        ...summary(ratios.map(ratio => 1 / ratio)),
        unit: '× speed of bare ws',
        goal,
        note: `${microseconds(library, frames)} µs per frame, bare ${microseconds(bare, frames)} µs`,
      })
    }
  const { bare, library, ratios } = await measure({ way: 'echo', bytes: 0, frames: ECHOES })
  return [
    ...findings,
    {
      name: 'Echo, median round trip',
      ...summary(ratios),
      unit: '× time of bare ws',
      note: `${microseconds(library)} µs, bare ${microseconds(bare)} µs`,
    },
  ]
}
