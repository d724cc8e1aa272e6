// Changes the code a little, one place at a time, and says which changes no test notices.
// `npm run mutation -- scopes codec` tries two areas, `npm run mutation -- --all` every one and writes the scores into the
// table of docs/mutation.md; `--fresh` forgets earlier results.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCommandLine, UsageError } from './command-line.ts'
import { AREAS, type MutationArea } from './mutation/areas.ts'
import { mutationTool, ROOT, run } from './tools.ts'

/** The least share of changes, in percent, that the tests of an area have to notice. */
const LEAST_SCORE = 85

const CACHE = join('.cache', 'mutation')

/** The part of Stryker's report that is read here. */
interface MutationReport {
  files: Record<
    string,
    {
      source: string
      mutants: {
        mutatorName: string
        replacement?: string
        status: string
        location: { start: { line: number; column: number }; end: { line: number; column: number } }
      }[]
    }
  >
}

interface Score {
  area: string
  mutants: number
  noticed: number
  survivors: string[]
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

const missing = Object.values(AREAS).flatMap(({ files }) => files.filter(file => !existsSync(join(ROOT, file))))
if (missing.length > 0) throw new Error(`scripts/mutation/areas.ts names missing files: ${missing.join(', ')}.`)

const scores: (Score | undefined)[] = []
for (const [name, area] of Object.entries(AREAS)) {
  if (named.length > 0 && !named.includes(name)) continue
  console.log(`\n── ${name}`)
  const score = await mutate(name, area)
  scores.push(score)
  for (const survivor of score?.survivors ?? []) console.log(survivor)
}

console.log('\n── mutation')
for (const { area, mutants, noticed, survivors } of scores.filter(score => score !== undefined)) {
  const verdict = percent(noticed, mutants) >= LEAST_SCORE ? 'passed' : 'FAILED'
  const figures = `${noticed} of ${mutants} noticed, ${percent(noticed, mutants).toFixed(1)} %`
  console.log(`${verdict}  ${area.padEnd(16)} ${figures}, ${survivors.length} left`)
}
if (scores.some(score => !score || percent(score.noticed, score.mutants) < LEAST_SCORE)) process.exitCode = 1

if (all) writeScores(scores.filter(score => score !== undefined))

/** Replaces the figures in the table of docs/mutation.md, and adds a row for a new area. Its other columns stay. */
function writeScores(scores: readonly Score[]): void {
  const path = join(ROOT, 'docs', 'mutation.md')
  const lines = readFileSync(path, 'utf8').split('\n')
  for (const { area, mutants, noticed } of scores) {
    const figures = ` ${mutants} | ${noticed} | ${percent(noticed, mutants).toFixed(1)} % `
    const at = lines.findIndex(line => line.startsWith(`| ${area} |`))
    const cells = lines[at]?.split('|')
    if (cells) lines[at] = [...cells.slice(0, 3), figures, ...cells.slice(6)].join('|')
    else {
      const files = AREAS[area]?.files.map(file => `\`${file.replace(/^packages\/client\/src\//, '')}\``).join(', ')
      lines.splice(
        lines.findLastIndex(line => /^\| [a-z-]+ \| `/.test(line)) + 1,
        0,
        `| ${area} | ${files} |${figures}| |`,
      )
    }
  }
  writeFileSync(path, lines.join('\n'))
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : (100 * part) / whole
}

/** Runs Stryker over one area. @returns nothing where it could not finish */
async function mutate(name: string, { files }: MutationArea): Promise<Score | undefined> {
  const folder = join(ROOT, CACHE, name)
  mkdirSync(folder, { recursive: true })
  const report = join(folder, 'report.json')
  const incrementalFile = join(folder, 'incremental.json')
  rmSync(report, { force: true })
  if (fresh) rmSync(incrementalFile, { force: true })
  const config = join(folder, 'stryker.json')
  writeFileSync(config, JSON.stringify(strykerOptions(files, { report, incrementalFile }), null, 2))
  const { code } = await run(mutationTool('stryker'), ['run', config], {
    // Every run of a property test tries the same values, so that a score can be repeated.
    env: { MUTATION_AREA: name, PROPERTY_SEED: process.env['PROPERTY_SEED'] ?? '1' },
  })
  if (existsSync(report)) return readScore(name, files, JSON.parse(readFileSync(report, 'utf8')))
  console.error(`Stryker ended with ${code} and without a report.`)
  return undefined
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
    reporters: ['json', 'progress-append-only'],
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
  const score: Score = { area, mutants: 0, noticed: 0, survivors: [] }
  for (const [file, { source, mutants }] of Object.entries(report.files)) {
    if (!files.includes(file)) continue
    const lines = source.split('\n')
    for (const { mutatorName, replacement = '', status, location } of mutants) {
      if (!['Killed', 'Timeout', 'Survived', 'NoCoverage'].includes(status)) continue
      score.mutants += 1
      if (status === 'Killed' || status === 'Timeout') {
        score.noticed += 1
        continue
      }
      const { start, end } = location
      const line = lines[start.line - 1] ?? ''
      const original = start.line === end.line ? line.slice(start.column - 1, end.column - 1) : `${line.trim()} …`
      const where = `${file}:${start.line}:${start.column}`
      score.survivors.push(`  ${where} ${mutatorName} (${status})\n    - ${original}\n    + ${oneLine(replacement)}`)
    }
  }
  return score
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 160)
}
