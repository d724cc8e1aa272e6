export type { Trace, TraceEntry, TraceFrame, TraceRecorder, TraceText } from './platform/trace.ts'
export { parseTrace } from './recorder/parse-trace.ts'
export { createRecorder, type RecorderOptions } from './recorder/recorder.ts'
