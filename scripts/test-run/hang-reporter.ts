import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

/** Longer than any test may take. */
const SILENCE_LIMIT_MS = 300_000

/**
 * Ends a run in which a file reports nothing for so long that even the time limits of its tests do not fire: an endless chain of
 * resolved promises, or an endless loop, keeps every timer of its worker from firing. The timers of this process still fire.
 */
export default class HangReporter implements Reporter {
  /** For each file that has begun: the file of a project may be more than one module object. */
  readonly #timers = new Map<string, NodeJS.Timeout>()
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestModuleQueued(module: TestModule): void {
    this.#watch(module)
  }

  onTestModuleStart(module: TestModule): void {
    this.#watch(module)
  }

  onTestCaseReady({ module }: TestCase): void {
    this.#watch(module)
  }

  onTestCaseResult({ module }: TestCase): void {
    this.#watch(module)
  }

  onTestModuleEnd(module: TestModule): void {
    clearTimeout(this.#timers.get(module.id))
    this.#timers.delete(module.id)
  }

  onTestRunEnd(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  #watch({ id, moduleId }: TestModule): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.set(
      id,
      setTimeout(() => this.#end(moduleId), SILENCE_LIMIT_MS),
    )
  }

  #end(moduleId: string): void {
    const vitest = this.#vitest as Vitest
    const file = relative(vitest.config.root, moduleId)
    process.exitCode = 1
    console.error(
      `FAILED: ${file} hangs: it has reported nothing for ${SILENCE_LIMIT_MS / 1000} seconds. The run ends here.`,
    )
    // The first call waits for the workers, the second one ends those that do not answer.
    for (let calls = 0; calls < 2; calls++) vitest.cancelCurrentRun('test-failure').catch(() => {})
  }
}
