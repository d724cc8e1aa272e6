import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's root, which every script runs in. */
export const ROOT = fileURLToPath(new URL('../', import.meta.url))

const windows = process.platform === 'win32'

/** How a command ended: its exit code, and what it wrote where that was asked for. */
export interface CommandResult {
  code: number
  output: string
}

/**
 * Installs what the lock file of a folder lists, unless it is installed.
 *
 * @param name of the folder in the root
 * @returns its path
 * @throws {Error} when `npm ci` fails
 */
export function ensureFolder(name: 'site' | 'tools' | 'verify/frameworks'): string {
  const folder = join(ROOT, name)
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const installedLock = join(folder, 'node_modules', '.installed-lock.json')
  if (existsSync(installedLock) && readFileSync(installedLock, 'utf8') === lock) return folder
  console.error(`Installing the packages of ${name} (once).`)
  // A tool of this process, such as vite, may have set NODE_ENV to `production`, with which npm leaves out what is for development.
  execFileSync('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    shell: windows,
  })
  writeFileSync(installedLock, lock)
  return folder
}

/** The path of a command in `node_modules` of the root, or of a folder that `ensureFolder()` has returned. */
export function ownTool(name: string, folder = ROOT): string {
  return join(folder, 'node_modules', '.bin', windows ? `${name}.cmd` : name)
}

/** How a command is run. */
export interface RunOptions {
  /** The folder it runs in. @default the root */
  cwd?: string
  /** Keeps what it writes instead of showing it. @default false */
  capture?: boolean
  /** What it reads. @default nothing */
  input?: string
  /** Variables added to the environment. @default none */
  env?: Readonly<Record<string, string>>
  /** Ends it after this many milliseconds, as a failure. @default no limit */
  timeoutMs?: number
}

/** Runs a command to its end. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
  const outputMode = options.capture ? 'pipe' : 'inherit'
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? ROOT,
      shell: windows,
      ...(options.env && { env: { ...process.env, ...options.env } }),
      stdio: [options.input === undefined ? 'ignore' : 'pipe', outputMode, outputMode],
      ...(options.timeoutMs !== undefined && { timeout: options.timeoutMs }),
    })
    let output = ''
    const collect = (chunk: string) => {
      output += chunk
    }
    child.stdout?.setEncoding('utf8').on('data', collect)
    child.stderr?.setEncoding('utf8').on('data', collect)
    child.stdin?.end(options.input)
    child.once('error', reject)
    child.once('close', (code, signal) =>
      resolve({ code: code ?? 1, output: output + (signal ? `\nEnded by ${signal}.` : '') }),
    )
  })
}

/** Runs a command, and throws with what it wrote when it fails. */
export async function runOrThrow(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, output } = await run(command, args, { ...options, capture: true })
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} failed with ${code}.\n${output}`)
  return output
}

/** Adds packages to the project in a folder, by default those of its manifest, without what a user would see. */
export async function npmInstall(cwd: string, packages: readonly string[] = [], options: readonly string[] = []) {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  await runOrThrow('npm', ['install', ...packages, ...quiet, ...options], { cwd })
}

/** One command to run beside others. */
export interface NamedCommand {
  name: string
  command: string
  args: readonly string[]
  /** The folder it runs in. @default the root */
  cwd?: string
}

/**
 * Runs commands side by side, as many as there are processors, and shows what a failed one wrote, each as one piece.
 *
 * @returns whether all ended with code 0
 */
export async function runTogether(commands: readonly NamedCommand[]): Promise<boolean> {
  const waiting = [...commands]
  let allPassed = true
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { name, command, args, cwd = ROOT } = next
      const { code, output } = await run(command, args, { cwd, capture: true })
      if (code === 0) continue
      allPassed = false
      console.error(`${name} failed:\n${output}`)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return allPassed
}
