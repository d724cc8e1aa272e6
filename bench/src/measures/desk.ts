import { atMost, type Finding, median, summary } from '../figure.ts'
import { depthOf, takeTimeline } from '../timeline.ts'
import type { Bench } from './measure.ts'

const DELAY_MS = 50

interface Times {
  initialized: number
  connected: number
}

/**
 * A contact-center agent, from nothing to `initialized` and to an open chat, beside the calls that need each other's
 * answers made bare; and how many of the library's own calls come one after the other.
 */
export function desk(bench: Bench): Promise<Finding[]> {
  return bench.withService(DELAY_MS, async endpoint => {
    const token = makeToken()
    const times = { bare: [] as Times[], library: [] as Times[] }
    const depths: number[] = []
    for (let pair = bench.times(25, 3); pair > 0; pair--)
      for (const side of pair % 2 === 0 ? (['bare', 'library'] as const) : (['library', 'bare'] as const)) {
        await takeTimeline(endpoint)
        times[side].push(await bench.programs.run<Times>('desk', { endpoint, side, token }))
        const timeline = await takeTimeline(endpoint)
        if (side === 'library') depths.push(depthOf(timeline))
      }
    const beside = (what: keyof Times): Finding => {
      const [library, bare] = [times.library, times.bare].map(list => list.map(each => each[what])) as [
        number[],
        number[],
      ]
      return {
        name: `Contact center, time to ${what}, ${DELAY_MS} ms per call`,
        ...summary(library.map((time, index) => time / (bare[index] ?? Number.NaN))),
        unit: '× bare calls',
        goal: atMost(1.1),
        note: `${median(library).toFixed(0)} ms, bare ${median(bare).toFixed(0)} ms`,
      }
    }
    const depth: Finding = {
      name: 'Contact center, calls one after the other',
      // Calls that overlap in one run do not need each other; a busy machine may send one of them late in another.
      value: Math.min(...depths),
      unit: 'round trips',
      goal: atMost(7),
      note: `fewest of ${depths.length} runs; most ${Math.max(...depths)}`,
    }
    return [beside('initialized'), beside('connected'), depth]
  })
}

/** A token with a readable payload and without a valid signature, which is not checked here. */
function makeToken(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part({ sub: 'desk-agent', exp: Math.floor(Date.now() / 1000) + 3600 })}.${part({})}`
}
