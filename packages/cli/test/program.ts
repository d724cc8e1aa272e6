import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundleForNode } from '@aiagent/test-support/node-bundle'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** For all test files of the process, which share this module. A later run removes it. */
const program = await bundleForNode(MAIN)

/** The program as a separate process, bundled from source. */
export interface Program {
  readonly process: ChildProcess
  out(): string
  err(): string
  /** Resolves with the output once it matches; rejects when the program ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves with the exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string | null>
}

/**
 * @param input what is piped in; without it the input stays open
 * @param env further variables
 */
export function startProgram(args: readonly string[], input?: string, env: Record<string, string> = {}): Program {
  return watch(spawnProgram(process.execPath, [program.file, ...args], env), input)
}

/** The program with its output in a file, such as a device. */
export function startProgramInto(file: string, args: readonly string[], input: string): Program {
  const shell = ['-c', 'file=$1; shift; exec "$@" >"$file"', 'sh', file, process.execPath, program.file, ...args]
  return watch(spawnProgram('/bin/sh', shell), input)
}

function spawnProgram(command: string, args: readonly string[], env: Record<string, string> = {}) {
  return spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: undefined, AIAGENT_TOKEN: undefined, npm_lifecycle_event: undefined, ...env },
  })
}

function watch(child: ChildProcessWithoutNullStreams, input: string | undefined): Program {
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.stdin.on('error', () => {})
  if (input !== undefined) child.stdin.end(input)
  const ended = new Promise<number | string | null>(resolve =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  )
  const until = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(out)
        if (found) resolve(found)
      }
      child.stdout.on('data', look)
      void ended.then(code => reject(new Error(`Ended with ${code} before ${pattern}: ${out}${err}`)))
      look()
    })
  return { process: child, out: () => out, err: () => err, until, ended }
}
