import { readCommandLine, wholeNumber } from '../../../scripts/command-line.ts'
import type { Transport } from './messages.ts'

/** What `npm run faults` is asked to do. */
export interface Options {
  /** The first seed; the others follow it. */
  readonly seed: number
  /** Runs in process. */
  readonly runs: number
  /** Runs through the TCP proxy. */
  readonly proxiedRuns: number
  /** Runs of several tabs, in process. */
  readonly tabRuns: number
  /** Indexes of the steps that are left of the schedule of a single run. */
  readonly steps: readonly number[] | undefined
  readonly workers: number
  /** Whether the planted bugs are looked for, instead of a campaign. */
  readonly planted: boolean
  /** Whether the two figures are measured, instead of a campaign. */
  readonly figures: boolean
  /** The Markdown file whose table is replaced by the result. */
  readonly document: string | undefined
  /** No further run starts after so many seconds. */
  readonly maxSeconds: number
}

const COMMAND = {
  name: 'faults',
  about:
    'Plays seeded schedules of calls and faults with a client, and checks each against the rules. See docs/faults.md.',
  options: {
    seed: { type: 'string', default: '1', help: 'first seed; the others follow it' },
    runs: { type: 'string', help: 'runs in process. Default: 100; 1 with --steps; 400 for each bug with --planted' },
    'proxied-runs': { type: 'string', default: '0', help: 'further runs, through a TCP proxy' },
    'tab-runs': { type: 'string', default: '0', help: 'further runs, of several tabs in process' },
    proxied: { type: 'boolean', help: 'all runs go through the TCP proxy' },
    steps: { type: 'string', value: 'N,N,…', help: 'keeps only these steps of the schedule' },
    workers: { type: 'string', default: '1', help: 'processes that play the runs' },
    planted: { type: 'boolean', help: 'looks for the planted bugs instead' },
    figures: { type: 'boolean', help: 'measures what connections lose instead' },
    document: { type: 'string', value: 'FILE', help: 'writes the table into this document' },
    'max-seconds': { type: 'string', help: 'starts no further run after this time' },
  },
} as const

/** The options of the command line. Ends the process for `--help`, and for what cannot be understood. */
export function readOptions(): Options {
  return readCommandLine(COMMAND, ({ values }) => {
    const runs = wholeNumber('runs', values.runs ?? (values.planted ? '400' : values.steps === undefined ? '100' : '1'))
    const steps = values.steps?.split(',').map(each => wholeNumber('steps', each))
    const seconds = values['max-seconds']
    return {
      seed: wholeNumber('seed', values.seed),
      runs: values.proxied ? 0 : runs,
      proxiedRuns: values.proxied ? runs : wholeNumber('proxied-runs', values['proxied-runs']),
      tabRuns: wholeNumber('tab-runs', values['tab-runs']),
      steps,
      workers: wholeNumber('workers', values.workers, 1),
      planted: values.planted,
      figures: values.figures,
      document: values.document,
      maxSeconds: seconds === undefined ? Number.POSITIVE_INFINITY : wholeNumber('max-seconds', seconds),
    }
  })
}

/** The command that repeats a run. */
export function repeatCommand(seed: number, transport: Transport, steps?: readonly number[]): string {
  return `npm run faults -- --seed ${seed} ${ONE_RUN[transport]}${steps ? ` --steps ${steps.join(',')}` : ''}`
}

const ONE_RUN: Readonly<Record<Transport, string>> = {
  'in-process': '--runs 1',
  proxied: '--runs 1 --proxied',
  tabs: '--runs 0 --tab-runs 1',
}
