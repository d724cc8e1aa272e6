import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A program of an engine in its own process group. */
export class StartedProgram {
  readonly #process: ChildProcess
  #output = ''

  /** @param env added to the environment */
  constructor(path: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#process = spawn(path, args, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream?.on('data', text => {
        this.#output += text
        this.#process.emit('output')
      })
  }

  /** Waits until the output has a match, and returns its first group. */
  async printed(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.#output)?.[1]
      if (found !== undefined) return found
      if (this.#hasEnded) throw new Error(`${this.#process.spawnfile} ended: ${this.#output.slice(-500)}`)
      const waiting = new AbortController()
      const { signal } = waiting
      await Promise.race([once(this.#process, 'output', { signal }), once(this.#process, 'close', { signal })])
      waiting.abort()
    }
  }

  /** Ends it with everything that it has started. */
  async end(): Promise<void> {
    const { pid } = this.#process
    if (this.#hasEnded || pid === undefined) return
    const closed = once(this.#process, 'close')
    process.kill(-pid, 'SIGKILL')
    await closed
  }

  get #hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null
  }
}

/** A folder for what an engine writes. */
export async function createProfile(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'aiagent-engine-'))
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}
