import { defaultServerConditions } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'

const conditions = ['@aiagent/source', ...defaultServerConditions]

/** No expectation, only the end of patience: property tests take their time on a busy machine. */
const patience = { testTimeout: 30_000, hookTimeout: 60_000 }

/** What every project needs to run from source, without a build. */
const fromSource = { resolve: { conditions }, ssr: { resolve: { conditions } } }

const browserTests = 'packages/*/test/browser/**/*.test.ts'

export default defineConfig({
  test: {
    reporters: [
      'default',
      ['./scripts/test-run/whole-run-reporter.ts', { outputFile: 'test-report.json' }],
      './scripts/test-run/closing-line-reporter.ts',
    ],
    projects: [
      {
        ...fromSource,
        test: {
          name: 'unit',
          ...patience,
          include: ['packages/*/{src,test}/**/*.test.ts', '{docs,examples,scripts}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, browserTests],
        },
      },
      {
        ...fromSource,
        test: { name: 'conformance', ...patience, include: ['conformance/**/*.test.ts'] },
      },
      {
        ...fromSource,
        test: {
          name: 'browser',
          include: [browserTests],
          globalSetup: ['packages/test-support/src/chromium-set-up.ts'],
          ...patience,
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
