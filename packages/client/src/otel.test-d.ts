import { assertType, describe, it } from 'vitest'
import { AiAgent } from './ai-agent.ts'
import type {
  Instrumentation,
  InstrumentOptions,
  TelemetryContext,
  TelemetryLogger,
  TelemetryMeter,
  TelemetrySpan,
  TelemetryTracer,
  TracedCalls,
  TracedCallsOptions,
} from './otel.ts'
import { instrument, traceCalls } from './otel.ts'

describe('types of telemetry', () => {
  const span = {
    spanContext: () => ({ traceId: '', spanId: '', traceFlags: 0 }),
    setAttribute: () => {},
    addEvent: () => {},
    setStatus: () => {},
    updateName: () => {},
    end: () => {},
  }
  const tracer = { startSpan: () => span }
  const instruments = { record: () => {}, add: () => {} }
  const make = () => instruments

  it('TelemetrySpan, TelemetryTracer, TelemetryContext', () => {
    assertType<TelemetrySpan>(span)
    // @ts-expect-error a span can be ended
    assertType<TelemetrySpan>({ ...span, end: undefined })
    assertType<TelemetryTracer>(tracer)
    // @ts-expect-error a tracer returns a span
    assertType<TelemetryTracer>({ startSpan: () => 1 })
    const context: TelemetryContext = { getValue: () => 1, setValue: () => context, deleteValue: () => context }
    assertType<TelemetryContext>(context)
    // @ts-expect-error a context has three methods
    assertType<TelemetryContext>({ getValue: () => 1 })
  })

  it('TelemetryMeter, TelemetryLogger', () => {
    assertType<TelemetryMeter>({ createHistogram: make, createCounter: make, createUpDownCounter: make })
    // @ts-expect-error a meter makes histograms
    assertType<TelemetryMeter>({ createCounter: make, createUpDownCounter: make })
    assertType<TelemetryLogger>({ emit: () => {} })
    // @ts-expect-error a logger emits records
    assertType<TelemetryLogger>({ emit: (record: number) => record })
  })

  it('InstrumentOptions, Instrumentation, TracedCallsOptions, TracedCalls', () => {
    assertType<InstrumentOptions>({ tracer, content: true, conversationId: id => id.slice(0, 4) })
    // @ts-expect-error the tracer is missing
    assertType<InstrumentOptions>({ content: true })
    assertType<Instrumentation>(instrument(new AiAgent({ id: 'help', endpoint: 'a.test' }), { tracer }))
    // @ts-expect-error stop is a method
    assertType<Instrumentation>({ stop: true })
    assertType<TracedCallsOptions>({ tracer, traceparent: true })
    // @ts-expect-error traceparent is a flag
    assertType<TracedCallsOptions>({ tracer, traceparent: 'yes' })
    assertType<TracedCalls>(traceCalls({ tracer }))
    // @ts-expect-error calls have a fetch
    assertType<TracedCalls>({ parent: undefined })
  })
})
