// Simulates clients that lose the service together: `npm run storm`, with `-- --seed N` or `-- --clients N`.
import { writeFileSync } from 'node:fs'
import { readCommandLine, wholeNumber } from '../../../scripts/command-line.ts'
import { replaceBlock, repositoryFile } from './report/document.ts'
import { stormChart } from './storm/chart.ts'
import { compareStorms, SETTLED_S, type StormFigures } from './storm/figures.ts'

const DEFAULTS = { clients: '1000000', seed: '1' }
const { clients, seed } = readCommandLine(
  {
    name: 'storm',
    about: 'Simulates clients that lose the service together. See docs/endurance.md.',
    options: {
      clients: { type: 'string', default: DEFAULTS.clients, help: 'clients' },
      seed: { type: 'string', default: DEFAULTS.seed, help: 'seed of the simulation' },
    },
  },
  ({ values }) => ({ clients: wholeNumber('clients', values.clients, 1), seed: wholeNumber('seed', values.seed) }),
)
const conditions = { clients, seed, outageMs: 120_000, acceptedPerSecond: 50_000 }

const { withJitter, withoutJitter } = compareStorms(conditions)
const table = describe(withoutJitter.figures, withJitter.figures)
console.log(table)
// Other clients or another seed do not replace the figures in the document.
if (`${clients}` === DEFAULTS.clients && `${seed}` === DEFAULTS.seed) {
  const result = { conditions, withJitter: withJitter.figures, withoutJitter: withoutJitter.figures }
  writeFileSync(repositoryFile('verify/bench/storm.json'), `${JSON.stringify(result, null, 2)}\n`)
  const panels = [
    { title: 'Without jitter', colour: 'without', perSecond: withoutJitter.perSecond },
    { title: 'With the policy of the client', colour: 'with', perSecond: withJitter.perSecond },
  ] as const
  writeFileSync(repositoryFile('docs/storm.svg'), stormChart(panels, conditions.outageMs / 1000))
  replaceBlock('docs/endurance.md', 'storm', table)
  console.log('\nWritten to bench/storm.json, docs/storm.svg and docs/endurance.md.')
}

function describe(without: StormFigures, policy: StormFigures): string {
  const rows: [string, (figures: StormFigures) => number, string][] = [
    ['Highest rate in a tenth of a second', figures => figures.peakRate, ' attempts/s'],
    ['Most attempts in a second', figures => figures.peakPerSecond, ''],
    [`Most attempts in a second, after ${SETTLED_S} s`, figures => figures.settledPeakPerSecond, ''],
    ['Attempts until all are connected', figures => figures.attempts, ''],
    ['Half of the clients connected after', figures => figures.halfBackS, ' s'],
    ['99 % connected after', figures => figures.mostBackS, ' s'],
    ['All connected after', figures => figures.allBackS, ' s'],
  ]
  const cell = (value: number, unit: string) => `${value.toLocaleString('en')}${unit}`
  return [
    '| | Without jitter | Policy of the client |',
    '|---|---|---|',
    ...rows.map(([name, pick, unit]) => `| ${name} | ${cell(pick(without), unit)} | ${cell(pick(policy), unit)} |`),
  ].join('\n')
}
