import type { RunResult, Violation, ViolationKind } from './checks/violation.ts'
import type { Schedule } from './schedule/step.ts'
import type { TabSchedule } from './tabs/shared-tabs.ts'

/** How the runs reach the service; `tabs` are those of several tabs, in process. */
export type Transport = (Schedule | TabSchedule)['transport']

/** What a worker is asked to play. */
export interface Job {
  readonly transport: Transport
  readonly seeds: readonly number[]
  /** Indexes of the steps that are left, for a single seed. */
  readonly steps?: readonly number[] | undefined
  /** Whether a failing run is shortened. */
  readonly shrinks: boolean
  /** Stops at the first run with a violation of one of these kinds. */
  readonly untilFailure?: readonly ViolationKind[]
  /** No run starts later, in milliseconds since the epoch. */
  readonly deadline: number
}

/** What a worker reports. */
export type Report =
  | { readonly kind: 'started'; readonly seed: number }
  | { readonly kind: 'result'; readonly result: RunResult }
  | { readonly kind: 'shortened'; readonly seed: number; readonly steps: readonly number[]; readonly text: string }
  | { readonly kind: 'unassigned'; readonly violations: readonly Violation[] }
  | { readonly kind: 'done' }
