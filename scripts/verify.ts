// Everything to run before sharing work, in order, with one table at the end: `npm run verify`.
// `npm run verify -- --without test` leaves a step out. The exit code is the number of failed steps.
import { readCommandLine, UsageError } from './command-line.ts'
import { run } from './tools.ts'

/** Scripts of package.json, each with its arguments. What needs the build comes after it. */
const STEPS: readonly (readonly [name: string, ...args: string[]])[] = [
  ['check'],
  ['types'],
  ['test'],
  ['pages'],
  ['faults', '--runs', '300', '--proxied-runs', '30', '--workers', '2', '--max-seconds', '80'],
  ['faults', '--planted', '--runs', '400'],
  ['fuzz', '--runs', '3000'],
  ['tabs', '--runs', '20', '--max-seconds', '80'],
  ['fleet', '--campaign', '--conversations', '60', '--minutes', '0.2', '--per-second', '30'],
  ['breadth'],
  ['examples'],
  ['docs', '--check'],
  ['build'],
  ['conformance', '--built', '--weather', 'drawn'],
  ['size'],
  ['api', '--check'],
  ['knip'],
  ['packages'],
  ['frameworks'],
  ['site'],
]

const left = readCommandLine(
  {
    name: 'verify',
    about: 'Runs everything that must pass before work is shared. The exit code is the number of failed steps.',
    words: { name: 'STEP', help: 'further steps to leave out, after --without' },
    options: {
      without: {
        type: 'string',
        multiple: true,
        value: 'STEP',
        help: `leaves a step out: ${STEPS.map(([name]) => name).join(', ')}`,
      },
    },
  },
  ({ values: { without }, words }) => {
    const [first] = words
    if (without.length === 0 && first !== undefined) throw new UsageError(`Unexpected argument "${first}".`)
    const left = [...without, ...words]
    const unknown = left.find(name => STEPS.every(([step]) => step !== name))
    if (unknown !== undefined) throw new UsageError(`There is no step "${unknown}".`)
    return left
  },
)

const results: { name: string; passed: boolean; seconds: number }[] = []
for (const [name, ...args] of STEPS.filter(([name]) => !left.includes(name))) {
  console.log(`\n── ${name}`)
  const start = performance.now()
  const { code } = await run('npm', ['run', '--silent', name, ...(args.length > 0 ? ['--', ...args] : [])])
  results.push({ name, passed: code === 0, seconds: (performance.now() - start) / 1000 })
}

console.log('\n── verify')
for (const { name, passed, seconds } of results)
  console.log(`${passed ? 'passed' : 'FAILED'}  ${name.padEnd(14)} ${seconds.toFixed(1).padStart(6)} s`)
process.exitCode = results.filter(({ passed }) => !passed).length
