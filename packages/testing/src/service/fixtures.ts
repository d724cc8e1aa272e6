import type { EmulatorOptions } from '@aiagent/emulator'
import { createTestService, type LocalTestService } from './test-service.ts'

/**
 * A fixture as `test.extend()` of vitest and of Playwright takes it: it passes a value to `use` and continues after the test.
 * Neither is a dependency.
 */
export type Fixture<Value> = (context: Record<never, never>, use: (value: Value) => Promise<void>) => Promise<void>

/**
 * A service for each test: `const it = test.extend(serviceFixtures())`, then `it('…', async ({ service }) => …)`.
 *
 * @param options of the emulator
 */
export function serviceFixtures(options: EmulatorOptions = {}): { service: Fixture<LocalTestService> } {
  return {
    // Both runners read the names of the wanted fixtures from this pattern.
    // biome-ignore lint/correctness/noEmptyPattern: required by the runners
    service: async ({}, use) => {
      const service = createTestService(options)
      try {
        await use(service)
      } finally {
        await service.close()
      }
    },
  }
}
