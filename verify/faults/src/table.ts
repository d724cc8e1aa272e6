import { readFileSync, writeFileSync } from 'node:fs'
import type { RunResult } from './checks/violation.ts'

/** The sums of a campaign. */
export class Tally {
  runs = 0
  failedRuns = 0
  readonly counts = { messages: 0, arrived: 0, acknowledged: 0, failed: 0, unknown: 0, recovered: 0 }
  readonly violations = new Map<string, number>()

  add({ counts, violations }: RunResult): void {
    this.runs++
    if (violations.length > 0) this.failedRuns++
    for (const name of Object.keys(this.counts) as (keyof typeof counts)[]) this.counts[name] += counts[name]
    for (const { kind } of violations) this.violations.set(kind, (this.violations.get(kind) ?? 0) + 1)
  }

  /** The row of the table. */
  row(name: string): Record<string, string | number> {
    const { counts, violations } = this
    const sum = (...kinds: string[]) => kinds.reduce((total, kind) => total + (violations.get(kind) ?? 0), 0)
    return {
      Transport: name,
      Runs: this.runs,
      Messages: counts.messages,
      Arrived: counts.arrived,
      Acknowledged: counts.acknowledged,
      'Reported as failed': counts.failed,
      Unknown: counts.unknown,
      'Recovered inbound': counts.recovered,
      Lost: sum('lost'),
      Duplicated: sum('duplicated'),
      Reordered: sum('reordered'),
      'Untrue report': sum('untrue report'),
      'Transcript differs': sum('transcript'),
      Hung: sum('hung', 'stuck'),
      Leaked: sum('leaked'),
      Unhandled: sum('unhandled'),
      'User data': sum('user data'),
    }
  }
}

/** Rows as a Markdown table. */
export function markdownTable(rows: readonly Record<string, string | number>[]): string {
  const names = Object.keys(rows[0] ?? {})
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  return [line(names), line(names.map(() => '---')), ...rows.map(row => line(names.map(name => row[name])))].join('\n')
}

/**
 * Replaces a table in a document: everything between `<!-- name -->` and `<!-- /name -->`.
 *
 * @throws {Error} when the document has no such markers
 */
export function writeTable(file: string, name: string, table: string): void {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const text = readFileSync(file, 'utf8')
  const [before, rest] = text.split(start)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`${file} has no table ${start} … ${end}.`)
  writeFileSync(file, `${before}${start}\n${table}\n${end}${after}`)
}
