// Fuzzes inbound frames, REST bodies and the Markdown of answers: `npm run fuzz -- --runs N [--seed S]`. See docs/faults.md.
import { readCommandLine, wholeNumber } from '../../../scripts/command-line.ts'
import { MAX_HEAP_GROWTH } from './fuzz/fuzz-result.ts'
import { runFuzz } from './fuzz/run-fuzz.ts'

const options = readCommandLine(
  {
    name: 'fuzz',
    about: 'Gives a client mutated frames and REST bodies, and renders generated Markdown. See docs/faults.md.',
    options: {
      runs: { type: 'string', default: '10000', help: 'inputs of each kind' },
      seed: { type: 'string', default: '1', help: 'seed of the mutations' },
    },
  },
  ({ values }) => ({ inputs: wholeNumber('runs', values.runs, 1), seed: wholeNumber('seed', values.seed) }),
)
const HOUR_MS = 3_600_000
/** A kind of Markdown takes as long as many frames. */
const INPUTS_FOR_MARKDOWN = 20

for (const kind of ['frames', 'bodies', 'Markdown'] as const) {
  const start = performance.now()
  const inputsOf = kind === 'Markdown' ? Math.ceil(options.inputs / INPUTS_FOR_MARKDOWN) : options.inputs
  const job = { kind, seed: options.seed, inputs: inputsOf }
  const { agents, heapGrowth, inputs, problems } = await runFuzz(job, HOUR_MS)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const megabytes = (heapGrowth / 1024 / 1024).toFixed(1)
  console.log(
    `${kind}: ${inputs} inputs, ${agents} agents, ${problems.length} problems, heap ${megabytes} MiB more, ${seconds} s`,
  )
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`)
  if (problems.length > 0 || heapGrowth > MAX_HEAP_GROWTH) process.exitCode = 1
}
