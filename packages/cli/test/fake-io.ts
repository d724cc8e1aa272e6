import { PassThrough, Readable, Writable } from 'node:stream'
import { Interruption, type Io } from '../src/io.ts'

/** Streams that a command takes for those of its process. */
export interface FakeIo {
  readonly io: Io
  readonly stdin: Readable
  /** Types keys. They wait until somebody reads. Not for a piped input. */
  type(keys: string): void
  /** What was written so far. */
  out(): string
  err(): string
  /** Resolves with the whole output once it contains the text. */
  outHas(text: string): Promise<string>
  errHas(text: string): Promise<string>
  /** As Ctrl-C does outside a terminal. */
  interrupt(): void
}

export interface FakeIoOptions {
  /** What is piped in; without it the input stays open for writing. */
  input?: string
  env?: Record<string, string>
  /** The input and the output are a terminal of so many columns. */
  columns?: number
}

export function createFakeIo({ input, env = {}, columns }: FakeIoOptions = {}): FakeIo {
  const controller = new AbortController()
  const keyboard = new PassThrough()
  const stdin: Readable = input === undefined ? keyboard : Readable.from(input === '' ? [] : [input])
  const stdout = new Recorder()
  const stderr = new Recorder()
  if (columns !== undefined) {
    Object.assign(stdin, { isTTY: true })
    Object.assign(stdout, { isTTY: true, columns })
  }
  return {
    io: { stdin, stdout, stderr, env, interrupted: controller.signal },
    stdin,
    type: keys => void keyboard.write(keys),
    out: () => stdout.text,
    err: () => stderr.text,
    outHas: text => stdout.has(text),
    errHas: text => stderr.has(text),
    interrupt: () => controller.abort(new Interruption('Ended by SIGINT.', 130)),
  }
}

class Recorder extends Writable {
  text = ''
  readonly #waiting = new Set<() => void>()

  constructor() {
    super({ decodeStrings: false })
  }

  override _write(chunk: unknown, _encoding: string, done: () => void): void {
    this.text += String(chunk)
    for (const look of [...this.#waiting]) look()
    done()
  }

  has(text: string): Promise<string> {
    return new Promise(resolve => {
      const look = () => {
        if (!this.text.includes(text)) return
        this.#waiting.delete(look)
        resolve(this.text)
      }
      this.#waiting.add(look)
      look()
    })
  }
}
