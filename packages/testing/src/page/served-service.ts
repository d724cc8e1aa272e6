import { type ServeOptions, serveEmulator } from '@aiagent/emulator/node'
import type { Fixture } from '../service/fixtures.ts'
import { Answers, describeService, strict, type TestService } from '../service/test-service.ts'

/** A {@link TestService} on a port of this machine, for pages and other processes. */
export interface ServedTestService extends TestService {
  /** Its port. */
  readonly port: number
}

/** Serves a service on a free port, or the given one. Otherwise as `createTestService()`. */
export async function serveTestService(options: ServeOptions = {}): Promise<ServedTestService> {
  const answers = new Answers()
  const { url, emulator, close } = await serveEmulator(strict({ reply: answers.reply, ...options }))
  return {
    ...describeService(emulator, answers),
    endpoint: url,
    port: Number(new URL(url).port),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * A service on a port for each test: `const test = base.extend(servedServiceFixtures())`, then
 * `test('…', async ({ page, service }) => …)`. For Playwright and for vitest.
 *
 * @param options of the emulator
 */
export function servedServiceFixtures(options: ServeOptions = {}): { service: Fixture<ServedTestService> } {
  return {
    // Both runners read the names of the wanted fixtures from this pattern.
    // biome-ignore lint/correctness/noEmptyPattern: required by the runners
    service: async ({}, use) => {
      const service = await serveTestService(options)
      try {
        await use(service)
      } finally {
        await service.close()
      }
    },
  }
}
