/** How a figure is judged: `at least` or `at most` a number, in the figure's own unit. */
export interface Goal {
  readonly kind: 'at least' | 'at most'
  readonly value: number
}

/** One measured number. */
export interface Figure {
  /** Name of the measurement that brought it, as the command takes it. */
  readonly measure: string
  /** What it says, for people. */
  readonly name: string
  readonly value: number
  /** Such as `×`, `ms`, `kB`; empty for a plain count. */
  readonly unit: string
  /** Lower and upper quartile of the runs, where there were several. */
  readonly spread?: readonly [number, number]
  readonly goal?: Goal
  /** Whether the goal is reached; absent without a goal. */
  readonly met?: boolean
  /** What the number was made of, such as the plain times behind a ratio. */
  readonly note?: string
}

/** What a measurement says of one number. */
export type Finding = Omit<Figure, 'measure' | 'met'>

/** Judges a finding. */
export function figureOf(measure: string, finding: Finding): Figure {
  const { goal, value } = finding
  const met = goal && (goal.kind === 'at least' ? value >= goal.value : value <= goal.value)
  return { measure, ...finding, ...(met !== undefined && { met }) }
}

export const atLeast = (value: number): Goal => ({ kind: 'at least', value })
export const atMost = (value: number): Goal => ({ kind: 'at most', value })

/** The value below which the given part of the values lies; between two of them in proportion. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const place = (sorted.length - 1) * part
  const low = sorted[Math.floor(place)]
  const high = sorted[Math.ceil(place)]
  if (low === undefined || high === undefined) throw new Error('There is no value to summarise.')
  return low + (high - low) * (place - Math.floor(place))
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Median and quartiles of several runs. */
export function summary(values: readonly number[]): { value: number; spread: readonly [number, number] } {
  return { value: median(values), spread: [quantile(values, 0.25), quantile(values, 0.75)] }
}
