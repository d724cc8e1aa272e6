import type { Readable, Writable } from 'node:stream'

/** Everything a command takes from the process it runs in. Tests pass streams and a signal of their own. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Writable
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted when the program is to leave; the reason is an {@link Interruption}. */
  readonly interrupted: AbortSignal
}

/** Why the program is to leave before its work is done. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
  readonly exitCode: number

  constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
  }
}

const SIGNAL_EXIT_CODE = { SIGINT: 130, SIGTERM: 143 } as const

/** The process as it is. The first signal asks the program to leave; a second one ends it where it stands. */
export function systemIo(): Io {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(SIGNAL_EXIT_CODE[name])
      controller.abort(new Interruption(`Ended by ${name}.`, SIGNAL_EXIT_CODE[name]))
    })
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      // Whoever read our output has seen enough, as `head` does: no reason to complain.
      controller.abort(new Interruption('Nobody reads the output any more.', 0))
    })
  }
  const { stdin, stdout, stderr, env } = process
  return { stdin, stdout, stderr, env, interrupted: controller.signal }
}

/** Resolves when the program is to leave. */
export function untilInterrupted({ interrupted }: Pick<Io, 'interrupted'>): Promise<void> {
  if (interrupted.aborted) return Promise.resolve()
  return new Promise(resolve => interrupted.addEventListener('abort', () => resolve(), { once: true }))
}
