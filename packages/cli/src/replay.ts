/**
 * Replays the recording of an agent, and reports violated invariants.
 *
 * @module
 */
export type { Invariant, Violation } from './replay/invariants.ts'
export { type ReplayResult, replayTrace } from './replay/replay-trace.ts'
