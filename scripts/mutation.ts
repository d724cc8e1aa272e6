// Changes the code a little, one place at a time, and says which changes no test notices.
// `npm run mutation -- scopes codec` tries two areas, `npm run mutation -- --all` every one and writes the scores into the
// table of docs/mutation.md; `--fresh` forgets earlier results.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCommandLine, UsageError } from './command-line.ts'
import { AREAS } from './mutation/areas.ts'
import { ensureFolder, ownTool, ROOT, run } from './tools.ts'

/** The least share of changes, in percent, that the tests of an area have to notice. */
const LEAST_SCORE = 85

const CACHE = join('.cache', 'mutation')

/** The part of Stryker's report that is read here. */
interface MutationReport {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>
}

/** How many changes there were, and how many of them the tests noticed. */
interface Score {
  readonly area: string
  readonly mutants: number
  readonly noticed: number
}

const { all, fresh, named } = readCommandLine(
  {
    name: 'mutation',
    about:
      'Changes the code a little, one place at a time, and says which changes no test notices. See docs/mutation.md.',
    words: { name: 'AREA', help: `areas to try: ${Object.keys(AREAS).join(', ')}` },
    options: {
      all: { type: 'boolean', help: 'tries every area, and writes the scores into docs/mutation.md' },
      fresh: { type: 'boolean', help: 'forgets earlier results' },
    },
  },
  ({ values, words: named }) => {
    const unknown = named.find(name => !Object.hasOwn(AREAS, name))
    if (unknown !== undefined) throw new UsageError(`There is no area "${unknown}".`)
    if (values.all === named.length > 0) throw new UsageError('Name areas, or use --all.')
    return { ...values, named }
  },
)

const scores: Score[] = []
for (const [name, { files }] of Object.entries(AREAS)) {
  if (named.length > 0 && !named.includes(name)) continue
  console.log(`\n── ${name}`)
  if (!(await mutate(name, files))) process.exitCode = 1
  const report = join(ROOT, CACHE, name, 'report.json')
  if (existsSync(report)) scores.push(readScore(name, files, JSON.parse(readFileSync(report, 'utf8'))))
}
if (all) writeScores(scores)

/** Replaces the figures in the table of docs/mutation.md. Its other columns stay. */
function writeScores(scores: readonly Score[]): void {
  const path = join(ROOT, 'docs', 'mutation.md')
  const lines = readFileSync(path, 'utf8').split('\n')
  for (const { area, mutants, noticed } of scores) {
    const figures = ` ${mutants} | ${noticed} | ${((100 * noticed) / mutants).toFixed(1)} % `
    const at = lines.findIndex(line => line.startsWith(`| ${area} |`))
    const cells = lines[at]?.split('|')
    if (cells) lines[at] = [...cells.slice(0, 3), figures, ...cells.slice(6)].join('|')
  }
  writeFileSync(path, lines.join('\n'))
}

/** Runs Stryker over one area, which prints the changes that no test noticed. @returns whether the score suffices */
async function mutate(name: string, files: readonly string[]): Promise<boolean> {
  const folder = join(ROOT, CACHE, name)
  mkdirSync(folder, { recursive: true })
  const report = join(folder, 'report.json')
  const incrementalFile = join(folder, 'incremental.json')
  rmSync(report, { force: true })
  if (fresh) rmSync(incrementalFile, { force: true })
  const config = join(folder, 'stryker.json')
  writeFileSync(config, JSON.stringify(strykerOptions(files, { report, incrementalFile }), null, 2))
  const { code } = await run(ownTool('stryker', ensureFolder('tools')), ['run', config], {
    // Every run of a property test tries the same values, so that a score can be repeated.
    env: { MUTATION_AREA: name, PROPERTY_SEED: process.env['PROPERTY_SEED'] ?? '1' },
  })
  return code === 0
}

function strykerOptions(files: readonly string[], paths: { report: string; incrementalFile: string }) {
  return {
    mutate: files,
    testRunner: 'vitest',
    vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    // The tests of an area take a second; a machine that is shared has better use for its other processors.
    concurrency: 1,
    incremental: true,
    incrementalFile: paths.incrementalFile,
    reporters: ['json', 'clear-text', 'progress-append-only'],
    clearTextReporter: { logTests: false, reportTests: false },
    thresholds: { high: 100, low: LEAST_SCORE, break: LEAST_SCORE },
    logLevel: 'warn',
    // A slow run on a busy machine must not count as one that never ends.
    timeoutMS: 20_000,
    jsonReporter: { fileName: paths.report },
    tempDirName: join(CACHE, 'sandbox'),
    ignorePatterns: [
      '**',
      '!package.json',
      '!tsconfig*.json',
      '!packages/*/package.json',
      '!packages/*/{src,test,fixtures}/**',
      '!scripts/**',
    ],
    // Vitest strips types without a look at them.
    disableTypeChecks: false,
    allowConsoleColors: false,
  }
}

/**
 * Mutants that cannot run at all say nothing about the tests and are left out, as in Stryker's own score; so are files of
 * earlier runs that no longer belong to the area.
 */
function readScore(area: string, files: readonly string[], report: MutationReport): Score {
  const statuses = files.flatMap(file => report.files[file]?.mutants.map(({ status }) => status) ?? [])
  const count = (...counted: readonly string[]) => statuses.filter(status => counted.includes(status)).length
  const noticed = count('Killed', 'Timeout')
  return { area, mutants: noticed + count('Survived', 'NoCoverage'), noticed }
}
