// The parts of other packages that listings in the documents use. They are not installed here.

declare module 'undici' {
  export class Agent {
    constructor(options: { connect: { ca: string } })
  }
  export function fetch(url: string, init: RequestInit & { dispatcher: Agent }): Promise<Response>
}

declare module '@opentelemetry/api' {
  import type { TelemetryMeter, TelemetryTracer } from '@aiagent/client/otel'
  export const trace: { getTracer(name: string): TelemetryTracer }
  export const metrics: { getMeter(name: string): TelemetryMeter }
}

declare module '@playwright/test' {
  import type { ServedTestService } from '@aiagent/testing/playwright'
  import type { Locator, Page } from 'playwright-core'

  interface Test<Fixtures> {
    (title: string, run: (fixtures: Fixtures) => Promise<void>): void
    extend<Added>(
      fixtures: {
        [Name in keyof Added]: (given: Fixtures, use: (value: Added[Name]) => Promise<void>) => Promise<void>
      },
    ): Test<Fixtures & Added>
  }
  export const test: Test<{ page: Page }>
  export function expect(locator: Locator): { toBeVisible(): Promise<void> }
  export type { ServedTestService }
}
