import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'

/** The set variable makes a skipped test a failure. CI sets it, where everything that tests need is installed. */
const REQUIRE_ALL_TESTS = 'REQUIRE_ALL_TESTS'

/**
 * Ends the output of a test run with `N passed, N failed`, and `, N skipped` if any.
 *
 * Failed counts tests, suites and files that could not run, and errors outside tests; with `REQUIRE_ALL_TESTS` also
 * skipped tests. Lines before it name the tests that were skipped because the machine lacks something. Everything is
 * written when the process exits, after every other reporter; a run that did not end counts as one failure.
 */
export default class ClosingLineReporter implements Reporter {
  #lines = [closingLine({ passed: 0, failed: 1, skipped: 0 })]

  onInit(): void {
    process.once('exit', () => process.stdout.write(`${this.#lines.join('\n')}\n`))
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = countResults(modules, unhandledErrors)
    this.#lines = skippedLines(modules)
    if (process.env[REQUIRE_ALL_TESTS] && counts.skipped > 0) {
      this.#lines.push(`${REQUIRE_ALL_TESTS} is set: ${counts.skipped} skipped tests count as failed.`)
      counts.failed += counts.skipped
      process.exitCode = 1
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
