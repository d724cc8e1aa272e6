import { fork } from 'node:child_process'
import type { Job, Report } from './messages.ts'

/** A run that takes longer than this in real time never ends, in milliseconds. */
const SILENCE_LIMIT_MS = 120_000

/** A worker that ended, or was ended, before its job. */
export class WorkerError extends Error {
  /** Seeds of the runs that were in progress. */
  readonly seeds: readonly number[]

  constructor(message: string, seeds: Iterable<number>) {
    super(message)
    this.seeds = [...seeds]
  }
}

/**
 * Runs a job in a process.
 *
 * @param program path of the bundled worker
 * @throws {WorkerError} when the process ends before its job does, or reports nothing for two minutes
 */
export function runJob(program: string, job: Job, onReport: (report: Report) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(program, [], { execArgv: ['--enable-source-maps'] })
    let timer: NodeJS.Timeout | undefined
    let isDone = false
    const playing = new Set<number>()
    const watch = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        child.kill()
        reject(new WorkerError(`A worker has reported nothing for ${SILENCE_LIMIT_MS / 1000} s.`, playing))
      }, SILENCE_LIMIT_MS)
    }
    watch()
    child.on('message', (report: Report) => {
      watch()
      if (report.kind === 'started') playing.add(report.seed)
      if (report.kind === 'result') playing.delete(report.result.seed)
      if (report.kind === 'done') isDone = true
      onReport(report)
    })
    child.once('error', reject)
    child.once('exit', code => {
      clearTimeout(timer)
      if (isDone) resolve()
      else reject(new WorkerError(`A worker ended with code ${code}.`, playing))
    })
    child.send(job)
  })
}

/** Splits seeds into as many parts as there are workers, alternating. */
export function split(seeds: readonly number[], workers: number): number[][] {
  return Array.from({ length: workers }, (_, worker) => seeds.filter((_, at) => at % workers === worker)).filter(
    part => part.length > 0,
  )
}
