import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './tools.ts'

/** Figures of one row by column, such as `{ gzip: 61.73, brotli: 54.02 }`. */
export type Figures = Readonly<Record<string, number>>

/** Rows by name. A row without figures could not be measured on this machine; its ceilings stay as they are. */
export type Rows = Readonly<Record<string, Figures | undefined>>

/** The highest figures that are allowed, by row and column. */
export type Ceilings = Readonly<Record<string, Figures>>

/** What a comparison found. */
export interface Comparison {
  /** The table as text, a line for each row. */
  readonly lines: readonly string[]
  /** What must not be, one sentence each; empty if everything fits. */
  readonly failures: readonly string[]
  /** The ceilings lowered to what was measured, with those that were missing. */
  readonly lowered: Ceilings
}

/** Decimal places of the ceilings of a column: kilobytes have one, megabytes two, counts none. */
const DECIMALS: Readonly<Record<string, number>> = { gzip: 1, brotli: 1, MB: 2 }

/** Compares figures with their ceilings. A ceiling is a measured figure, rounded up, and is never raised here. */
export function compare(rows: Rows, ceilings: Ceilings): Comparison {
  const failures = Object.keys(ceilings)
    .filter(name => !(name in rows))
    .map(name => `There are ceilings for "${name}", which is not measured.`)
  const lowered: Record<string, Figures> = {}
  const lines = Object.entries(rows).map(([name, figures]) => {
    const limits = ceilings[name] ?? {}
    if (figures === undefined) lowered[name] = limits
    const cells = Object.entries(figures ?? {}).map(([column, figure]) => {
      const scale = 10 ** (DECIMALS[column] ?? 0)
      const limit = limits[column] ?? Number.POSITIVE_INFINITY
      lowered[name] = { ...lowered[name], [column]: Math.min(limit, Math.ceil(figure * scale - 1e-6) / scale) }
      if (limits[column] === undefined) failures.push(`${name} has no ceiling for ${column}.`)
      if (figure > limit) failures.push(`${name}: ${column} is ${figure}, above the ceiling of ${limit}.`)
      return `${column} ${figure.toFixed(Math.log10(scale))} of ${limits[column] ?? '?'}`.padEnd(24)
    })
    return `${name.padEnd(30)} ${figures ? cells.join(' ') : 'not measured'}`.trimEnd()
  })
  return { lines, failures, lowered }
}

/**
 * Prints figures beside the ceilings of their section in `scripts/ceilings.json`, and fails the process if one is exceeded.
 *
 * @param write lowers the ceilings that are above what was measured, and adds missing ones
 */
export function applyRatchet(section: 'size' | 'breadth', rows: Rows, write: boolean): void {
  const file = join(ROOT, 'scripts', 'ceilings.json')
  const all = JSON.parse(readFileSync(file, 'utf8')) as Record<typeof section, Ceilings>
  const before = compare(rows, all[section])
  const json = JSON.stringify({ ...all, [section]: before.lowered }, null, 2)
  // A row a line.
  const short = json.replace(/\{([^{}]+)\}/g, (_, row: string) => `{ ${row.trim().replace(/\s+/g, ' ')} }`)
  if (write) writeFileSync(file, `${short}\n`)
  const { lines, failures } = write ? compare(rows, before.lowered) : before
  for (const line of lines) console.log(line)
  if (failures.length === 0) return
  const advice = `Reduce it, or raise its ceiling in scripts/ceilings.json, with the reason in the commit message.`
  console.error([...failures, advice].join('\n'))
  process.exitCode = 1
}
