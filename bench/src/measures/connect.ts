import { atMost, type Finding, median, summary } from '../figure.ts'
import type { Bench } from './measure.ts'

/** From nothing to an open chat, beside the same calls made bare, each in a fresh process. */
export async function connect(bench: Bench): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [delayMs, goal] of [
    [0, 1.25],
    [50, 1.1],
  ] as const)
    findings.push(
      await bench.withService(delayMs, async endpoint => {
        const times = { bare: [] as number[], library: [] as number[] }
        for (let pair = bench.times(25, 3); pair > 0; pair--)
          for (const side of pair % 2 === 0 ? (['bare', 'library'] as const) : (['library', 'bare'] as const))
            times[side].push(await bench.programs.run<number>('connect', { endpoint, side }))
        const ratios = times.library.map((time, index) => time / (times.bare[index] ?? Number.NaN))
        return {
          name: `Time to connected, ${delayMs} ms per call`,
          ...summary(ratios),
          unit: '× bare calls',
          goal: atMost(goal),
          note: `${median(times.library).toFixed(0)} ms, bare ${median(times.bare).toFixed(0)} ms`,
        }
      }),
    )
  return findings
}

/** What a second agent of the process asks of the service. */
export async function secondAgent(bench: Bench): Promise<Finding[]> {
  const calls = await bench.withService(0, endpoint => bench.programs.run<number>('second-agent', { endpoint }))
  return [{ name: 'Second agent of a process', value: calls, unit: 'REST calls', goal: atMost(1) }]
}
