import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { bindings } from './bindings.ts'

const conditions = ['@aiagent/source', ...defaultServerConditions]

const shared = {
  plugins: [bindings('19')],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
}
const limits = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 15_000 } } }

/** Tests of the bindings against the real libraries: `npm run frameworks`. */
export default defineConfig({
  ...shared,
  test: {
    root: import.meta.dirname,
    reporters: ['default', '../scripts/test-run/closing-line-reporter.ts'],
    fileParallelism: false,
    projects: [
      {
        ...shared,
        test: {
          name: 'pages',
          include: ['test/**/*.test.{ts,tsx}'],
          globalSetup: ['../packages/test-support/src/chromium-set-up.ts'],
          ...limits,
        },
      },
      {
        ...shared,
        // Without "module": modules under that condition import each other without extensions, which Node does not resolve.
        resolve: { conditions: ['@aiagent/source', 'node', 'import'] },
        ssr: { resolve: { conditions: ['@aiagent/source', 'node', 'import'] } },
        test: {
          name: 'telemetry',
          include: ['telemetry/**/*.test.ts'],
          ...limits,
        },
      },
      {
        ...shared,
        test: { name: 'hooks', include: ['hooks/**/*.test.tsx'], environment: './dom-environment.ts', ...limits },
      },
    ],
  },
})
