/**
 * Spans, metrics and events of an agent for OpenTelemetry.
 *
 * @module
 */
export { type Instrumentation, type InstrumentOptions, instrument } from './otel/instrument.ts'
export type {
  TelemetryContext,
  TelemetryLogger,
  TelemetryMeter,
  TelemetrySpan,
  TelemetryTracer,
} from './otel/telemetry-types.ts'
export { type TracedCalls, type TracedCallsOptions, traceCalls } from './otel/trace-calls.ts'
