import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FleetMetrics, RateLimit, WorkerOptions } from '@aiagent/fleet'
import { bundleForNode } from '@aiagent/test-support/node-bundle'

/** Options of a worker process. */
export interface WorkerSettings {
  readonly redis: string
  readonly name: string
  readonly endpoint: string
  readonly shards: number
  readonly worker: WorkerOptions
  readonly rateLimit?: RateLimit
}

/** What a worker process reports of itself. */
export interface WorkerReport {
  readonly metrics: FleetMetrics
  readonly memory: NodeJS.MemoryUsage
  readonly cpu: NodeJS.CpuUsage
}

/** The worker processes of a fleet. */
export class WorkerPool {
  readonly #settings: WorkerSettings
  readonly #file: string
  readonly #remove: () => Promise<void>
  readonly #workers = new Set<ChildProcess>()

  private constructor(settings: WorkerSettings, file: string, remove: () => Promise<void>) {
    this.#settings = settings
    this.#file = file
    this.#remove = remove
  }

  static async create(settings: WorkerSettings): Promise<WorkerPool> {
    const { file, remove } = await bundleForNode(fileURLToPath(new URL('./worker-process.ts', import.meta.url)))
    return new WorkerPool(settings, file, remove)
  }

  get workers(): readonly ChildProcess[] {
    return [...this.#workers]
  }

  /** Starts a process; resolves when it holds its first shards. */
  async add(): Promise<ChildProcess> {
    const worker = this.spawn()
    await once(worker, 'message')
    return worker
  }

  /** Starts a process without waiting for it. */
  spawn(): ChildProcess {
    const worker = fork(this.#file, [JSON.stringify(this.#settings)], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#workers.add(worker)
    worker.once('exit', () => this.#workers.delete(worker))
    return worker
  }

  /** Ends a process by a signal; resolves when it has ended. */
  async end(worker: ChildProcess, signal: NodeJS.Signals): Promise<void> {
    const exited = once(worker, 'exit')
    worker.kill(signal)
    await exited
  }

  /** What each process reports. */
  async reports(): Promise<WorkerReport[]> {
    return Promise.all(
      this.workers.map(async worker => {
        const told = once(worker, 'message')
        worker.send('report')
        const [report] = (await told) as [WorkerReport]
        return report
      }),
    )
  }

  async close(): Promise<void> {
    await Promise.all(this.workers.map(worker => this.end(worker, 'SIGKILL')))
    await this.#remove()
  }
}
