import { type ChildProcess, fork } from 'node:child_process'
import { on, once } from 'node:events'
import { basename } from 'node:path'

/** How a program is started. */
export interface ProgramOptions {
  /** Options of Node, such as `--expose-gc`. */
  readonly execArgv?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  /** A program that reports nothing for so long while a report is awaited never will, in milliseconds. */
  readonly silenceMs?: number
}

/** A program in a separate process: it gets its parameters, and reports, as `program.ts` has it. */
export class ChildProgram<Report> {
  readonly process: ChildProcess
  readonly #name: string
  readonly #silenceMs: number | undefined
  readonly #exited: Promise<unknown>
  readonly #reports: AsyncIterator<[Report]>

  /** @param file path of a bundled program */
  constructor(file: string, parameters: unknown, { execArgv = [], env, silenceMs }: ProgramOptions = {}) {
    this.#name = basename(file, '.mjs')
    this.#silenceMs = silenceMs
    this.process = fork(file, [], { execArgv: [...execArgv], ...(env && { env }) })
    this.#exited = once(this.process, 'exit')
    this.#exited.catch(() => {})
    // Emitted behind the last message.
    this.#reports = on(this.process, 'message', { close: ['disconnect'] }) as AsyncIterator<[Report]>
    this.process.send(parameters as object)
  }

  /** The next report. @throws {Error} when the program ends first, or is silent for too long */
  async next(): Promise<Report> {
    const report = await this.#next()
    if (report) return report[0]
    throw new Error(`${this.#name} ended without a report (${this.#outcome}).`)
  }

  /** The only report of a program that ends with it. @throws {Error} as {@link next} */
  async result(): Promise<Report> {
    const report = await this.next()
    await this.end()
    return report
  }

  /** Another report of a program that goes on. */
  ask(): Promise<Report> {
    this.process.send('report')
    return this.next()
  }

  /** All reports. @throws {Error} when the program is silent for too long, or ends with another code than 0 */
  async *reports(): AsyncGenerator<Report, void> {
    for (let report = await this.#next(); report; report = await this.#next()) yield report[0]
    if (this.process.exitCode !== 0) throw new Error(`${this.#name} ended too early (${this.#outcome}).`)
  }

  /** Ends the program, which notices that its parent lets go of it, or by a signal. Resolves when it has ended. */
  async end(signal?: NodeJS.Signals): Promise<void> {
    if (signal) this.process.kill(signal)
    else if (this.process.connected) this.process.disconnect()
    await this.#exited
  }

  get #outcome(): number | string | null {
    return this.process.signalCode ?? this.process.exitCode
  }

  /** @returns undefined once the program has ended */
  async #next(): Promise<[Report] | undefined> {
    let isSilent = false
    const silent = () => {
      isSilent = true
      this.process.kill('SIGKILL')
    }
    const timer = this.#silenceMs === undefined ? undefined : setTimeout(silent, this.#silenceMs)
    const { value, done } = await this.#reports.next().finally(() => clearTimeout(timer))
    if (!done) return value
    await this.#exited
    if (isSilent) throw new Error(`${this.#name} has reported nothing for ${Number(this.#silenceMs) / 1000} s.`)
    return undefined
  }
}
