import { ChildProgram } from '@aiagent/test-support/child-program'
import type { Job, Report } from './messages.ts'

/** A run that takes longer than this in real time never ends, in milliseconds. */
const SILENCE_LIMIT_MS = 120_000

/** A worker that ended, or was ended, before its job. */
export class WorkerError extends Error {
  /** Seeds of the runs that were in progress. */
  readonly seeds: readonly number[]

  constructor(cause: unknown, seeds: Iterable<number>) {
    super((cause as Error).message, { cause })
    this.seeds = [...seeds]
  }
}

/**
 * Runs a job in a process.
 *
 * @param file path of the bundled worker
 * @throws {WorkerError} when the process ends before its job does, or reports nothing for two minutes
 */
export async function runJob(file: string, job: Job, onReport: (report: Report) => void): Promise<void> {
  const playing = new Set<number>()
  const options = { execArgv: ['--enable-source-maps'], silenceMs: SILENCE_LIMIT_MS }
  try {
    for await (const report of new ChildProgram<Report>(file, job, options).reports()) {
      if (report.kind === 'started') playing.add(report.seed)
      if (report.kind === 'result') playing.delete(report.result.seed)
      onReport(report)
    }
  } catch (error) {
    throw new WorkerError(error, playing)
  }
}

/** Splits seeds into as many parts as there are workers, alternating. */
export function split(seeds: readonly number[], workers: number): number[][] {
  return Array.from({ length: workers }, (_, worker) => seeds.filter((_, at) => at % workers === worker)).filter(
    part => part.length > 0,
  )
}
