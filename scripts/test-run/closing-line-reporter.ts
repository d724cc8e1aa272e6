import type { Reporter, TestModule } from 'vitest/node'

/**
 * Ends the output of a test run with `N passed, N failed`, and `, N skipped` where there are.
 *
 * Failed counts tests, suites and files that could not run, and errors that belong to no test. The line is written when
 * the process exits, so that it comes after every other reporter and the coverage table; a run that never came to its
 * end counts as one failure.
 */
export default class ClosingLineReporter implements Reporter {
  #line = closingLine({ passed: 0, failed: 1, skipped: 0 })

  onInit(): void {
    process.once('exit', () => process.stdout.write(`${this.#line}\n`))
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.#line = closingLine(countResults(modules, unhandledErrors))
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

function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
