import type { Rule } from '../../verify/conformance/rules.ts'
import { PAGES } from './whole-run.ts'

/** One test of a run, as far as the rules are concerned. */
export interface RanTest {
  readonly title: string
  /** The name of its vitest project. */
  readonly project: string
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending'
  /** Whether the test is declared with `it.fails`: it passes as long as the rule is broken. */
  readonly fails: boolean
}

/** What a whole test run says about the rules. */
export interface RuleCoverage {
  /** Ids of rules whose tests ran and passed. */
  readonly proven: readonly string[]
  /** Ids of rules whose tests were skipped. */
  readonly skipped: readonly string[]
  /** Ids of rules that only expected failures name: known to be broken. */
  readonly expectedFailures: readonly string[]
  /** Ids of rules without a test that passed. */
  readonly unproven: readonly string[]
  /** Ids in titles that name no rule. */
  readonly unknown: readonly string[]
}

/**
 * Judges each rule by the tests with its id in their title, `[FLOW-02] …`, that have run.
 *
 * A rule with `proof: 'scenario'` needs a test of the conformance project that passed, one with `proof: 'page'` a test of a whole
 * page.
 *
 * @param rules every rule that a title may name
 * @param judged the rules to judge, if not all
 */
export function judgeRules(
  rules: readonly Rule[],
  tests: readonly RanTest[],
  judged: readonly Rule[] = rules,
): RuleCoverage {
  const testsById = new Map<string, RanTest[]>(rules.map(({ id }) => [id, []]))
  const unknown = new Set<string>()
  for (const test of tests) {
    for (const id of idsIn(test.title)) {
      const named = testsById.get(id)
      if (named) named.push(test)
      else unknown.add(id)
    }
  }
  const verdicts = judged.map(({ id, proof }) => ({ id, verdict: judge(proof, testsById.get(id) ?? []) }))
  const idsOf = (wanted: Verdict) => verdicts.filter(({ verdict }) => verdict === wanted).map(({ id }) => id)
  return {
    proven: idsOf('proven'),
    skipped: idsOf('skipped'),
    expectedFailures: idsOf('expected failure'),
    unproven: idsOf('unproven'),
    unknown: [...unknown],
  }
}

/** The project that must prove a rule, where not any may. */
const PROJECTS: Readonly<Record<Rule['proof'], string | undefined>> = {
  scenario: 'conformance',
  page: PAGES,
  test: undefined,
}

type Verdict = 'proven' | 'skipped' | 'expected failure' | 'unproven'

function judge(proof: Rule['proof'], tests: readonly RanTest[]): Verdict {
  const only = PROJECTS[proof]
  const fit = tests.filter(({ project }) => only === undefined || project === only)
  if (fit.some(({ state, fails }) => state === 'passed' && !fails)) return 'proven'
  if (fit.some(({ state }) => state === 'skipped')) return 'skipped'
  return fit.some(({ fails }) => fails) ? 'expected failure' : 'unproven'
}

function idsIn(title: string): string[] {
  return [...title.matchAll(/\[([A-Z]+-\d+)\]/g)].flatMap(([, id]) => id ?? [])
}

/** `CFG-01 04 05, FLOW-02`: ids by area. */
export function listIds(ids: readonly string[]): string {
  const areas = new Map<string, string[]>()
  for (const id of ids) {
    const [area = '', number = ''] = id.split('-')
    areas.set(area, [...(areas.get(area) ?? []), number])
  }
  return [...areas].map(([area, numbers]) => `${area}-${numbers.sort().join(' ')}`).join(', ')
}
