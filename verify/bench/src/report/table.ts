import type { Figure, Goal } from '../figure.ts'

const HEAD = ['Figure', 'Measured', 'Quartiles', 'Goal', 'Met', 'Made of'] as const

/** One row per figure: name, value, spread, goal, whether it is met, and what it was made of. */
function rowsOf(figures: readonly Figure[]): string[][] {
  return figures.map(({ name, value, unit, spread, goal, met, note }) => [
    name,
    `${number(value)} ${unit}`.trim(),
    spread ? `${number(spread[0])} to ${number(spread[1])}` : '',
    goal ? words(goal) : '',
    met === undefined ? '' : met ? 'yes' : 'no',
    note ?? '',
  ])
}

/** The figures for a terminal. */
export function printedTable(figures: readonly Figure[]): string {
  const rows = [[...HEAD], ...rowsOf(figures)]
  const widths = HEAD.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  return rows
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** The figures for a document. */
export function markdownTable(figures: readonly Figure[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(HEAD), line(HEAD.map(() => '---')), ...rowsOf(figures).map(line)].join('\n')
}

export const words = ({ kind, value }: Goal): string => `${kind} ${value}`

/** Three digits that count. */
export function number(value: number): string {
  if (Number.isInteger(value)) return String(value)
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(digits)
}
