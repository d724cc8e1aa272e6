/*
 * The part of OpenTelemetry's API (1.x) that is used, as structural types: no dependency on it.
 */

/** Values of attributes. */
export type Attributes = Record<string, string | number | boolean>

/** A context of OpenTelemetry: it carries the parent of a span. */
export interface TelemetryContext {
  /** The value of a key, or undefined. */
  getValue(key: symbol): unknown
  /** A new context with the value; this one stays unchanged. */
  setValue(key: symbol, value: unknown): TelemetryContext
  /** A new context without the key; this one stays unchanged. */
  deleteValue(key: symbol): TelemetryContext
}

/** Identity of a span. */
export interface SpanIdentity {
  /** Id of the trace: 32 hexadecimal digits. */
  traceId: string
  /** Id of the span: 16 hexadecimal digits. */
  spanId: string
  /** Flags of the trace; 1 means sampled. */
  traceFlags: number
}

/** A span, as `Span` of `@opentelemetry/api`. */
export interface TelemetrySpan {
  /** Identity of the span, to link other spans to it. */
  spanContext(): SpanIdentity
  /** Sets an attribute, replacing an earlier value. */
  setAttribute(key: string, value: string | number | boolean): unknown
  /** Adds an event to the span. @default time: now */
  addEvent(name: string, attributes?: Attributes, time?: Date): unknown
  /** Sets the outcome: 0 unset, 1 ok, 2 error with a description. */
  setStatus(status: { code: number; message?: string }): unknown
  /** Replaces the name of the span. */
  updateName(name: string): unknown
  /** Ends the span. @default time: now */
  end(time?: Date): void
}

/** Makes spans, as `Tracer` of `@opentelemetry/api`. */
export interface TelemetryTracer {
  /** Starts a span. Its parent is the span of the context, if there is one; `kind` is 0 internal or 2 client. */
  startSpan(
    name: string,
    options?: { kind?: number; attributes?: Attributes; startTime?: Date; links?: { context: SpanIdentity }[] },
    context?: TelemetryContext,
  ): TelemetrySpan
}

/** Makes instruments, as `Meter` of `@opentelemetry/api`. */
export interface TelemetryMeter {
  /** Creates an instrument for distributions, such as durations. */
  createHistogram(
    name: string,
    options?: { unit?: string; description?: string; advice?: { explicitBucketBoundaries?: number[] } },
  ): { record(value: number, attributes?: Attributes): void }
  /** Creates an instrument for sums that only grow. */
  createCounter(
    name: string,
    options?: { unit?: string; description?: string },
  ): { add(value: number, attributes?: Attributes): void }
  /** Creates an instrument for sums that grow and shrink, such as open connections. */
  createUpDownCounter(
    name: string,
    options?: { unit?: string; description?: string },
  ): { add(value: number, attributes?: Attributes): void }
}

/** Emits events, as `Logger` of `@opentelemetry/api-logs`. */
export interface TelemetryLogger {
  /** Emits one event. */
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
