import { JsonReporter, type TestModule, type TestRunEndReason, type Vitest } from 'vitest/node'
import { isWholeRun } from './whole-run.ts'

/**
 * Writes the results of all tests as JSON to `outputFile`.
 *
 * A partial or interrupted run writes nothing, so that the report of the last whole run stays.
 */
export default class WholeRunReporter extends JsonReporter {
  #vitest: Vitest | undefined

  override onInit(vitest: Vitest): void {
    this.#vitest = vitest
    super.onInit(vitest)
  }

  override async onTestRunEnd(
    modules: readonly TestModule[],
    _unhandledErrors?: readonly unknown[],
    reason?: TestRunEndReason,
  ): Promise<void> {
    if (reason === 'interrupted' || !this.#vitest || !(await isWholeRun(this.#vitest, modules))) return
    await super.onTestRunEnd(modules)
  }
}
