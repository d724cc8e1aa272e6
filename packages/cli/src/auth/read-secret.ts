import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { readLines } from '../chat/line-reader.ts'
import { CommandFailure } from '../failure.ts'
import type { Io } from '../io.ts'

/**
 * Reads a secret from the input: the first line that is not blank. A terminal does not echo it.
 *
 * @throws {CommandFailure} when there is none
 */
export async function readSecretLine({ stdin, stderr, interrupted }: Io, prompt: string): Promise<string> {
  try {
    if (stdin.isTTY) return await askSecret({ stdin, stderr, interrupted }, prompt)
    for await (const line of readLines(stdin, interrupted)) if (line.trim() !== '') return line
    throw new CommandFailure('The input is empty.')
  } finally {
    // An open input keeps the process alive.
    stdin.destroy()
  }
}

/** Reads a line with readline and no echo. Unlike the terminal itself, readline has no limit on the length. */
function askSecret({ stdin, stderr, interrupted }: Pick<Io, 'stdin' | 'stderr' | 'interrupted'>, prompt: string) {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const readline = createInterface({ input: stdin, output, terminal: true, historySize: 0 })
  stderr.write(prompt)
  return new Promise<string>((resolve, reject) => {
    const leave = () => readline.close()
    interrupted.addEventListener('abort', leave, { once: true })
    readline.once('line', line => {
      resolve(line)
      readline.close()
    })
    readline.once('SIGINT', leave)
    readline.once('close', () => {
      interrupted.removeEventListener('abort', leave)
      stderr.write('\n')
      // No effect after a line: the promise is settled.
      reject(new CommandFailure('Nothing was entered.'))
    })
  })
}
