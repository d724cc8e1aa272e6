/** What a run can show to be wrong. Each is a column of the campaign's table. */
export type ViolationKind =
  | 'lost'
  | 'duplicated'
  | 'reordered'
  | 'untrue report'
  | 'transcript'
  | 'hung'
  | 'stuck'
  | 'leaked'
  | 'unhandled'
  | 'user data'

/** Something that must not happen, and did. */
export interface Violation {
  readonly kind: ViolationKind
  readonly text: string
}

/** What was counted in a run. */
export interface RunCounts {
  /** Messages that `send()` accepted. */
  messages: number
  /** Messages of which the service has a record. */
  arrived: number
  /** Messages that were reported as acknowledged. */
  acknowledged: number
  /** Messages that were reported as not sent. */
  failed: number
  /** Messages whose fate was reported as unknown. */
  unknown: number
  /** Messages of the agent that were found after an outage. */
  recovered: number
}

/** The result of a run. */
export interface RunResult {
  readonly seed: number
  readonly violations: readonly Violation[]
  readonly counts: RunCounts
}

/** Lists at most a few examples. */
export function examples(items: readonly unknown[], limit = 5): string {
  const shown = items.slice(0, limit).map(String).join(', ')
  return items.length > limit ? `${shown} and ${items.length - limit} more` : shown
}
