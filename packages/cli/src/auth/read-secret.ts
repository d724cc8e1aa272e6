import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { readLines } from '../chat/line-reader.ts'
import { CommandFailure } from '../failure.ts'
import type { Io } from '../io.ts'

/**
 * Reads a secret from the input: the first line that is not blank. A terminal does not show what is typed.
 *
 * @throws {CommandFailure} when there is none
 */
export async function readSecretLine({ stdin, stderr, interrupted }: Io, prompt: string): Promise<string> {
  try {
    if (stdin.isTTY) return await askSecret({ stdin, stderr, interrupted }, prompt)
    for await (const line of readLines(stdin, interrupted)) if (line.trim() !== '') return line
    throw new CommandFailure('There is nothing on the input.')
  } finally {
    // An input that nobody reads any more must not keep the program alive.
    stdin.destroy()
  }
}

/** The editor of lines, with an output that swallows: what is typed appears nowhere, and no line is too long for it. */
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
      // After a line this comes too late to matter.
      reject(new CommandFailure('Nothing was entered.'))
    })
  })
}
