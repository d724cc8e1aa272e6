import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's root, which every script runs in. */
export const ROOT = fileURLToPath(new URL('../', import.meta.url))

const VERIFY_TOOLS = join(ROOT, 'tools', 'verify')
const windows = process.platform === 'win32'

/** How a command ended: its exit code, and what it wrote where that was asked for. */
export interface CommandResult {
  code: number
  output: string
}

/**
 * Installs the tools that only `npm run verify` and its parts need, unless they stand there as their lock file says.
 *
 * @throws {Error} when `npm ci` fails
 */
export function ensureVerifyTools(): void {
  const lock = readFileSync(join(VERIFY_TOOLS, 'package-lock.json'), 'utf8')
  const installedLock = join(VERIFY_TOOLS, 'node_modules', '.installed-lock.json')
  if (existsSync(installedLock) && readFileSync(installedLock, 'utf8') === lock) return
  console.error('Installing the tools in tools/verify (once).')
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: VERIFY_TOOLS,
    stdio: ['ignore', 2, 2],
    shell: windows,
  })
  writeFileSync(installedLock, lock)
}

/** The path of a tool's command in tools/verify, installed when it is missing. */
export function verifyTool(name: string): string {
  ensureVerifyTools()
  return join(VERIFY_TOOLS, 'node_modules', '.bin', windows ? `${name}.cmd` : name)
}

/** The path of a command of the repository's own `node_modules`. */
export function ownTool(name: string): string {
  return join(ROOT, 'node_modules', '.bin', windows ? `${name}.cmd` : name)
}

/** How a command is run. */
export interface RunOptions {
  /** The folder it runs in. @default the root */
  cwd?: string
  /** Keeps what it writes instead of showing it. @default false */
  capture?: boolean
  /** What it reads. @default nothing */
  input?: string
  /** Ends it after this many milliseconds, as a failure. @default no limit */
  timeoutMs?: number
}

/** Runs a command to its end. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): CommandResult {
  const output = options.capture ? 'pipe' : 'inherit'
  const result = spawnSync(command, args, {
    cwd: options.cwd ?? ROOT,
    encoding: 'utf8',
    input: options.input ?? '',
    maxBuffer: 1 << 26,
    shell: windows,
    stdio: ['pipe', output, output],
    timeout: options.timeoutMs,
  })
  if (result.error) throw result.error
  return { code: result.status ?? 1, output: options.capture ? result.stdout + result.stderr : '' }
}

/** Runs a command, and throws with what it wrote when it fails. */
export function runOrThrow(command: string, args: readonly string[], options: RunOptions = {}): string {
  const { code, output } = run(command, args, { ...options, capture: true })
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} failed with ${code}.\n${output}`)
  return output
}
