import { bundle } from '../bundle.ts'
import type { RunResult } from '../checks/violation.ts'
import type { Transport } from '../messages.ts'
import { repeatCommand } from '../options.ts'
import { runJob } from '../pool.ts'
import { PLANTED_BUGS, type PlantedBug } from './bugs.ts'

/** How a planted bug was found. */
export interface Finding {
  readonly bug: PlantedBug
  /** The first run that showed it; undefined if none did. */
  readonly found: RunResult | undefined
  /** Number of runs until then. */
  readonly runs: number
}

/**
 * Plants each bug in turn and plays runs in process, of one tab or of several, until one shows it.
 *
 * @param seed the first seed
 * @param runs number of runs after which a bug counts as not found
 * @throws {Error} when the text that a bug replaces is not in the client any more
 */
export async function findPlantedBugs(seed: number, runs: number): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const bug of PLANTED_BUGS) findings.push(await findBug(bug, seed, runs))
  return findings
}

async function findBug(bug: PlantedBug, seed: number, runs: number): Promise<Finding> {
  const program = await bundle('./worker.ts', [bug])
  const seeds = Array.from({ length: runs }, (_, index) => seed + index)
  let played = 0
  let found: RunResult | undefined
  const job = { seeds, shrinks: false, deadline: Number.MAX_SAFE_INTEGER, untilFailure: bug.shownBy }
  await runJob(program, { ...job, transport: transportOf(bug) }, report => {
    if (report.kind !== 'result') return
    played++
    if (isShown(bug, report.result)) found ??= report.result
  })
  return { bug, found, runs: played }
}

const transportOf = ({ transport }: PlantedBug): Transport => transport ?? 'in-process'

const isShown = ({ shownBy }: PlantedBug, { violations }: RunResult) =>
  violations.some(({ kind }) => shownBy.includes(kind))

/** Lines about a bug. */
export function describeFinding({ bug, found, runs }: Finding): string {
  if (!found) return `NOT FOUND in ${runs} runs: ${bug.title}`
  const violation = found.violations.find(({ kind }) => bug.shownBy.includes(kind))
  return [
    `Found in run ${runs}: ${bug.title}`,
    `  ${violation?.kind}: ${violation?.text.split('\n')[0]}`,
    `  The same run without the bug: ${repeatCommand(found.seed, transportOf(bug))}`,
  ].join('\n')
}
