import { fileURLToPath } from 'node:url'
import type { FleetMetrics, RateLimit, WorkerOptions } from '@aiagent/fleet'
import { ChildProgram } from '@aiagent/test-support/child-program'
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

/** What a worker process reports of itself when it holds its first shards, and whenever it is asked. */
export interface WorkerReport {
  readonly metrics: FleetMetrics
  readonly memory: NodeJS.MemoryUsage
  readonly cpu: NodeJS.CpuUsage
}

/** A worker process of a fleet. */
export type Worker = ChildProgram<WorkerReport>

/** The worker processes of a fleet. */
export class WorkerPool {
  readonly #settings: WorkerSettings
  readonly #file: string
  readonly #remove: () => Promise<void>
  readonly #workers = new Set<Worker>()

  private constructor(settings: WorkerSettings, file: string, remove: () => Promise<void>) {
    this.#settings = settings
    this.#file = file
    this.#remove = remove
  }

  static async create(settings: WorkerSettings): Promise<WorkerPool> {
    const { file, remove } = await bundleForNode(fileURLToPath(new URL('./worker-process.ts', import.meta.url)))
    return new WorkerPool(settings, file, remove)
  }

  get workers(): readonly Worker[] {
    return [...this.#workers]
  }

  /** Starts a process; resolves when it holds its first shards. */
  async add(): Promise<Worker> {
    const worker = new ChildProgram<WorkerReport>(this.#file, this.#settings)
    this.#workers.add(worker)
    worker.process.once('exit', () => this.#workers.delete(worker))
    await worker.next()
    return worker
  }

  /** What each process reports. */
  reports(): Promise<WorkerReport[]> {
    return Promise.all(this.workers.map(worker => worker.ask()))
  }

  async close(): Promise<void> {
    await Promise.all(this.workers.map(worker => worker.end('SIGKILL')))
    await this.#remove()
  }
}
