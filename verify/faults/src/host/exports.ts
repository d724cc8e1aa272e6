import type { AiAgent } from '@aiagent/client'
import { instrument, type TelemetrySpan } from '@aiagent/client/otel'
import { createRecorder } from '@aiagent/client/recorder'

/** What an agent of a run gives to others: its recording without texts, and its telemetry with masked texts. */
export class Exports {
  readonly recorder = createRecorder()
  readonly #values: unknown[] = []

  /** Instruments the agent of this recorder. */
  follow(agent: AiAgent): void {
    const note = (...values: unknown[]) => void this.#values.push(...values)
    const measure = (_value: number, attributes?: unknown) => note(attributes)
    const span: TelemetrySpan = {
      spanContext: () => ({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 }),
      setAttribute: note,
      addEvent: (name, attributes) => note(name, attributes),
      setStatus: ({ message }) => note(message),
      updateName: note,
      end: () => {},
    }
    instrument(agent, {
      tracer: {
        startSpan: (name, options) => {
          note(name, options?.attributes)
          return span
        },
      },
      meter: {
        createHistogram: () => ({ record: measure }),
        createCounter: () => ({ add: measure }),
        createUpDownCounter: () => ({ add: measure }),
      },
      logger: { emit: note },
      content: true,
    })
  }

  get recording(): string {
    return JSON.stringify(this.recorder.exportTrace())
  }

  get telemetry(): string {
    return JSON.stringify(this.#values)
  }
}
