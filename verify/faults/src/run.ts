// The fault campaign: `npm run faults -- --seed S --runs N [--proxied] [--workers n]`. See docs/faults.md.
import { bundle } from './bundle.ts'
import type { RunResult } from './checks/violation.ts'
import { measureFigures } from './figures.ts'
import type { Report, Transport } from './messages.ts'
import { type Options, readOptions, repeatCommand } from './options.ts'
import { describeFinding, findPlantedBugs } from './planted/find-bugs.ts'
import { runJob, split, WorkerError } from './pool.ts'
import { markdownTable, Tally, writeTable } from './table.ts'

const options = readOptions()
const work = options.planted ? planted : options.figures ? figures : campaign
process.exitCode = (await work(options)) ? 0 : 1

/** Measures the two figures and prints them. Returns whether no accepted message was lost without a word. */
async function figures({ document }: Options): Promise<boolean> {
  const rows = await measureFigures()
  const table = markdownTable(rows)
  console.log(table)
  if (document) writeTable(document, 'figures', table)
  return rows.every(row => row['Lost without a word'] === 0)
}

/** Looks for the planted bugs. Returns whether all were found. */
async function planted({ seed, runs }: Options): Promise<boolean> {
  const findings = await findPlantedBugs(seed, runs)
  for (const finding of findings) console.log(describeFinding(finding))
  return findings.every(({ found }) => found !== undefined)
}

/** Plays the runs and prints the table. Returns whether no run failed. */
async function campaign(options: Options): Promise<boolean> {
  const program = await bundle('./worker.ts')
  const rows: Record<string, string | number>[] = []
  const notes: string[] = []
  let hasPassed = true
  const parts = [
    ['in-process', options.runs],
    ['proxied', options.proxiedRuns],
    ['tabs', options.tabRuns],
  ] as const
  for (const [transport, runs] of parts) {
    if (runs === 0) continue
    const start = performance.now()
    const tally = await playAll(program, transport, runs, options)
    const seconds = (performance.now() - start) / 1000
    hasPassed &&= tally.failedRuns === 0 && tally.violations.size === 0
    rows.push(tally.row(transport))
    notes.push(`${transport} ${options.seed} to ${options.seed + runs - 1} in ${Math.ceil(seconds / 60)} minutes`)
    console.log(
      `${transport}: ${tally.runs} runs in ${seconds.toFixed(1)} s (${(tally.runs / seconds).toFixed(1)} per second), ` +
        `${tally.failedRuns} failed.`,
    )
  }
  const table = markdownTable(rows)
  console.log(`\n${table}`)
  if (options.document) writeTable(options.document, 'campaign', `Seeds: ${notes.join(', ')}.\n\n${table}`)
  return hasPassed
}

async function playAll(
  program: string,
  transport: Transport,
  runs: number,
  { seed, steps, workers, maxSeconds }: Options,
): Promise<Tally> {
  const tally = new Tally()
  const seeds = Array.from({ length: runs }, (_, index) => seed + index)
  const deadline = Date.now() + maxSeconds * 1000
  const onReport = (report: Report) => {
    if (report.kind === 'result') {
      tally.add(report.result)
      if (report.result.violations.length > 0) printFailure(report.result, transport, steps)
    } else if (report.kind === 'shortened') {
      console.log(`Seed ${report.seed}, shortened: ${repeatCommand(report.seed, transport, report.steps)}`)
      console.log(report.text)
    } else if (report.kind === 'unassigned') {
      for (const { kind, text } of report.violations) {
        tally.violations.set(kind, (tally.violations.get(kind) ?? 0) + 1)
        console.log(`Not assigned to a run: ${kind}: ${text}`)
      }
    }
  }
  await Promise.all(
    split(seeds, workers).map(part =>
      runJob(
        program,
        {
          transport,
          seeds: part,
          steps,
          shrinks: true,
          deadline: Number.isFinite(deadline) ? deadline : Number.MAX_SAFE_INTEGER,
        },
        onReport,
      ).catch((error: unknown) => {
        // The other workers go on, and the table is written.
        if (!(error instanceof WorkerError)) throw error
        tally.violations.set('hung', (tally.violations.get('hung') ?? 0) + 1)
        console.log(`\nFAILED: ${error.message} Its runs in progress:`)
        for (const run of error.seeds) console.log(`  ${repeatCommand(run, transport, steps)}`)
      }),
    ),
  )
  return tally
}

function printFailure({ seed, violations }: RunResult, transport: Transport, steps?: readonly number[]): void {
  console.log(`\nFAILED: ${repeatCommand(seed, transport, steps)}`)
  for (const { kind, text } of violations) console.log(`  ${kind}: ${text}`)
}
