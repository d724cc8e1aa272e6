import type { Readable, Writable } from 'node:stream'
import { EXIT } from './exit-codes.ts'

/** The parts of the process that a command uses. Tests replace them. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: Writable
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborts when the program has to exit. The reason is an {@link Interruption}. */
  readonly interrupted: AbortSignal
}

/** The reason to exit early. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
  readonly exitCode: number

  constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
  }
}

const SIGNAL_EXIT_CODE = { SIGINT: EXIT.SIGINT, SIGTERM: EXIT.SIGTERM } as const

/** The streams and signals of this process. The first signal aborts `interrupted`; the second one ends the process. */
export function systemIo(): Io {
  const controller = new AbortController()
  let hasFailed = false
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(SIGNAL_EXIT_CODE[name])
      controller.abort(new Interruption(`Ended by ${name}.`, SIGNAL_EXIT_CODE[name]))
    })
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // The reader of the output has closed it, as `head` does. This is not an error.
      if (error.code === 'EPIPE') return controller.abort(new Interruption('The output was closed.', 0))
      if (hasFailed) return
      hasFailed = true
      controller.abort(new Interruption('The output cannot be written.', EXIT.FAILURE))
      // The command may have ended with success before the output failed.
      process.once('exit', () => (process.exitCode = EXIT.FAILURE))
      if (stream !== process.stderr) process.stderr.write(`aiagent: Cannot write the output: ${error.message}\n`)
    })
  }
  const { stdin, stdout, stderr, env } = process
  return { stdin, stdout, stderr, env, interrupted: controller.signal }
}

/** Resolves when the program has to exit. */
export function untilInterrupted({ interrupted }: Pick<Io, 'interrupted'>): Promise<void> {
  if (interrupted.aborted) return Promise.resolve()
  return new Promise(resolve => interrupted.addEventListener('abort', () => resolve(), { once: true }))
}
