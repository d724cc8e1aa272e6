// Measures what is fast and small: `npm run bench`, with `-- NAME…` for single measurements, or `-- --quick`.
import { readCommandLine, UsageError } from '../../../scripts/command-line.ts'
import { type Figure, figureOf } from './figure.ts'
import { connect } from './measures/connect.ts'
import { elements } from './measures/elements.ts'
import { flush } from './measures/flush.ts'
import { json } from './measures/json.ts'
import { masking } from './measures/masking.ts'
import type { Bench, Measure } from './measures/measure.ts'
import { growth, heap } from './measures/memory.ts'
import { page } from './measures/page.ts'
import { tabs } from './measures/tabs.ts'
import { throughput } from './measures/throughput.ts'
import { view } from './measures/view.ts'
import type { ServiceReport } from './programs/service.ts'
import { buildPrograms } from './programs.ts'
import { printedTable } from './report/table.ts'
import { machineLine, writeResults } from './report/write.ts'

const MEASURES: Readonly<Record<string, Measure>> = {
  throughput,
  json,
  connect,
  page,
  flush,
  tabs,
  masking,
  view,
  elements,
  heap,
  growth,
}

const { names, isQuick } = readCommandLine(
  {
    name: 'bench',
    about: 'Measures what is fast and small. A whole run writes docs/performance.md and bench/results.json.',
    words: { name: 'NAME', help: `measurements, all by default: ${Object.keys(MEASURES).join(', ')}` },
    options: { quick: { type: 'boolean', help: 'measures less often, for a first look' } },
  },
  ({ values, words }) => {
    const unknown = words.find(name => !Object.hasOwn(MEASURES, name))
    if (unknown === undefined) return { names: words, isQuick: values.quick }
    throw new UsageError(`There is no measurement "${unknown}". There are: ${Object.keys(MEASURES).join(', ')}.`)
  },
)
const isMeasured = (name: string) => names.length === 0 || names.includes(name)

console.log(`Measuring on ${machineLine()}. A whole run takes about ten minutes.`)
const programs = await buildPrograms(isMeasured('elements') ? ['elements'] : [])
try {
  const figures = await measureAll()
  console.log(`\n${printedTable(figures)}`)
  // A part, or a quick look, does not replace the figures of a whole run.
  if (names.length === 0 && !isQuick) {
    writeResults(figures)
    console.log('\nWritten to bench/results.json, docs/performance.svg and docs/performance.md.')
  }
} finally {
  await programs.remove()
}

async function measureAll(): Promise<Figure[]> {
  const bench: Bench = {
    programs,
    times: (usually, quick) => (isQuick ? quick : usually),
    async withService(delayMs, work, pages) {
      const { certificate } = programs
      const service = programs.start<ServiceReport>('service', { delayMs, pages, certificate })
      try {
        const { endpoint } = await service.next()
        return await work({ endpoint, takeTimeline: async () => (await service.ask()).timeline })
      } finally {
        await service.end()
      }
    },
  }
  const figures: Figure[] = []
  for (const [name, measure] of Object.entries(MEASURES)) {
    if (!isMeasured(name)) continue
    const start = performance.now()
    figures.push(...(await measure(bench)).map(finding => figureOf(name, finding)))
    console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(0)} s`)
  }
  return figures
}
