import { atMost, type Finding, median, summary } from '../figure.ts'
import type { MaskingParameters, MaskingResult } from '../programs/masking.ts'
import type { Bench } from './measure.ts'

const MESSAGES = [
  { length: 40, goal: atMost(25) },
  { length: 200, goal: atMost(100) },
] as const

/** Linear growth is ten times the time for ten times the text; the rest is leeway for a busy machine. */
const GROWTH_GOAL = atMost(15)

/** Masking with twenty rules: what a message costs, how the cost grows, and the worst that a bad pattern does. */
export async function masking(bench: Bench): Promise<Finding[]> {
  const parameters: MaskingParameters = { rounds: bench.times(15, 5) }
  const { times, bad, hostileLength } = await bench.programs.run<MaskingResult>('masking', parameters)
  const ours = (length: number) => times[length]?.ours ?? []
  const beside = (length: number) => `native expressions ${median(times[length]?.native ?? []).toFixed(1)} µs`
  const growth = (from: number, to: number) => median(ours(to)) / median(ours(from))
  const worst = bad.reduce((a, b) => (a.time > b.time ? a : b))
  return [
    ...MESSAGES.map(({ length, goal }) => ({
      name: `Masking, 20 rules, ${length} characters`,
      ...summary(ours(length)),
      unit: 'µs',
      goal,
      note: beside(length),
    })),
    {
      name: 'Masking, from 10 kB to 100 kB',
      value: growth(10_000, 100_000),
      unit: '×',
      goal: GROWTH_GOAL,
      note: `${median(ours(10_000)).toFixed(0)} and ${median(ours(100_000)).toFixed(0)} µs, ${beside(10_000)} and ${beside(100_000)}`,
    },
    {
      name: `Masking, worst of ${bad.length} bad patterns`,
      value: worst.time / 1000,
      unit: 'ms',
      goal: atMost(10),
      note: `${worst.pattern} on ${hostileLength} hostile characters`,
    },
  ]
}
