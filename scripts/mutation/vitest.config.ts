import { relative } from 'node:path'
import { defaultServerConditions } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { seedProperties } from '../test-run/property-seed.ts'
import { AREAS, toRegExp } from './areas.ts'

const area = AREAS[process.env['MUTATION_AREA'] ?? '']
if (!area) throw new Error('Started by `npm run mutation`, which names the area in MUTATION_AREA.')

const conditions = ['@aiagent/source', ...defaultServerConditions]

const order = area.tests.map(toRegExp)

/** Runs the files in the order of the area: most changes fail in the first, which are quick, and the run ends there. */
class AreaSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) =>
      order.findIndex(pattern => pattern.test(relative(process.cwd(), moduleId)))
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

/** One flat project with the tests of one area: Stryker's runner knows no projects. */
export default defineConfig({
  plugins: [seedProperties()],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [...area.tests],
    sequence: { sequencer: AreaSequencer },
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
