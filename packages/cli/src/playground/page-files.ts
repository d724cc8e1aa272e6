import { spawn } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { cp, mkdtemp, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The files of the playground: built, or to be built from the source of a clone. */
export interface PageFiles {
  /** Folder of the built page. */
  readonly folder: string
  /**
   * Builds the page from source where it has changed; does nothing for a packed one.
   *
   * @param onBuild called when building begins
   * @throws {Error} when it cannot be built
   */
  readonly prepare: (onBuild: () => void) => Promise<void>
}

/** Whether this file runs from source, as in a clone. */
const IS_SOURCE = import.meta.url.endsWith('.ts')

/** The playground's files; undefined where there are none. Reads no source yet, so that a command starts at once. */
export function findPageFiles(): PageFiles | undefined {
  if (!IS_SOURCE) {
    const folder = fileURLToPath(new URL('./playground/', import.meta.url))
    return existsSync(join(folder, 'index.html')) ? { folder, prepare: async () => {} } : undefined
  }
  const root = fileURLToPath(new URL('../../../../', import.meta.url))
  const source = join(root, 'apps', 'playground')
  if (!existsSync(join(source, 'vite.config.ts'))) return undefined
  const folder = join(source, 'dist')
  return {
    folder,
    prepare: async onBuild => {
      if (isUpToDate(root, folder)) return
      onBuild()
      await buildPage(findVite(), source, folder)
    },
  }
}

function findVite(): string {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin', 'vite.js')
  } catch (cause) {
    throw new Error('The playground is built with vite, which is missing. Run `npm install`.', { cause })
  }
}

/** Whether no source of the page is newer than the built one. */
function isUpToDate(root: string, folder: string): boolean {
  const built = join(folder, 'index.html')
  if (!existsSync(built)) return false
  const { mtimeMs } = statSync(built)
  const packages = ['client', 'elements', 'emulator', 'protocol'].flatMap(name => [
    join(root, 'packages', name, 'src'),
    join(root, 'packages', name, 'package.json'),
  ])
  const desk = join(root, 'packages', 'emulator', 'desk')
  const playground = ['src', 'public', 'index.html', 'login.html', 'vite.config.ts'].map(name =>
    join(root, 'apps', 'playground', name),
  )
  return [...packages, desk, ...playground].every(path => newest(path) <= mtimeMs)
}

/** The newest time of change of a file, or of the files in a folder, in milliseconds since the epoch. */
function newest(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found?.mtimeMs ?? 0
  return Math.max(0, ...readdirSync(path).map(name => newest(join(path, name))))
}

/** Builds beside the folder and exchanges the two: another process may be serving it, or building it too. */
async function buildPage(vite: string, source: string, folder: string): Promise<void> {
  const fresh = await mkdtemp(join(source, 'dist-'))
  try {
    await runVite([vite, 'build', source, '--outDir', fresh, '--logLevel', 'error'])
    await rm(folder, { recursive: true, force: true })
    await rename(fresh, folder).catch(() => cp(fresh, folder, { recursive: true }))
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

/** In a separate process: building occupies a processor, and the terminal must remain usable. */
function runVite(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    let problem = ''
    child.stderr.on('data', (data: Buffer) => (problem += data.toString()))
    child.once('error', reject)
    child.once('close', code => {
      if (code === 0) resolve()
      else reject(new Error(`The playground could not be built: ${problem.trim() || `exit code ${code}`}`))
    })
  })
}
