import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node'
import { RULES } from '../../verify/conformance/rules.ts'
import { propertySeed, repeatCommand } from './property-seed.ts'
import { judgeRules, listIds, type RanTest } from './rule-coverage.ts'
import { type Extent, extentOf } from './whole-run.ts'

/** The set variable makes a skipped test a failure. CI sets it, where everything that tests need is installed. */
const REQUIRE_ALL_TESTS = 'REQUIRE_ALL_TESTS'

/**
 * Ends the output of a test run with `N passed, N failed`, and `, N skipped` if any.
 *
 * Failed counts tests, suites and files that could not run, and errors outside tests; with `REQUIRE_ALL_TESTS` also
 * skipped tests, and with the option `rules` each rule that no test has proven: after a run of every test, of `npm test`
 * (without the rules of pages, which it names) or of `npm run pages` (only the rules of pages). Lines before it name the
 * tests that were skipped because the machine lacks something, those that passed at the second try only, the seed of property
 * tests, and the commands that repeat failed ones. Everything is written when the process exits, after every other reporter; a
 * run that did not end counts as one failure.
 */
export default class ClosingLineReporter implements Reporter {
  readonly #rules: boolean
  #vitest: Vitest | undefined
  #lines = [closingLine({ passed: 0, failed: 1, skipped: 0 })]

  constructor({ rules = false }: { rules?: boolean } = {}) {
    this.#rules = rules
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
    process.once('exit', () => process.stdout.write(`${this.#lines.join('\n')}\n`))
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): Promise<void> {
    const counts = countResults(modules, unhandledErrors)
    this.#lines = [...skippedLines(modules), ...unstableLines(modules)]
    this.#lines.push(...repeatLines(modules, this.#vitest?.config.root ?? '.'))
    this.#lines.push(`Seed of the property tests: ${propertySeed()}.`)
    if (process.env[REQUIRE_ALL_TESTS] && counts.skipped > 0) {
      this.#lines.push(`${REQUIRE_ALL_TESTS} is set: ${counts.skipped} skipped tests count as failed.`)
      counts.failed += counts.skipped
      process.exitCode = 1
    }
    const extent = this.#rules && this.#vitest ? await extentOf(this.#vitest, modules) : 'part'
    if (extent !== 'part') {
      const { lines, unproven } = ruleLines(modules, extent)
      this.#lines.push(...lines)
      counts.failed += unproven
      if (unproven > 0) process.exitCode = 1
    }
    this.#lines.push(closingLine(counts))
  }
}

interface Counts {
  passed: number
  failed: number
  skipped: number
}

function countResults(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): Counts {
  const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
  for (const module of modules) {
    counts.failed += module.errors().length
    for (const suite of module.children.allSuites()) counts.failed += suite.errors().length
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      // A test still pending when the run ended has proven nothing.
      counts[state === 'pending' ? 'failed' : state]++
    }
  }
  return counts
}

/** A line for each thing that the machine lacks, with the tests that need it. */
function skippedLines(modules: readonly TestModule[]): string[] {
  const tests = new Map<string, string[]>()
  for (const test of modules.flatMap(module => [...module.children.allTests('skipped')])) {
    const missing = missingFor(test)
    if (missing !== undefined) tests.set(missing, [...(tests.get(missing) ?? []), `"${test.fullName}"`])
  }
  return [...tests].map(([missing, titles]) => `Skipped, because ${missing}: ${titles.join(', ')}.`)
}

/** A line for each test that failed first, and passed when it was repeated. */
function unstableLines(modules: readonly TestModule[]): string[] {
  return modules.flatMap(module =>
    [...module.children.allTests('passed')].flatMap(test =>
      test.diagnostic()?.flaky
        ? [
            `UNSTABLE, it passed at the second try: "${test.fullName}" in ${module.relativeModuleId}. ${test.result().errors?.[0]?.message ?? ''}`,
          ]
        : [],
    ),
  )
}

/** What the run says about the rules that it can prove, and the number of rules and ids that count as failed. */
function ruleLines(
  modules: readonly TestModule[],
  extent: Exclude<Extent, 'part'>,
): { lines: string[]; unproven: number } {
  const tests = modules.flatMap(module =>
    [...module.children.allTests()].map(
      (test): RanTest => ({
        title: test.fullName,
        project: module.project.name,
        state: test.result().state,
        fails: test.options.fails === true,
      }),
    ),
  )
  const rules = RULES.filter(({ proof }) => extent === 'all' || (proof === 'page') === (extent === 'pages'))
  const { proven, skipped, expectedFailures, unproven, unknown } = judgeRules(RULES, tests, rules)
  const left = extent === 'without pages' ? RULES.filter(rule => !rules.includes(rule)).map(({ id }) => id) : []
  const line = (text: string, ids: readonly string[]) => (ids.length > 0 ? [`${text}: ${listIds(ids)}.`] : [])
  return {
    lines: [
      `${proven.length} of ${rules.length} rules are proven by tests that passed.`,
      ...line('Not part of this run: the rules of whole pages, which `npm run pages` proves', left),
      ...line('Rules whose tests were skipped', skipped),
      ...line('Rules that only an expected failure (it.fails) names', expectedFailures),
      ...line('FAILED: rules that no test has proven', unproven),
      ...line('FAILED: titles name rules that do not exist', unknown),
    ],
    unproven: unproven.length + unknown.length,
  }
}

/** A line for each failed property. */
function repeatLines(modules: readonly TestModule[], root: string): string[] {
  return modules.flatMap(module =>
    [...module.children.allTests('failed')].flatMap(test =>
      (test.result().errors ?? [])
        .map(({ message }) => repeatCommand(relative(root, module.moduleId), test.name, message))
        .flatMap(command => (command ? [`To repeat the failed property: ${command}`] : [])),
    ),
  )
}

/** The reason that the test or the nearest suite around it gives. */
function missingFor(test: TestCase): string | undefined {
  for (let task: TestCase | TestSuite | TestModule = test; task.type !== 'module'; task = task.parent) {
    const { missing } = task.meta()
    if (missing !== undefined) return missing
  }
  return undefined
}

function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
