import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline'
import type { Io } from '../io.ts'

export interface ScreenOptions {
  io: Pick<Io, 'stdin' | 'stdout'>
  /** Whether the output understands escape codes. Without them there is neither prompt nor status, and no line editing. */
  ansi: boolean
  prompt: string
}

export interface ScreenListener {
  /** A line was entered. */
  onLine(line: string): void
  /** The user leaves: end of input, or Ctrl-C. */
  onClose(): void
}

/**
 * A terminal on which lines appear above the one that is being typed.
 *
 * It owns readline and what stands around it: the prompt, and a status line above the prompt that comes and goes.
 * The status is part of readline's prompt, so that readline's own count of rows stays right.
 */
export class Screen {
  readonly #options: ScreenOptions
  #readline: Interface | undefined
  #status: string | undefined

  constructor(options: ScreenOptions) {
    this.#options = options
  }

  /** Shows the prompt and takes input from here on. */
  open({ onLine, onClose }: ScreenListener): void {
    const { io, ansi, prompt } = this.#options
    const readline = createInterface({ input: io.stdin, output: io.stdout, terminal: ansi, prompt, historySize: 500 })
    this.#readline = readline
    if (ansi) {
      // Ahead of readline's own listener: a line that is entered stays on the screen without the status above it.
      io.stdin.prependListener('keypress', (_text: unknown, key: { name?: string } | undefined) => {
        if (key?.name === 'return' || key?.name === 'enter') this.setStatus(undefined)
      })
    }
    readline.on('line', line => {
      onLine(line)
      this.#refresh()
    })
    // Ctrl-C; readline keeps it from the process while it holds the terminal.
    readline.on('SIGINT', () => readline.close())
    readline.on('close', () => {
      this.#readline = undefined
      if (ansi) io.stdout.write('\n')
      onClose()
    })
    this.#refresh()
  }

  /** Shows text above the line that is being typed, which stays as it is. */
  print(text: string): void {
    this.#eraseInput()
    this.#options.io.stdout.write(`${text}\n`)
    this.#refresh()
  }

  /** Shows a status above the prompt, or takes it away. */
  setStatus(status: string | undefined): void {
    if (status === this.#status) return
    this.#status = status
    this.#eraseInput()
    this.#readline?.setPrompt(status === undefined ? this.#options.prompt : `${status}\n${this.#options.prompt}`)
    this.#refresh()
  }

  /** Gives the terminal back. */
  close(): void {
    this.#readline?.close()
  }

  #refresh(): void {
    if (this.#options.ansi) this.#readline?.prompt(true)
  }

  /** Takes prompt and input from the terminal; the cursor stands where they began. */
  #eraseInput(): void {
    const { ansi, io } = this.#options
    if (!ansi || !this.#readline) return
    moveCursor(io.stdout, 0, -this.#readline.getCursorPos().rows)
    cursorTo(io.stdout, 0)
    clearScreenDown(io.stdout)
    // Readline goes up the rows it drew last before it draws again, and miscounts them after a paste of several rows.
    Reflect.set(this.#readline, 'prevRows', 0)
  }
}
