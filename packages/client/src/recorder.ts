/**
 * Records what an agent did, so that a failure can be replayed elsewhere.
 *
 * @module
 */
export type { Trace, TraceEntry, TraceFrame, TraceRecorder, TraceText } from './platform/trace.ts'
export { parseTrace } from './recorder/parse-trace.ts'
export { createRecorder, type RecorderOptions } from './recorder/recorder.ts'
