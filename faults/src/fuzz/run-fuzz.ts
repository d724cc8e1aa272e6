import { fork } from 'node:child_process'
import { bundle } from '../bundle.ts'
import type { FuzzResult } from './fuzz-result.ts'
import type { FuzzJob } from './fuzz-worker.ts'

/**
 * Fuzzes in a separate process.
 *
 * @throws {Error} when the process ends without a result: an endless loop or a lack of memory
 */
export async function runFuzz(job: FuzzJob, limitMs: number): Promise<FuzzResult> {
  const program = await bundle('./fuzz/fuzz-worker.ts')
  return new Promise((resolve, reject) => {
    const child = fork(program, [], { execArgv: ['--enable-source-maps', '--expose-gc', '--max-old-space-size=512'] })
    const timer = setTimeout(() => {
      child.kill()
      reject(new Error(`The fuzzing of ${job.kind} did not end within ${limitMs / 1000} s.`))
    }, limitMs)
    child.once('message', result => resolve(result as FuzzResult))
    child.once('error', reject)
    child.once('exit', code => {
      clearTimeout(timer)
      reject(new Error(`The process ended with code ${code}.`))
    })
    child.send(job)
  })
}
