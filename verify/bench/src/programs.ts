import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadDevelopmentCertificate } from '@aiagent/emulator/node'
import { ChildProgram } from '@aiagent/test-support/child-program'
import { bundleForNode } from '@aiagent/test-support/node-bundle'
import { ownTool, runOrThrow } from '../../../scripts/tools.ts'

const PROGRAMS = fileURLToPath(new URL('./programs/', import.meta.url))

/** A program that has reported nothing by then has failed, in milliseconds. */
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
  start<Report>(name: string, parameters: object): ChildProgram<Report>
  /** Removes the files. */
  remove(): Promise<void>
}

/**
 * Builds the packages, which the programs import as a host does. The programs are bundled, because transforming TypeScript
 * while they run would be counted as time that the library takes.
 *
 * @param packages those that pages need besides client and protocol
 */
export async function buildPrograms(packages: readonly string[] = []): Promise<Programs> {
  await runOrThrow(ownTool('tsx'), ['scripts/build.ts', 'client', 'protocol', ...packages])
  const [first = '', ...others] = (await readdir(PROGRAMS)).map(name => join(PROGRAMS, name))
  const { folder, remove } = await bundleForNode(first, { others, external: ['@aiagent/client', '@aiagent/protocol'] })
  const { file, ...certificate } = await loadDevelopmentCertificate('127.0.0.1', folder)
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: file }
  const start = <Report>(name: string, parameters: object, execArgv?: readonly string[], silenceMs?: number) =>
    new ChildProgram<Report>(join(folder, `${name}.mjs`), parameters, {
      env,
      ...(execArgv && { execArgv }),
      ...(silenceMs !== undefined && { silenceMs }),
    })
  return {
    certificate,
    start,
    run: <Result>(name: string, parameters: object, execArgv?: readonly string[], limitMs = LIMIT_MS) =>
      start<Result>(name, parameters, execArgv, limitMs).result(),
    remove,
  }
}
