import { defaultServerConditions } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'

const conditions = ['@aiagent/source', ...defaultServerConditions]

/** What every project needs to run from source, without a build. */
const fromSource = { resolve: { conditions }, ssr: { resolve: { conditions } } }

const browserTests = 'packages/*/test/browser/**/*.test.ts'

export default defineConfig({
  test: {
    reporters: ['default', ['json', { outputFile: 'test-report.json' }], './scripts/closing-line-reporter.ts'],
    projects: [
      {
        ...fromSource,
        test: {
          name: 'unit',
          include: ['packages/*/{src,test}/**/*.test.ts', '{docs,examples,scripts}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, browserTests],
        },
      },
      {
        ...fromSource,
        test: { name: 'conformance', include: ['conformance/**/*.test.ts'] },
      },
      {
        ...fromSource,
        test: {
          name: 'browser',
          include: [browserTests],
          globalSetup: ['packages/test-support/src/chromium-set-up.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
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
