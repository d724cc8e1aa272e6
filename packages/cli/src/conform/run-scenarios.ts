import { explainFailure } from '../failure.ts'
import { oneLine } from '../output.ts'
import { Bench, type BenchOptions, NotApplicable } from './bench.ts'
import { EMULATOR_RULES, type Need } from './rules.ts'
import type { ConformScenario } from './scenarios.ts'

export type ConformOutcome = 'passed' | 'failed' | 'skipped'

/** The result of one scenario. */
export interface ConformResult {
  readonly title: string
  readonly rules: readonly string[]
  readonly outcome: ConformOutcome
  /** Why it failed or was skipped. */
  readonly reason?: string
  readonly ms: number
}

/** The output of `aiagent conform --json`. */
export interface ConformReport {
  readonly version: 1
  readonly endpoint: string
  readonly agent: string
  readonly scenarios: readonly ConformResult[]
  /** The worst result of each rule. */
  readonly rules: Readonly<Record<string, ConformOutcome>>
  /** Rules that a deployment cannot be asked, with the reason. */
  readonly needEmulator: Readonly<Record<string, Need>>
}

/**
 * Runs scenarios against a deployment, one after the other.
 *
 * @param onResult called with each result
 * @throws the reason of the signal when it is aborted
 */
export async function runScenarios(
  scenarios: readonly ConformScenario[],
  options: BenchOptions,
  signal: AbortSignal,
  onResult: (result: ConformResult) => void = () => {},
): Promise<ConformReport> {
  const results: ConformResult[] = []
  for (const scenario of scenarios) {
    signal.throwIfAborted()
    const result = await runScenario(scenario, options)
    results.push(result)
    onResult(result)
  }
  const { endpoint, agentId } = options
  const needEmulator = Object.fromEntries(EMULATOR_RULES)
  return { version: 1, endpoint, agent: agentId, scenarios: results, rules: worstByRule(results), needEmulator }
}

async function runScenario({ title, rules, run }: ConformScenario, options: BenchOptions): Promise<ConformResult> {
  const bench = new Bench(options)
  const start = performance.now()
  const end = (outcome: ConformOutcome, reason?: string): ConformResult => {
    const ms = Math.round(performance.now() - start)
    return { title, rules, outcome, ...(reason !== undefined && { reason }), ms }
  }
  try {
    await withLimit(run(bench), 3 * options.timeoutMs)
    return end('passed')
  } catch (error) {
    if (error instanceof NotApplicable) return end('skipped', error.message)
    const { endpoint, agentId: agent } = options
    return end('failed', oneLine(explainFailure(error, { endpoint, agent })))
  } finally {
    await bench.close()
  }
}

async function withLimit(work: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The scenario took more than ${limitMs / 1000} s.`)), limitMs)
  })
  try {
    await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

const SEVERITY: readonly ConformOutcome[] = ['skipped', 'passed', 'failed']

function worstByRule(results: readonly ConformResult[]): Record<string, ConformOutcome> {
  const rules: Record<string, ConformOutcome> = {}
  for (const { rules: ids, outcome } of results)
    for (const id of ids) {
      const known = rules[id]
      if (known === undefined || SEVERITY.indexOf(outcome) > SEVERITY.indexOf(known)) rules[id] = outcome
    }
  return rules
}
