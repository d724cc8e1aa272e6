import { atMost, type Finding, median, summary } from '../figure.ts'
import type { ConnectParameters, ConnectResult } from '../programs/connect.ts'
import { alternating, type Bench } from './measure.ts'

const FLOWS = [
  { flow: 'direct', name: 'Time to connected' },
  { flow: 'desk', name: 'Contact center, time to connected' },
] as const

const DELAYS = [
  { delayMs: 0, goal: atMost(1.15) },
  { delayMs: 50, goal: atMost(1.05) },
] as const

/** Agents that follow the first one of a process. */
const LATER = 20

/** From nothing to an open chat, beside the calls that the protocol demands made bare, each in a fresh process. */
export async function connect(bench: Bench): Promise<Finding[]> {
  const findings: Finding[] = []
  const token = makeToken()
  const laterTimes = { bare: [] as number[], library: [] as number[] }
  for (const { flow, name } of FLOWS)
    for (const { delayMs, goal } of DELAYS)
      await bench.withService(delayMs, async ({ endpoint }) => {
        const later = flow === 'direct' && delayMs === 0 ? LATER : 0
        const { bare, library, ratios } = await alternating(bench.times(15, 3), async side => {
          const parameters: ConnectParameters = { endpoint, side, flow, token, later }
          const result = await bench.programs.run<ConnectResult>('connect', parameters)
          if (result.later !== undefined) laterTimes[side].push(result.later)
          return result.first
        })
        findings.push({
          name: `${name}, ${delayMs} ms per call`,
          ...summary(ratios),
          unit: '× bare calls',
          goal,
          note: `${median(library).toFixed(0)} ms, bare ${median(bare).toFixed(0)} ms`,
        })
      })
  const note = `bare session and socket ${median(laterTimes.bare).toFixed(2)} ms`
  return [
    ...findings,
    {
      name: 'A later agent of a process, 0 ms per call',
      ...summary(laterTimes.library),
      unit: 'ms',
      goal: atMost(8),
      note,
    },
  ]
}

/** A token with a readable payload and without a valid signature, which is not checked here. */
function makeToken(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part({ sub: 'desk-agent', exp: Math.floor(Date.now() / 1000) + 3600 })}.${part({})}`
}
