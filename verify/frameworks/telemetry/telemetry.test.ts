import { context, type SpanContext, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'
import {
  outline,
  runScenario,
  type SeenSpan,
  TELEMETRY_SCENARIOS,
} from '../../../packages/client/test/telemetry-scenarios.ts'

/** Spans of the real SDK, in the order of their start: it is that of the calls of `startSpan()`. */
function recordSpans() {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const tracer = provider.getTracer('test')
  const order = new Map<string, number>()
  const startSpan: typeof tracer.startSpan = (...parameters) => {
    const span = tracer.startSpan(...parameters)
    order.set(span.spanContext().spanId, order.size)
    return span
  }
  const seen = (): SeenSpan[] => exporter.getFinishedSpans().map(span => toSeen(span, order))
  return { tracer: { startSpan }, provider, seen, spans: () => exporter.getFinishedSpans() }
}

function toSeen(span: ReadableSpan, order: ReadonlyMap<string, number>): SeenSpan {
  const { spanId } = span.spanContext()
  return {
    id: spanId,
    parent: span.parentSpanContext?.spanId,
    name: span.name,
    attributes: span.attributes,
    events: span.events.map(({ name, attributes }) => ({ name, attributes })),
    links: span.links.length,
    hasFailed: span.status.code === 2,
    startedAt: order.get(spanId) ?? -1,
  }
}

describe('instrument() with the SDK of OpenTelemetry', () => {
  it.each(TELEMETRY_SCENARIOS)('makes the golden trace of $name', async scenario => {
    const { tracer, seen, provider } = recordSpans()
    await runScenario(scenario, { tracer })
    expect(outline(seen())).toEqual(scenario.golden)
    await provider.shutdown()
  })

  it('puts the spans below the one of the host', async () => {
    const { tracer, spans, provider } = recordSpans()
    const host: SpanContext = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 }
    const parentContext = () => trace.setSpanContext(context.active(), host)
    const [scenario] = TELEMETRY_SCENARIOS
    if (!scenario) throw new Error('There is no scenario.')
    await runScenario({ ...scenario, options: { parentContext } }, { tracer })
    expect(new Set(spans().map(span => span.spanContext().traceId))).toEqual(new Set([host.traceId]))
    expect(spans().filter(span => span.parentSpanContext?.spanId === host.spanId).length).toBe(3)
    await provider.shutdown()
  })
})
