import { defaultServerConditions } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'
import { seedProperties } from '../test-run/property-seed.ts'
import { AREAS } from './areas.ts'

const area = AREAS[process.env['MUTATION_AREA'] ?? '']
if (!area) throw new Error('Started by `npm run mutation`, which names the area in MUTATION_AREA.')

const conditions = ['@aiagent/source', ...defaultServerConditions]

/** One flat project with the tests of one area: Stryker's runner knows no projects. */
export default defineConfig({
  plugins: [seedProperties()],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [...area.tests],
    exclude: [...configDefaults.exclude, ...(area.without ?? [])],
    // Many changes make a test wait endlessly: it fails early enough that Stryker needs no new process. Property tests take longer.
    testTimeout: area.without ? 4_000 : 30_000,
    // The files of one run share their modules, whose loading takes most of its time. Changes of code that runs when a module
    // loads then count as unnoticed.
    isolate: area.without === undefined,
    // The generated patterns run against every change, so fewer of them have to do.
    env: { MASKING_FUZZ_RUNS: '300' },
  },
})
