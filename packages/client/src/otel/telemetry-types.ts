/*
 * The part of OpenTelemetry's API (1.x) that is used, as structural types: no dependency on it.
 */

/** Values of attributes. */
export type Attributes = Record<string, string | number | boolean>

/** A context of OpenTelemetry: it carries the parent of a span. */
export interface TelemetryContext {
  getValue(key: symbol): unknown
  setValue(key: symbol, value: unknown): TelemetryContext
  deleteValue(key: symbol): TelemetryContext
}

/** Identity of a span. */
export interface SpanIdentity {
  traceId: string
  spanId: string
  traceFlags: number
}

/** A span, as `Span` of `@opentelemetry/api`. */
export interface TelemetrySpan {
  spanContext(): SpanIdentity
  setAttribute(key: string, value: string | number | boolean): unknown
  addEvent(name: string, attributes?: Attributes, time?: Date): unknown
  setStatus(status: { code: number; message?: string }): unknown
  updateName(name: string): unknown
  end(time?: Date): void
}

/** Makes spans, as `Tracer` of `@opentelemetry/api`. */
export interface TelemetryTracer {
  startSpan(
    name: string,
    options?: { kind?: number; attributes?: Attributes; startTime?: Date; links?: { context: SpanIdentity }[] },
    context?: TelemetryContext,
  ): TelemetrySpan
}

/** Makes instruments, as `Meter` of `@opentelemetry/api`. */
export interface TelemetryMeter {
  createHistogram(
    name: string,
    options?: { unit?: string; description?: string },
  ): { record(value: number, attributes?: Attributes): void }
  createCounter(
    name: string,
    options?: { unit?: string; description?: string },
  ): { add(value: number, attributes?: Attributes): void }
  createUpDownCounter(
    name: string,
    options?: { unit?: string; description?: string },
  ): { add(value: number, attributes?: Attributes): void }
}

/** Emits events, as `Logger` of `@opentelemetry/api-logs`. */
export interface TelemetryLogger {
  emit(record: { eventName: string; attributes: Attributes; timestamp?: Date; context?: TelemetryContext }): void
}

/** Where version 1 of the API keeps the span of a context. It is registered, so it is the same for every copy of the API. */
const SPAN_KEY = Symbol.for('OpenTelemetry Context Key SPAN')

/** A context in which new spans have the given parent. */
export function contextOf(span: TelemetrySpan, base?: TelemetryContext): TelemetryContext {
  return overlay(base, SPAN_KEY, span)
}

function overlay(base: TelemetryContext | undefined, key: symbol, value: unknown): TelemetryContext {
  const context: TelemetryContext = {
    getValue: asked => (asked === key ? value : base?.getValue(asked)),
    setValue: (other, given) => overlay(context, other, given),
    deleteValue: other => overlay(context, other, undefined),
  }
  return context
}
