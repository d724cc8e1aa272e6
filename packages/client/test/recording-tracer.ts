import type { Attributes } from '../src/otel/telemetry-types.ts'
import type { TelemetryContext, TelemetryMeter, TelemetrySpan, TelemetryTracer } from '../src/otel.ts'
import type { SeenSpan } from './telemetry-scenarios.ts'

const SPAN_KEY = Symbol.for('OpenTelemetry Context Key SPAN')

class RecordingSpan implements TelemetrySpan, SeenSpan {
  readonly id: string
  readonly parent: string | undefined
  readonly startedAt: number
  readonly links: number
  readonly attributes: Attributes = {}
  readonly events: { name: string; attributes?: Attributes | undefined }[] = []
  name: string
  hasFailed = false
  isEnded = false

  constructor(name: string, order: number, parent: string | undefined, links: number, attributes: Attributes = {}) {
    this.name = name
    this.id = String(order)
    this.startedAt = order
    this.parent = parent
    this.links = links
    Object.assign(this.attributes, attributes)
  }

  spanContext = () => ({ traceId: 'a'.repeat(32), spanId: this.id.padStart(16, '0'), traceFlags: 1 })
  setAttribute = (key: string, value: string | number | boolean) => {
    this.#requireOpen()
    this.attributes[key] = value
  }
  addEvent = (name: string, attributes?: Attributes) => {
    this.#requireOpen()
    this.events.push({ name, attributes })
  }
  setStatus = ({ code }: { code: number }) => {
    this.hasFailed = code === 2
  }
  updateName = (name: string) => {
    this.name = name
  }
  end = () => {
    this.#requireOpen()
    this.isEnded = true
  }

  #requireOpen(): void {
    if (this.isEnded) throw new Error(`The span ${this.name} has ended.`)
  }
}

/** A tracer that keeps its spans. Changes of an ended span throw. */
export class RecordingTracer implements TelemetryTracer {
  readonly spans: RecordingSpan[] = []

  startSpan: TelemetryTracer['startSpan'] = (name, options = {}, context) => {
    const { attributes, links = [] } = options
    const span = new RecordingSpan(name, this.spans.length, this.spanOf(context)?.id, links.length, attributes)
    this.spans.push(span)
    return span
  }

  spanOf(context: unknown): RecordingSpan | undefined {
    const span = (context as TelemetryContext | undefined)?.getValue(SPAN_KEY)
    return span instanceof RecordingSpan ? span : undefined
  }

  get unfinished(): number {
    return this.spans.filter(({ isEnded }) => !isEnded).length
  }
}

/** A meter that keeps its values. */
export class RecordingMeter implements TelemetryMeter {
  readonly #values = new Map<string, number[]>()
  readonly #labels = new Map<string, Attributes[]>()
  /** The options of each instrument. */
  readonly options: Record<string, unknown> = {}

  createHistogram = (name: string, options?: object) => this.#create(name, options)
  createCounter = (name: string, options?: object) => this.#create(name, options)
  createUpDownCounter = (name: string, options?: object) => this.#create(name, options)

  counts = (name: string) => this.#values.get(name)?.length ?? 0
  labels = (name: string) => this.#labels.get(name) ?? []
  sum = (name: string) => (this.#values.get(name) ?? []).reduce((sum, value) => sum + value, 0)

  /** The sum of a metric after each change. */
  sums = (name: string) => {
    let sum = 0
    return (this.#values.get(name) ?? []).map(value => (sum += value))
  }

  #create(name: string, options?: object) {
    this.options[name] = options
    const add = (value: number, labels: Attributes = {}) => this.#add(name, value, labels)
    return { add, record: add }
  }

  #add(name: string, value: number, labels: Attributes): void {
    this.#labels.set(name, [...this.labels(name), labels])
    this.#values.set(name, [...(this.#values.get(name) ?? []), value])
  }
}
