// Masking with twenty realistic rules, beside the same rules as native expressions, by the time of the processor.
import type { MaskingPatterns } from '@aiagent/protocol'
import { finish, parameters } from '@aiagent/test-support/program'
import { makeAgent } from '../clients/library-client.ts'
import { MEMORY_ENDPOINT, memoryEnvironment } from '../clients/memory-service.ts'
import { median } from '../figure.ts'
import { BAD_PATTERNS, longText, MESSAGES, REALISTIC_RULES } from '../masking-samples.ts'

export interface MaskingParameters {
  rounds: number
}

/** Microseconds of the processor for one text. */
export interface MaskingTimes {
  ours: number[]
  native: number[]
}

export interface MaskingResult {
  /** By the length of the text. */
  times: Record<string, MaskingTimes>
  /** The median of five runs on hostile texts of `hostileLength`, in microseconds. */
  bad: { pattern: string; time: number }[]
  hostileLength: number
}

const HOSTILE_LENGTH = 5_000
/** About as many characters go through in each round, whatever the length of the texts. */
const CHARACTERS = 200_000

const { rounds } = await parameters<MaskingParameters>()
const mask = await createMask(REALISTIC_RULES)
const expressions = (REALISTIC_RULES.patterns ?? []).map(
  ({ javascriptRegularExpression = '' }) => new RegExp(javascriptRegularExpression ?? '', 'g'),
)
const maskNatively = (text: string) =>
  expressions.reduce((masked, expression) => masked.replace(expression, match => '*'.repeat(match.length)), text)

let produced = 0
const texts: Record<string, readonly string[]> = { ...MESSAGES, 10000: [longText(10_000)], 100000: [longText(100_000)] }
const times: Record<string, MaskingTimes> = {}
for (const [length, samples] of Object.entries(texts)) {
  const found: MaskingTimes = { ours: [], native: [] }
  const turns = Math.ceil(CHARACTERS / Number(length) / samples.length)
  for (let round = -2; round < rounds; round++)
    for (const [side, maskText] of [['ours', mask] as const, ['native', maskNatively] as const]) {
      const time = measure(() => {
        for (let turn = 0; turn < turns; turn++) for (const text of samples) produced += maskText(text).length
      })
      if (round >= 0) found[side].push(time / turns / samples.length)
    }
  times[length] = found
}
const bad: MaskingResult['bad'] = []
for (const { pattern, hostile } of BAD_PATTERNS) {
  const mask = await createMask({ patterns: [{ javascriptRegularExpression: pattern }] })
  const text = hostile(HOSTILE_LENGTH)
  const runs = Array.from({ length: 5 }, () => measure(() => (produced += mask(text).length)))
  bad.push({ pattern, time: median(runs) })
}
if (produced === 0) throw new Error('Nothing was done.')
await finish({ times, bad, hostileLength: HOSTILE_LENGTH } satisfies MaskingResult)

function measure(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** The masking of an agent with these rules. */
async function createMask(rules: MaskingPatterns): Promise<(text: string) => string> {
  // The responses are those of another service each time.
  const agent = makeAgent(MEMORY_ENDPOINT, { cache: { enabled: false } }, memoryEnvironment(rules))
  let isUnavailable = false
  for (const name of ['maskingUnavailable', 'maskingPatternsRefused'] as const)
    agent.on(name, () => {
      isUnavailable = true
    })
  await agent.initialize()
  if (isUnavailable) throw new Error('The agent does not mask with these rules.')
  return text => agent.maskContent(text)
}
