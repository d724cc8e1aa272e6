import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

const LIMIT_MS = 10_000

/** Tells the reader of a skipped test how to run it. */
export const HOW_TO_GET_REDIS = 'Install redis-server, or set REDIS_SERVER to its path.'

/** The Redis server of one test: on a Unix socket in a temporary folder, without a port and without a file on disk. */
export interface RedisServer {
  /** Path of its socket. */
  readonly path: string
  /** Kills the server and keeps its socket path. Its data is lost. */
  stop(): Promise<void>
  /** Starts it again on the same path, empty. */
  start(): Promise<void>
  /** Suspends the server, so that it accepts connections and answers nothing, or resumes it. */
  freeze(frozen: boolean): void
  /** Ends it and removes its folder. */
  close(): Promise<void>
}

/**
 * The path of the Redis server program: `REDIS_SERVER`, else the first `redis-server` on the PATH.
 *
 * @throws {Error} when `REDIS_SERVER` names a missing file
 */
export function findRedis(): string | undefined {
  const named = process.env['REDIS_SERVER']
  if (named) {
    if (!existsSync(named)) throw new Error(`REDIS_SERVER names ${named}, which does not exist.`)
    return named
  }
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return folders.map(folder => join(folder, 'redis-server')).find(existsSync)
}

/** Whether a Redis server is installed, for `describe.skipIf(!hasRedis())`. Prints one line if it is not. */
export function hasRedis(): boolean {
  const found = findRedis() !== undefined
  if (!found) console.warn(`Skipped the tests over Redis: no redis-server was found. ${HOW_TO_GET_REDIS}`)
  return found
}

/**
 * Starts a Redis server and waits until it accepts connections.
 *
 * A watcher process kills it and removes its folder when this process dies, even by SIGKILL.
 *
 * @param more further settings, such as `['--port', '7001']`
 */
export async function startRedis(more: readonly string[] = []): Promise<RedisServer> {
  const program = findRedis()
  if (program === undefined) throw new Error(`No Redis was found. ${HOW_TO_GET_REDIS}`)
  const folder = await mkdtemp(join(tmpdir(), 'aiagent-redis-'))
  const path = join(folder, 'redis.sock')
  const settings = ['--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no', '--dir', folder, ...more]
  let running: { server: ChildProcess; watcher: ChildProcess } | undefined
  const start = async () => {
    const server = spawn(program, settings, { stdio: ['ignore', 'pipe', 'pipe'] })
    running = { server, watcher: watch(server, folder) }
    await untilReady(server)
  }
  const stop = async () => {
    const stopped = running
    running = undefined
    if (!stopped) return
    // The watcher ends first: afterwards the process id may belong to another program.
    await kill(stopped.watcher)
    await kill(stopped.server)
  }
  await start()
  return {
    path,
    start,
    stop,
    freeze: frozen => void running?.server.kill(frozen ? 'SIGSTOP' : 'SIGCONT'),
    async close() {
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Starts a process that reads from a pipe of this one, whose end is the death of this process. */
function watch(server: ChildProcess, folder: string): ChildProcess {
  const script = 'cat >/dev/null; kill -9 "$1" 2>/dev/null; rm -rf "$2"'
  return spawn('/bin/sh', ['-c', script, 'watch-redis', String(server.pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A signal to the process group of a test run, such as that of Ctrl+C, does not reach it.
    detached: true,
  })
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** Resolves when the server reports that it accepts connections. */
async function untilReady(server: ChildProcessByStdio<null, Readable, Readable>): Promise<void> {
  const output: string[] = []
  const failure = (problem: string) => new Error(`Redis ${problem}: ${output.slice(-3).join(' ')}`)
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      server.kill('SIGKILL')
      reject(failure(`was not ready within ${LIMIT_MS} ms`))
    }, LIMIT_MS)
    createInterface({ input: server.stdout }).on('line', line => {
      output.push(line)
      if (!/ready to accept connections/i.test(line)) return
      clearTimeout(timer)
      resolve()
    })
    server.stderr.on('data', chunk => output.push(String(chunk)))
    server.once('error', reject)
    server.once('exit', code => {
      clearTimeout(timer)
      reject(failure(`ended with ${code}`))
    })
  })
}
