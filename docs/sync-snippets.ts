/*
 * Copies code and output into the Markdown that shows them, and checks links and paths within the repository. A comment before a
 * block names its source:
 *
 *   <!-- snippet: examples/hello.ts main -->     the lines between `// #region main` and `// #endregion`, or the whole file
 *   <!-- output: npm start --silent -- --help --> what the command prints
 *
 * Text that is written from the tables of the code stands between `<!-- table: policies -->` and `<!-- end of table -->`.
 */
import { execSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { anchorsOf, localLinks, unknownPaths } from './links.ts'
import { documents } from './listings.ts'
import { exitCodeReference } from './reference/exit-codes.ts'
import { policyHeaders } from './reference/policies.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const checkOnly = process.argv.includes('--check')

/** Files whose TypeScript is checked by another test, or is a fragment of a test. */
const LENIENT = ['CONTRIBUTING.md', 'packages/protocol/README.md', 'packages/protocol/PROTOCOL.md']

/** Names files of earlier releases, and of hosts. */
const HISTORY = ['CHANGELOG.md']

/** Texts that are written from tables of the code. */
const TABLES: Readonly<Record<string, () => string>> = { 'exit codes': exitCodeReference, policies: policyHeaders }

/** A block of code, with the marker before it. */
const BLOCK = /^(?:<!-- (snippet|output): (.+?) -->\n+)?(`{3,})(\S*)\n([\s\S]*?)^\3$/gm
const TABLE = /^(<!-- table: (.+?) -->\n)[\s\S]*?^<!-- end of table -->$/gm
/** A marker or a fence that belongs to no block. */
const LEFT_OVER = /^(?:<!-- (?:snippet|output|table): .+ -->|`{3,}.*)$/gm
const REGION_MARK = /^\s*\/\/ #(?:end)?region\b/

const files = repositoryFiles()
let problemCount = 0
for (const path of documents(root)) {
  const markdown = readFileSync(join(root, path), 'utf8')
  const problems: string[] = []
  const text = syncMarkdown(markdown, !LENIENT.includes(path), problems)
  problems.push(...brokenLinks(path, text))
  if (!HISTORY.includes(path))
    problems.push(...unknownPaths(text, files).map(unknown => `\`${unknown}\` names no file of the repository`))
  if (text !== markdown) {
    if (checkOnly) problems.push('its copies are not up to date; run `npm run docs -- --copies`')
    else {
      writeFileSync(join(root, path), text)
      console.log(`${path}: written`)
    }
  }
  for (const problem of problems) console.error(`${path}: ${problem}`)
  problemCount += problems.length
}
if (problemCount > 0) process.exitCode = 1
else console.log('The copies and the links in the documents are up to date.')

/** Replaces the content of each marked block by its source. In a strict document TypeScript without a marker is a problem. */
function syncMarkdown(markdown: string, isStrict: boolean, problems: string[]): string {
  const left = markdown.replace(BLOCK, '').replace(TABLE, '').match(LEFT_OVER) ?? []
  problems.push(...left.map(line => `\`${line}\` belongs to no block, or its end is missing`))
  return markdown
    .replace(TABLE, (whole, start: string, name: string) => {
      const table = TABLES[name]?.()
      if (table === undefined) problems.push(`there is no table "${name}"`)
      return table === undefined ? whole : `${start}\n${table}\n\n<!-- end of table -->`
    })
    .replace(BLOCK, (whole, kind: string | undefined, target = '', ticks: string, language: string, code: string) => {
      if (kind === undefined) {
        if (isStrict && language === 'ts')
          problems.push(`this TypeScript is not a copy of a running file; give it a marker:\n${code}`)
        return whole
      }
      try {
        const copy = kind === 'output' ? outputOf(target) : snippetOf(target)
        return `${whole.slice(0, whole.indexOf(`${ticks}${language}\n`))}${ticks}${language}\n${copy}\n${ticks}`
      } catch (error) {
        problems.push(`${target}: ${error instanceof Error ? error.message : String(error)}`)
        return whole
      }
    })
}

function outputOf(command: string): string {
  return execSync(command, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd()
}

/** The text of a file, or of one of its regions, without region marks, outer blank lines and common indentation. */
function snippetOf(target: string): string {
  const [path = '', name] = target.split(' ')
  let lines = readFileSync(join(root, path), 'utf8').split('\n')
  if (name !== undefined) {
    const start = lines.findIndex(line => line.trim() === `// #region ${name}`)
    const end = lines.findIndex((line, index) => index > start && line.trim() === '// #endregion')
    if (start === -1 || end === -1) throw new Error(`unknown region "${name}"`)
    lines = lines.slice(start + 1, end)
  }
  const kept = lines.filter(line => !REGION_MARK.test(line))
  const indent = Math.min(...kept.filter(line => line.trim() !== '').map(line => line.search(/\S/)))
  return kept
    .map(line => line.slice(indent))
    .join('\n')
    .replace(/^\n+|\s+$/g, '')
}

/** Paths of all files from the root, with slashes, except installed, built and cached ones. */
function repositoryFiles(): string[] {
  const skipped = /(?:^|\/)(?:node_modules|dist|[.]git|[.]cache)(?:\/|$)/
  const folders = ['packages', 'apps', 'examples', 'verify', 'docs', 'scripts', 'site', 'tools']
  const found = folders.flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(name => join(folder, name)),
  )
  return [...readdirSync(root), ...found].map(path => path.split(sep).join('/')).filter(path => !skipped.test(path))
}

function brokenLinks(path: string, markdown: string): string[] {
  return localLinks(markdown).flatMap(link => {
    const [target = '', anchor] = decodeURI(link).split('#')
    const file = target === '' ? join(root, path) : join(root, dirname(path), target)
    const kind = statSync(file, { throwIfNoEntry: false })
    if (!kind || relative(root, file).startsWith(`..${sep}`)) return `the link to ${link} is broken`
    const isDocument = anchor !== undefined && kind.isFile()
    return isDocument && !anchorsOf(readFileSync(file, 'utf8')).has(anchor)
      ? `the link to ${link} names no heading`
      : []
  })
}
