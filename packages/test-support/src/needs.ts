import { inject, type TestOptions } from 'vitest'
import type { ChromiumCapability } from './chromium.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Found by the set-up of the browser tests. */
    chromiumCapabilities: readonly ChromiumCapability[]
  }
  interface TaskMeta {
    /** What the machine lacks for a skipped test. */
    missing?: string
  }
}

/**
 * Options of a test that needs more of the browser than every Chromium has: `it('…', needs('popup blocker'), …)`.
 *
 * Skips the test where the capability is missing. The closing lines of the run name the test and the capability.
 */
export function needs(capability: ChromiumCapability): TestOptions {
  return inject('chromiumCapabilities').includes(capability)
    ? {}
    : { skip: true, meta: { missing: `the browser has no ${capability}` } }
}
