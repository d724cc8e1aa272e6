/** One entry of size-budgets.json, in bytes. */
export interface Budget {
  /** What the size should be. Above it, the excess is printed. */
  goal?: number
  /** What the size may be at most. Raising it takes an entry in docs/decisions.md. */
  ceiling: number
  /** What is measured, and why it takes so much. */
  why: string
}

/** How a size compares with its budget. */
export interface SizeVerdict {
  fits: boolean
  /** One line for the report. */
  line: string
}

/** Compares a size with its budget: a failure above the ceiling, the excess between goal and ceiling. */
export function judgeSize(name: string, bytes: number, budget: Budget | undefined): SizeVerdict {
  const line = (verdict: string, rest: string) =>
    `${verdict.padEnd(10)} ${name.padEnd(28)} ${size(bytes).padStart(9)}${rest}`
  if (!budget) return { fits: false, line: line('NO BUDGET', '') }
  const { goal, ceiling } = budget
  const excess = goal !== undefined && bytes > goal ? `, ${size(bytes - goal)} above the goal of ${size(goal)}` : ''
  const rest = ` of ${size(ceiling)}${excess}`
  if (bytes > ceiling) return { fits: false, line: line('TOO LARGE', rest) }
  return { fits: true, line: line(excess ? 'above goal' : 'fits', rest) }
}

/** `33.50 kB` */
export function size(bytes: number): string {
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(2)} MB` : `${(bytes / 1000).toFixed(2)} kB`
}
