import { defaultServerConditions } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'
import { seedProperties } from './scripts/test-run/property-seed.ts'

const conditions = ['@aiagent/source', ...defaultServerConditions]

/** Only for tests that hang: property tests are slow on a busy machine. */
const limits = { testTimeout: 30_000, hookTimeout: 60_000 }

/** What every project needs to run from source, without a build. */
const fromSource = { plugins: [seedProperties()], resolve: { conditions }, ssr: { resolve: { conditions } } }

const browserTests = 'packages/*/test/browser/**/*.test.ts'

export default defineConfig({
  test: {
    reporters: [
      'default',
      ['./scripts/test-run/whole-run-reporter.ts', { outputFile: 'test-report.json' }],
      ['./scripts/test-run/closing-line-reporter.ts', { rules: true }],
    ],
    projects: [
      {
        ...fromSource,
        test: {
          name: 'unit',
          ...limits,
          include: ['packages/*/{src,test}/**/*.test.ts', '{docs,examples,scripts}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, browserTests],
        },
      },
      {
        ...fromSource,
        test: { name: 'conformance', ...limits, include: ['conformance/**/*.test.ts'] },
      },
      {
        ...fromSource,
        test: {
          name: 'browser',
          include: [browserTests],
          globalSetup: ['packages/test-support/src/chromium-set-up.ts'],
          ...limits,
        },
      },
      {
        ...fromSource,
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ['packages/*/src/**/*.test-d.ts'],
            tsconfig: 'tsconfig.type-tests.json',
            // Errors outside the type tests are reported by `npm run types`.
            ignoreSourceErrors: true,
          },
        },
      },
    ],
  },
})
