import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

const LIMIT_MS = 10_000

/** What to tell people whose tests over Redis were skipped. */
export const HOW_TO_GET_REDIS = 'Install redis-server, or set REDIS_SERVER to its path.'

/** A Redis server of one test: on a socket in a folder of its own, reachable from this machine only, keeping nothing. */
export interface RedisServer {
  /** Path of its socket. */
  readonly path: string
  /** Ends the server as a failure would, and keeps its place. What it held is lost. */
  stop(): Promise<void>
  /** Starts it again at its place, empty. */
  start(): Promise<void>
  /** Lets it take connections and commands and answer none, or ends that. */
  freeze(frozen: boolean): void
  /** Ends it and removes its folder. */
  close(): Promise<void>
}

/**
 * Where a Redis server stands on this machine: `REDIS_SERVER`, else the first on the PATH.
 *
 * @throws {Error} when `REDIS_SERVER` names a file that is not there
 */
export function findRedis(): string | undefined {
  const named = process.env['REDIS_SERVER']
  if (named) {
    if (!existsSync(named)) throw new Error(`REDIS_SERVER names ${named}, and no file is there.`)
    return named
  }
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return folders.map(folder => join(folder, 'redis-server')).find(existsSync)
}

/** Whether tests over Redis can run here; for `describe.skipIf(!hasRedis())`. Where not, it says so in one line. */
export function hasRedis(): boolean {
  const found = findRedis() !== undefined
  if (!found) console.warn(`The tests over Redis were not run: none was found. ${HOW_TO_GET_REDIS}`)
  return found
}

/** Starts a Redis server and waits until it can be used. */
export async function startRedis(): Promise<RedisServer> {
  const program = findRedis()
  if (program === undefined) throw new Error(`No Redis was found. ${HOW_TO_GET_REDIS}`)
  const folder = await mkdtemp(join(tmpdir(), 'aiagent-redis-'))
  const path = join(folder, 'redis.sock')
  // No port at all, and nothing on disk.
  const settings = ['--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no', '--dir', folder]
  let server: ChildProcess | undefined
  const kill = () => void server?.kill('SIGKILL')
  const start = async () => {
    server = await launch(program, settings)
  }
  const stop = async () => {
    const stopped = server
    server = undefined
    if (!stopped || stopped.exitCode !== null || stopped.signalCode !== null) return
    const gone = once(stopped, 'exit')
    stopped.kill('SIGKILL')
    await gone
  }
  // A test run that ends in the middle leaves no server behind.
  process.once('exit', kill)
  await start()
  return {
    path,
    start,
    stop,
    freeze: frozen => void server?.kill(frozen ? 'SIGSTOP' : 'SIGCONT'),
    async close() {
      await stop()
      process.off('exit', kill)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Starts the program; it is ready when it says so. */
async function launch(program: string, settings: readonly string[]): Promise<ChildProcess> {
  const server = spawn(program, settings, { stdio: ['ignore', 'pipe', 'pipe'] })
  const said: string[] = []
  const end = (problem: string) => new Error(`Redis ${problem}: ${said.slice(-3).join(' ')}`)
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: server.stdout })
    lines.on('line', line => {
      said.push(line)
      if (!/ready to accept connections/i.test(line)) return
      clearTimeout(timer)
      resolve(server)
    })
    server.stderr.on('data', chunk => said.push(String(chunk)))
    server.once('error', reject)
    server.once('exit', code => reject(end(`ended with ${code}`)))
    const timer = setTimeout(() => {
      server.kill('SIGKILL')
      reject(end(`was not ready within ${LIMIT_MS} ms`))
    }, LIMIT_MS)
    server.once('exit', () => clearTimeout(timer))
  })
}
