import { ChildProgram } from '@aiagent/test-support/child-program'
import { bundle } from '../bundle.ts'
import type { FuzzResult } from './fuzz-result.ts'
import type { FuzzJob } from './fuzz-worker.ts'

/**
 * Fuzzes in a separate process.
 *
 * @throws {Error} when the process ends without a result: an endless loop or a lack of memory
 */
export async function runFuzz(job: FuzzJob, limitMs: number): Promise<FuzzResult> {
  const execArgv = ['--enable-source-maps', '--expose-gc', '--max-old-space-size=512']
  const file = await bundle('./fuzz/fuzz-worker.ts')
  return new ChildProgram<FuzzResult>(file, job, { execArgv, silenceMs: limitMs }).result()
}
