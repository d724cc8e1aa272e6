// Measures what is fast and small: `npm run bench`, with `-- --only NAME` (repeatable) or `-- --quick`.
import { readCommandLine, UsageError } from '../../scripts/command-line.ts'
import { type Figure, figureOf } from './figure.ts'
import { connect, secondAgent } from './measures/connect.ts'
import { desk } from './measures/desk.ts'
import { elements } from './measures/elements.ts'
import { flush } from './measures/flush.ts'
import { json } from './measures/json.ts'
import { masking } from './measures/masking.ts'
import type { Bench, Measure } from './measures/measure.ts'
import { growth, heap } from './measures/memory.ts'
import { page } from './measures/page.ts'
import { throughput } from './measures/throughput.ts'
import { view } from './measures/view.ts'
import { buildPrograms } from './programs.ts'
import { printedTable } from './report/table.ts'
import { machineLine, writeResults } from './report/write.ts'

const MEASURES: Readonly<Record<string, Measure>> = {
  throughput,
  json,
  connect,
  'second-agent': secondAgent,
  desk,
  page,
  flush,
  masking,
  view,
  elements,
  heap,
  growth,
}

const values = readCommandLine(
  {
    name: 'bench',
    about: 'Measures what is fast and small. A whole run writes docs/performance.md and bench/results.json.',
    options: {
      only: {
        type: 'string',
        multiple: true,
        value: 'NAME',
        help: `measures only this: ${Object.keys(MEASURES).join(', ')}`,
      },
      quick: { type: 'boolean', help: 'measures less often, for a first look' },
    },
  },
  ({ values }) => {
    const unknown = values.only.find(name => !Object.hasOwn(MEASURES, name))
    if (unknown === undefined) return values
    throw new UsageError(`There is no measurement "${unknown}". There are: ${Object.keys(MEASURES).join(', ')}.`)
  },
)
const names = values.only.length > 0 ? values.only : Object.keys(MEASURES)

console.log(`Measuring on ${machineLine()}. This takes ${values.quick ? 'a minute or two' : 'about ten minutes'}.`)
const programs = await buildPrograms()
try {
  const figures = await measureAll()
  console.log(`\n${printedTable(figures)}`)
  // A part, or a quick look, does not replace the figures of a whole run.
  if (values.only.length === 0 && !values.quick) {
    writeResults(figures)
    console.log('\nWritten to bench/results.json, docs/performance.svg and docs/performance.md.')
  }
} finally {
  await programs.remove()
}

async function measureAll(): Promise<Figure[]> {
  const bench: Bench = {
    programs,
    times: (usually, quick) => (values.quick ? quick : usually),
    async withService(delayMs, work, pages) {
      const { report, end } = await programs.start<{ endpoint: string }>('service', { delayMs, pages })
      try {
        return await work(report.endpoint)
      } finally {
        await end()
      }
    },
  }
  const figures: Figure[] = []
  for (const name of names) {
    const start = performance.now()
    const findings = (await MEASURES[name]?.(bench)) ?? []
    figures.push(...findings.map(finding => figureOf(name, finding)))
    console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(0)} s`)
  }
  return figures
}
