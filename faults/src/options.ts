import { parseArgs } from 'node:util'

/** What `npm run faults` is asked to do. */
export interface Options {
  /** The first seed; the others follow it. */
  readonly seed: number
  /** Runs in process. */
  readonly runs: number
  /** Runs through the TCP proxy. */
  readonly proxiedRuns: number
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

/** @throws {Error} for an unknown option, or a value that is not a count */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      runs: { type: 'string' },
      'proxied-runs': { type: 'string', default: '0' },
      proxied: { type: 'boolean', default: false },
      steps: { type: 'string' },
      workers: { type: 'string', default: '1' },
      planted: { type: 'boolean', default: false },
      figures: { type: 'boolean', default: false },
      document: { type: 'string' },
      'max-seconds': { type: 'string' },
    },
  })
  const runs = count('runs', values.runs ?? (values.planted ? '400' : values.steps === undefined ? '100' : '1'))
  return {
    seed: count('seed', values.seed),
    runs: values.proxied ? 0 : runs,
    proxiedRuns: values.proxied ? runs : count('proxied-runs', values['proxied-runs']),
    steps:
      values.steps === undefined
        ? undefined
        : values.steps
            .split(',')
            .filter(Boolean)
            .map(each => count('steps', each)),
    workers: Math.max(1, count('workers', values.workers)),
    planted: values.planted,
    figures: values.figures,
    document: values.document,
    maxSeconds:
      values['max-seconds'] === undefined ? Number.POSITIVE_INFINITY : count('max-seconds', values['max-seconds']),
  }
}

/** The command that repeats a run. */
export function repeatCommand(seed: number, isProxied: boolean, steps?: readonly number[]): string {
  return `npm run faults -- --seed ${seed} --runs 1${isProxied ? ' --proxied' : ''}${steps ? ` --steps ${steps.join(',')}` : ''}`
}

function count(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} must be a whole number, not "${text}".`)
  return Number(text)
}
