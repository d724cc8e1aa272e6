// Copies code and output into the Markdown that shows them, and checks links and paths within the repository. `npm run docs` writes;
// with `--check` nothing is changed, and an outdated copy is a failure.
import { spawn } from 'node:child_process'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { anchorsOf, localLinks, unknownPaths } from './links.ts'
import { errorReference, pipelineReference } from './reference/errors.ts'
import { exitCodeReference } from './reference/exit-codes.ts'
import { policyHeaders } from './reference/policies.ts'
import { type SnippetSource, syncMarkdown } from './snippets.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const checkOnly = process.argv.includes('--check')

/** Files whose TypeScript is checked by another test, or is a fragment of a test. */
const LENIENT = ['CONTRIBUTING.md', 'packages/protocol/README.md', 'packages/protocol/PROTOCOL.md']

/** Texts that are written from tables of the code. */
const TABLES: Readonly<Record<string, () => string>> = {
  errors: errorReference,
  'pipeline errors': pipelineReference,
  'exit codes': exitCodeReference,
  policies: policyHeaders,
}

const source: SnippetSource = {
  readFile: path => readFile(join(root, path), 'utf8'),
  runCommand,
  table: name => {
    const table = TABLES[name]
    if (!table) throw new Error(`There is no table "${name}".`)
    return table()
  },
}

/** Names files of earlier releases, and of hosts. */
const HISTORY = ['CHANGELOG.md']

const files = await repositoryFiles()
let problemCount = 0
for (const path of await markdownFiles()) {
  const markdown = await source.readFile(path)
  const { text, problems } = await syncMarkdown(markdown, source, { strict: !LENIENT.includes(path) })
  const found = [...problems, ...(await brokenLinks(path, text))]
  if (!HISTORY.includes(path))
    found.push(...unknownPaths(text, files).map(unknown => `\`${unknown}\` names no file of the repository`))
  if (text !== markdown) {
    if (checkOnly) found.push('its copies are not up to date; run `npm run docs -- --copies`')
    else {
      await writeFile(join(root, path), text)
      console.log(`${path}: written`)
    }
  }
  for (const problem of found) console.error(`${path}: ${problem}`)
  problemCount += found.length
}
if (problemCount > 0) process.exitCode = 1
else console.log('The copies and the links in the documents are up to date.')

/** All Markdown files of the repository, except articles and installed or built ones. */
async function markdownFiles(): Promise<string[]> {
  const folders = ['', 'docs', 'docs/guide', 'examples', 'conformance', 'bench']
  for (const name of await readdir(join(root, 'packages'))) folders.push(`packages/${name}`)
  const found = await Promise.all(
    folders.map(async folder => {
      const names = await readdir(join(root, folder))
      return names.filter(name => name.endsWith('.md')).map(name => (folder ? `${folder}/${name}` : name))
    }),
  )
  return found.flat()
}

/** Paths of all files from the root, with slashes, except installed, built and cached ones. */
async function repositoryFiles(): Promise<string[]> {
  const skipped = /(?:^|\/)(?:node_modules|dist|[.]git|[.]cache)(?:\/|$)/
  const folders = [
    'packages',
    'apps',
    'conformance',
    'examples',
    'frameworks',
    'bench',
    'docs',
    'faults',
    'scripts',
    'site',
    'tools',
  ]
  const found = await Promise.all(
    folders.map(async folder => {
      const names = await readdir(join(root, folder), { recursive: true })
      return names.map(name => `${folder}/${name.split(sep).join('/')}`)
    }),
  )
  return [...(await readdir(root)), ...found.flat()].filter(path => !skipped.test(path))
}

async function brokenLinks(path: string, markdown: string): Promise<string[]> {
  const problems: string[] = []
  for (const link of localLinks(markdown)) {
    const [target = '', anchor] = decodeURI(link).split('#')
    const file = target === '' ? join(root, path) : join(root, dirname(path), target)
    const kind = await stat(file).catch(() => undefined)
    if (!kind || relative(root, file).startsWith(`..${sep}`)) problems.push(`the link to ${link} is broken`)
    else if (anchor && kind.isFile() && !anchorsOf(await readFile(file, 'utf8')).has(anchor))
      problems.push(`the link to ${link} names no heading`)
  }
  return problems
}

function runCommand(command: string): Promise<string> {
  const child = spawn(command, { cwd: root, shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let complaint = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  child.stderr.on('data', chunk => {
    complaint += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code =>
      code === 0 ? resolve(output) : reject(new Error(`${command} failed (${code}): ${complaint}`)),
    )
  })
}
