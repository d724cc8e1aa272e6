import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { AREAS } from './areas.ts'

const area = AREAS[process.env['MUTATION_AREA'] ?? '']
if (!area) throw new Error('Started by `npm run mutation`, which names the area in MUTATION_AREA.')

const conditions = ['@aiagent/source', ...defaultServerConditions]

/** One flat project with the tests of one area: Stryker's runner knows no projects. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [...area.tests],
    testTimeout: 30_000,
    // The generated patterns run against every change, so fewer of them have to do.
    env: { MASKING_FUZZ_RUNS: '300' },
  },
})
