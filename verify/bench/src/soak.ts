// Runs many agents one after the other and at once: `npm run soak`, with `-- --cycles N` or `-- --agents N`.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { readCommandLine, wholeNumber } from '../../../scripts/command-line.ts'
import type { CyclesReport } from './programs/soak-cycles.ts'
import type { IdleReport } from './programs/soak-idle.ts'
import { buildPrograms } from './programs.ts'
import { replaceBlock, repositoryFile } from './report/document.ts'
import { machineLine } from './report/write.ts'
import { describeSoak, soakProblems } from './soak/report.ts'

const DEFAULTS = { cycles: '1000', agents: '10000' }
const { cycles, agents } = readCommandLine(
  {
    name: 'soak',
    about: 'Runs many agents one after the other and at once, and measures their memory. See docs/endurance.md.',
    options: {
      cycles: { type: 'string', default: DEFAULTS.cycles, help: 'agents one after the other' },
      agents: { type: 'string', default: DEFAULTS.agents, help: 'agents at once' },
    },
  },
  ({ values }) => ({
    cycles: wholeNumber('cycles', values.cycles, 1),
    agents: wholeNumber('agents', values.agents, 1),
  }),
)

/** Each agent has a socket in its process and one in the service's; Node raises its own limit up to the hard one. */
const needed = agents + 500
const limit = fileDescriptorLimit()
if (limit < needed) {
  console.error(
    `${agents} agents need ${needed} open files in a process, and the hard limit is ${limit}. ` +
      `Raise it (ulimit -Hn ${needed}, as an administrator), or use fewer: npm run soak -- --agents ${limit - 500}.`,
  )
  process.exit(2)
}

const WITHOUT_COMPILERS = ['--no-opt', '--no-sparkplug']
const LIMIT_MS = 20 * 60_000
const IDLE_MS = 30_000
console.log(`Soaking on ${machineLine()}. This takes a few minutes.`)
const programs = await buildPrograms()
try {
  const gc = ['--expose-gc']
  const result = {
    cycles: await withService(endpoint =>
      programs.run<CyclesReport>('soak-cycles', { endpoint, cycles }, [...gc, ...WITHOUT_COMPILERS], LIMIT_MS),
    ),
    idle: await withService(endpoint =>
      programs.run<IdleReport>('soak-idle', { endpoint, agents, idleMs: IDLE_MS }, gc, LIMIT_MS),
    ),
  }
  const table = describeSoak(result)
  console.log(`\n${table}`)
  const problems = soakProblems(result)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
  // Other amounts do not replace the figures in the document.
  else if (`${cycles}` === DEFAULTS.cycles && `${agents}` === DEFAULTS.agents) {
    const kept = { machine: machineLine(), ...result }
    writeFileSync(repositoryFile('verify/bench/soak.json'), `${JSON.stringify(kept, null, 2)}\n`)
    replaceBlock('docs/endurance.md', 'soak', `Measured on ${machineLine()}.\n\n${table}`)
    console.log('\nWritten to bench/soak.json and docs/endurance.md.')
  }
} finally {
  await programs.remove()
}

async function withService<Result>(work: (endpoint: string) => Promise<Result>): Promise<Result> {
  const service = programs.start<{ endpoint: string }>('soak-service', {})
  try {
    const { endpoint } = await service.next()
    return await work(endpoint)
  } finally {
    await service.end()
  }
}

function fileDescriptorLimit(): number {
  // Windows has no such limit.
  if (process.platform === 'win32') return Number.POSITIVE_INFINITY
  const text = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim()
  return text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text)
}
