import type { Sightings } from './sightings.ts'

/** Values of attributes. */
type Attributes = Readonly<Record<string, unknown>>

/** A tracer, a meter and a logger that note what they are given, for `instrument()` and `traceCalls()` of the client. */
export interface RecordingTelemetry {
  /** Notes spans: their names, attributes, events and status. */
  readonly tracer: {
    startSpan(name: string, options?: { attributes?: Attributes }): RecordingSpan
  }
  /** Notes the attributes of measurements. */
  readonly meter: {
    createHistogram(name: string): { record(value: number, attributes?: Attributes): void }
    createCounter(name: string): { add(value: number, attributes?: Attributes): void }
    createUpDownCounter(name: string): { add(value: number, attributes?: Attributes): void }
  }
  /** Notes log records. */
  readonly logger: { emit(record: object): void }
}

/** A span that notes its name, attributes, events and status. */
export interface RecordingSpan {
  /** Identity of the span: a made-up trace and span id. */
  spanContext(): { traceId: string; spanId: string; traceFlags: number }
  /** Notes an attribute. */
  setAttribute(key: string, value: unknown): unknown
  /** Notes several attributes. */
  setAttributes(attributes: Attributes): unknown
  /** Notes an event with its attributes. */
  addEvent(name: string, attributes?: unknown): unknown
  /** Notes an exception. */
  recordException(exception: unknown): void
  /** Notes the status with its text. */
  setStatus(status: { code: number; message?: string }): unknown
  /** Notes another name. */
  updateName(name: string): unknown
  /** Always true, so that callers leave nothing out. */
  isRecording(): boolean
  /** Ends the span; there is nothing to note. */
  end(): void
}

/** Makes the telemetry of an audit. */
export function recordTelemetry(sightings: Sightings): RecordingTelemetry {
  let spans = 0
  const createCounter = (name: string) => ({
    add: (_value: number, attributes?: Attributes) => sightings.add('metric', name, attributes),
  })
  return {
    tracer: {
      startSpan(name, options) {
        const spanId = (++spans).toString(16).padStart(16, '0')
        const note = (...values: unknown[]) => sightings.add('span', name, name, ...values)
        note(options?.attributes)
        return {
          spanContext: () => ({ traceId: '0'.repeat(31) + 1, spanId, traceFlags: 1 }),
          setAttribute: (key, value) => note(key, value),
          setAttributes: attributes => note(attributes),
          addEvent: (event, attributes) => note(event, attributes),
          recordException: exception => note(exception),
          setStatus: status => note(status),
          updateName: updated => note(updated),
          isRecording: () => true,
          end: () => {},
        }
      },
    },
    meter: {
      createHistogram: name => ({ record: (_value, attributes) => sightings.add('metric', name, attributes) }),
      createCounter,
      createUpDownCounter: createCounter,
    },
    logger: { emit: record => sightings.add('span', 'log record', record) },
  }
}

/** A store of a page that notes what is written to it. */
export class RecordingStorage {
  readonly #sink: string
  readonly #sightings: Sightings
  readonly #entries = new Map<string, string>()

  constructor(sink: string, sightings: Sightings) {
    this.#sink = sink
    this.#sightings = sightings
  }

  /** Number of stored keys. */
  get length(): number {
    return this.#entries.size
  }

  /** The value of a key, or null. */
  getItem(key: string): string | null {
    return this.#entries.get(key) ?? null
  }

  /** Stores a value, and notes it with its key. */
  setItem(key: string, value: string): void {
    this.#sightings.add(this.#sink, key, key, value)
    this.#entries.set(key, String(value))
  }

  /** Removes a key, if it is stored. */
  removeItem(key: string): void {
    this.#entries.delete(key)
  }

  /** The key at an index in the order of insertion, or null. */
  key(index: number): string | null {
    return [...this.#entries.keys()][index] ?? null
  }

  /** Removes every key. What was noted stays. */
  clear(): void {
    this.#entries.clear()
  }

  /** Keys and values that are stored now. */
  entries(): [string, string][] {
    return [...this.#entries]
  }
}
