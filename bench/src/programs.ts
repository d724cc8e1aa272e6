import { type ChildProcess, fork } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadDevelopmentCertificate } from '@aiagent/emulator/node'
import { build } from 'esbuild'
import { ownTool, runOrThrow } from '../../scripts/tools.ts'

const SOURCE = fileURLToPath(new URL('./', import.meta.url))
const PROGRAMS = join(SOURCE, 'programs')
/** Below the root's `node_modules`, so that what is not bundled is found from there. */
const CACHE = fileURLToPath(new URL('../../node_modules/', import.meta.url))

/** A program that has not ended by then has failed, in milliseconds. */
const LIMIT_MS = 120_000

/** The programs as plain JavaScript, each for a separate process. */
export interface Programs {
  /** Certificate and key of a service on this machine, which every program trusts. PEM. */
  readonly certificate: { readonly cert: string; readonly key: string }
  /**
   * Runs a program to its end.
   *
   * @param nodeOptions such as `--expose-gc`
   * @param limitMs time after which the program has failed, in milliseconds; two minutes by default
   * @returns what it reported
   * @throws {Error} when it ends without a report, or takes too long
   */
  run<Result>(name: string, parameters: object, nodeOptions?: readonly string[], limitMs?: number): Promise<Result>
  /** Starts a program that goes on until it is ended. */
  start<Report>(name: string, parameters: object): Promise<Started<Report>>
  /** Removes the files. */
  remove(): Promise<void>
}

/** A program that goes on. */
export interface Started<Report> {
  readonly report: Report
  /** Asks the program for another report. */
  ask<Answer>(): Promise<Answer>
  end(): Promise<void>
}

/**
 * Builds the packages, which the programs import as a host does. The programs are bundled, because transforming TypeScript
 * while they run would be counted as time that the library takes.
 *
 * @param packages those that pages need besides client and protocol
 */
export async function buildPrograms(packages: readonly string[] = []): Promise<Programs> {
  await runOrThrow(ownTool('tsx'), ['scripts/build.ts', 'client', 'protocol', ...packages])
  const folder = await mkdtemp(join(CACHE, '.bench-'))
  const files = (await readdir(PROGRAMS)).filter(name => name.endsWith('.ts'))
  await build({
    entryPoints: files.map(name => join(PROGRAMS, name)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['@aiagent/source'],
    external: ['ws', '@aiagent/client', '@aiagent/protocol'],
    logLevel: 'warning',
  })
  const { file, ...certificate } = await loadDevelopmentCertificate('127.0.0.1', folder)
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: file }
  const launch = (name: string, parameters: object, execArgv: readonly string[]) =>
    fork(join(folder, `${basename(name, '.ts')}.mjs`), [JSON.stringify(parameters)], { execArgv: [...execArgv], env })
  return {
    certificate,
    async run<Result>(
      name: string,
      parameters: object,
      nodeOptions: readonly string[] = [],
      limitMs = LIMIT_MS,
    ): Promise<Result> {
      const child = launch(name, parameters, nodeOptions)
      const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
      try {
        const [result] = await Promise.all([firstReport<Result>(name, child), ended(child)])
        return result
      } finally {
        clearTimeout(timer)
      }
    },
    async start<Report>(name: string, parameters: object) {
      const child = launch(name, parameters, [])
      const report = await firstReport<Report>(name, child)
      return {
        report,
        ask: <Answer>() => {
          child.send('report')
          return firstReport<Answer>(name, child)
        },
        end: async () => {
          if (child.connected) child.disconnect()
          await ended(child)
        },
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

function firstReport<Report>(name: string, child: ChildProcess): Promise<Report> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null, signal: string | null) =>
      reject(new Error(`${name} ended without a report (${signal ?? code}).`))
    child.once('exit', fail)
    child.once('error', reject)
    child.once('message', report => {
      child.off('exit', fail)
      child.off('error', reject)
      resolve(report as Report)
    })
  })
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise(resolve => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', () => resolve())
  })
}
