// Runs every example in its own process, as many at a time as there are processors: `npm run -w examples all`.
// Fails if one of them fails or does not exit within the limit; with REQUIRE_ALL_TESTS, also if one is skipped.

import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleForNode } from '@aiagent/test-support/node-bundle'
import { readCommandLine } from '../scripts/command-line.ts'

/** Time limit of one example, in milliseconds. The slowest takes two seconds on an idle machine. */
const LIMIT_MS = 60_000

/** Files that are not programs. */
const HELPERS = ['next-event.ts', 'run-all.ts']

/** What a program prints first where this machine lacks what it needs. */
const SKIPPED = /^Skipped: .+/

interface Outcome {
  readonly code: number | null
  readonly timedOut: boolean
  readonly output: string
  readonly seconds: number
}

readCommandLine({ name: 'examples', about: 'Runs every example in its own process.', options: {} })

const folder = fileURLToPath(new URL('.', import.meta.url))
const programs = (await readdir(folder)).filter(name => name.endsWith('.ts') && !HELPERS.includes(name)).sort()
if (programs.length === 0) throw new Error(`No example in ${folder}.`)

// Compiled once for all, but for those that start a TypeScript source themselves: they run as the README says.
const sources = await Promise.all(programs.map(program => readFile(join(folder, program), 'utf8')))
const starting = programs.filter((_program, index) => sources[index]?.includes("'node:child_process'"))
const [first = '', ...others] = programs.filter(program => !starting.includes(program))
const bundle = await bundleForNode(join(folder, first), {
  others: others.map(program => join(folder, program)),
})

let failed = 0
const waiting = [...programs]
await Promise.all(Array.from({ length: availableParallelism() }, runWaiting))
await bundle.remove()
console.log(`${programs.length - failed} examples passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

/** Runs one program after the other, until none waits. */
async function runWaiting(): Promise<void> {
  for (let program = waiting.shift(); program !== undefined; program = waiting.shift()) {
    const { code, timedOut, output, seconds } = await run(program)
    const [skipped] = SKIPPED.exec(output) ?? []
    const passed = code === 0 && !timedOut && !(skipped && process.env['REQUIRE_ALL_TESTS'])
    if (!passed) failed++
    const problem = timedOut ? ` (still running after ${LIMIT_MS / 1000} s)` : skipped ? ` ${skipped}` : ''
    console.log(
      `${passed ? (skipped ? 'skipped' : 'passed ') : 'FAILED '}  ${program.padEnd(26)} ${seconds.toFixed(1).padStart(5)} s${problem}`,
    )
    if (!passed) console.log(output)
  }
}

function run(program: string): Promise<Outcome> {
  const start = performance.now()
  const args = starting.includes(program)
    ? ['--conditions=@aiagent/source', '--import', 'tsx', program]
    : [join(bundle.folder, program.replace(/ts$/, 'mjs'))]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  return new Promise((resolve, reject) => {
    let output = ''
    let timedOut = false
    const collect = (chunk: Buffer) => {
      output += chunk.toString()
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    const timer = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
    }, LIMIT_MS)
    child.on('error', reject)
    child.on('close', code => {
      clearTimeout(timer)
      resolve({ code, timedOut, output, seconds: (performance.now() - start) / 1000 })
    })
  })
}
