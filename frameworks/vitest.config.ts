import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { bindings } from './bindings.ts'

const conditions = ['@aiagent/source', ...defaultServerConditions]

/** Tests of the bindings against the real libraries: `npm run frameworks`. */
export default defineConfig({
  plugins: [bindings('19')],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    root: import.meta.dirname,
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['../packages/test-support/src/chromium-set-up.ts'],
    reporters: ['default', '../scripts/test-run/closing-line-reporter.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    expect: { poll: { timeout: 15_000 } },
  },
})
