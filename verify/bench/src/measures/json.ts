import { atMost, type Finding, median, summary } from '../figure.ts'
import type { JsonParameters, JsonResult } from '../programs/json.ts'
import type { Bench } from './measure.ts'

const WAYS = [
  { way: 'out', name: 'Library alone, out', goal: atMost(1.7) },
  { way: 'in', name: 'Library alone, in', goal: atMost(1.5) },
] as const

const SIZES = [
  { bytes: 120, label: '120 B', messages: 5_000 },
  { bytes: 2_000, label: '2 kB', messages: 2_000 },
] as const

/** Time of the processor for the library with a socket in memory, beside that of JSON alone. */
export async function json(bench: Bench): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { way, name, goal } of WAYS)
    for (const { bytes, label, messages } of SIZES) {
      const ratios: number[] = []
      const costs = { json: [] as number[], library: [] as number[] }
      for (let run = bench.times(3, 1); run > 0; run--) {
        const parameters: JsonParameters = { way, bytes, messages, rounds: bench.times(150, 60) }
        const result = await bench.programs.run<JsonResult>('json', parameters)
        ratios.push(median(result.library) / median(result.json))
        costs.json.push(median(result.json))
        costs.library.push(median(result.library))
      }
      const each = (times: readonly number[]) => (median(times) / messages).toFixed(2)
      findings.push({
        name: `${name}, ${label}`,
        ...summary(ratios),
        unit: '× JSON',
        goal,
        note: `${each(costs.library)} µs per message, JSON ${each(costs.json)} µs`,
      })
    }
  return findings
}
