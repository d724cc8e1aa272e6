import { join } from 'node:path'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { limits } from '../../scripts/test-run/limits.ts'
import { bindings } from './bindings.ts'

const conditions = ['@aiagent/source', ...defaultServerConditions]

const shared = {
  plugins: [bindings('19')],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
}
/** `ioredis` 6; the root installs version 5. */
const IOREDIS_6 = join(import.meta.dirname, 'node_modules/ioredis/built/index.js')

/** Tests of the bindings against the real libraries: `npm run frameworks`. */
export default defineConfig({
  ...shared,
  test: {
    root: import.meta.dirname,
    reporters: [
      'default',
      '../../scripts/test-run/hang-reporter.ts',
      '../../scripts/test-run/closing-line-reporter.ts',
    ],
    maxWorkers: 1,
    projects: [
      {
        ...shared,
        test: {
          name: 'pages',
          include: ['test/**/*.test.{ts,tsx}'],
          globalSetup: ['../../packages/test-support/src/chromium-set-up.ts'],
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
      {
        // The fleet's own tests, with the other version of ioredis.
        resolve: { conditions, alias: { ioredis: IOREDIS_6 } },
        ssr: { resolve: { conditions } },
        test: {
          name: 'ioredis 6',
          root: join(import.meta.dirname, '../../packages/fleet'),
          include: ['test/**/*.test.ts'],
          ...limits,
          // They wait more than they compute.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
