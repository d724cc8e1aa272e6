import { availableParallelism } from 'node:os'
import { defaultServerConditions } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'
import { builtMarkdown } from './packages/elements/test/built-elements.ts'
import { limits } from './scripts/test-run/limits.ts'
import { seedProperties } from './scripts/test-run/property-seed.ts'
import { PAGES } from './scripts/test-run/whole-run.ts'

const conditions = ['@aiagent/source', ...defaultServerConditions]

/**
 * Files share a thread and its loaded modules, which saves two thirds of their time. For tests that leave neither the
 * process nor a module changed.
 */
const sharedThreads = { pool: 'threads', isolate: false } as const

/** The same for tests that start programs, send signals or change the environment, and undo it. */
const sharedProcesses = { pool: 'forks', isolate: false } as const

/** For tests that wait much, for browsers, programs and real time: one file more than there are cores runs at a time. */
const waiting = { maxWorkers: availableParallelism() + 1 }

/** For tests that compute. They run after those that wait. */
const computing = { maxWorkers: availableParallelism(), sequence: { groupOrder: 1 } }

/** What every project needs to run from source, without a build. */
const fromSource = { plugins: [seedProperties()], resolve: { conditions }, ssr: { resolve: { conditions } } }

/** The client as it is built: for the scenarios of `npm run conformance -- --built`. */
const builtClient = {
  alias: [
    { find: /^@aiagent\/client$/, replacement: built('index.js') },
    { find: /^@aiagent\/client\/(.+)$/, replacement: built('$1.js') },
    { find: /^#(features|strategies|websocket)$/, replacement: built('$1.node.js') },
  ],
}

function built(file: string): string {
  return `${import.meta.dirname}/packages/client/dist/${file}`
}

const inProcessTests = [
  'packages/{client,protocol,view}/src/**/*.test.ts',
  'packages/emulator/src/!(node|state)/**/*.test.ts',
]
/** Tests of the Markdown of the elements. They run on what the build makes of it, beside the tests of whole pages. */
const markdownTests = 'packages/elements/src/markdown/*.test.ts'
const browserTests = '{packages,apps}/*/test/{browser,engines}/**/*.test.ts'
/**
 * Tests of whole pages, and of all that login pages do: `npm run pages` runs them, and `npm test` leaves them out. A sign-in by
 * popup and one by redirect stay in `npm test`.
 */
const pageTests = [
  '{packages/elements,apps/playground}/test/browser/**/*.test.ts',
  '{packages,apps}/*/test/engines/**/*.test.ts',
  'packages/client/test/browser/login-{agent,emulator-config,logout,msal,renewal,trouble}.test.ts',
]

/** For tests that drive a Chromium. */
const inChromium = {
  globalSetup: ['packages/test-support/src/chromium-set-up.ts'],
  ...limits,
  ...sharedThreads,
  ...waiting,
}

export default defineConfig({
  test: {
    // Vitest leaves one core to itself unless it is told otherwise, which halves the speed on two cores.
    maxWorkers: availableParallelism(),
    reporters: [
      'default',
      './scripts/test-run/hang-reporter.ts',
      ['./scripts/test-run/whole-run-reporter.ts', { outputFile: 'test-report.json' }],
      ['./scripts/test-run/closing-line-reporter.ts', { rules: true }],
    ],
    projects: [
      {
        ...fromSource,
        test: {
          name: 'unit',
          ...limits,
          ...sharedThreads,
          ...computing,
          include: inProcessTests,
        },
      },
      {
        ...fromSource,
        test: {
          name: 'node',
          ...limits,
          ...sharedProcesses,
          ...waiting,
          include: [
            'packages/!(client|protocol|view)/src/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            'apps/*/src/**/*.test.ts',
            '{docs,examples,scripts,verify/bench,verify/faults}/**/*.test.ts',
          ],
          exclude: [...configDefaults.exclude, browserTests, markdownTests, ...inProcessTests],
        },
      },
      {
        ...fromSource,
        test: {
          name: 'conformance',
          ...(process.env['CONFORMANCE_BUILT'] && builtClient),
          ...limits,
          ...sharedThreads,
          ...computing,
          include: ['verify/conformance/**/*.test.ts'],
        },
      },
      {
        ...fromSource,
        test: {
          name: 'browser',
          include: [browserTests],
          exclude: [...configDefaults.exclude, ...pageTests],
          ...inChromium,
        },
      },
      {
        ...fromSource,
        plugins: [...fromSource.plugins, builtMarkdown()],
        test: { name: PAGES, include: [...pageTests, markdownTests], ...inChromium },
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
