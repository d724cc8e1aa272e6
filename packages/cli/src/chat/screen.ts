import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline'
import type { Io } from '../io.ts'
import { renderText, writeEntry } from '../terminal-text.ts'

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
  #listener: ScreenListener | undefined
  /** Takes the next line instead of the listener. */
  #reader: ((line: string | undefined) => void) | undefined
  /** Lines that were entered before anybody wanted them. */
  readonly #unread: string[] = []
  #hasLeft = false

  constructor(options: ScreenOptions) {
    this.#options = options
  }

  /** Shows the prompt and hands every line to the listener from here on. */
  open(listener: ScreenListener): void {
    this.#start()
    this.#listener = listener
    for (const line of this.#unread.splice(0)) listener.onLine(line)
    this.#refresh()
    if (this.#hasLeft) listener.onClose()
  }

  /** Shows the prompt and takes one line, before there is a listener; undefined when the user leaves, or is made to. */
  async readLine(signal: AbortSignal): Promise<string | undefined> {
    this.#start()
    const close = () => this.close()
    if (signal.aborted) close()
    if (this.#unread.length > 0 || this.#hasLeft) return this.#unread.shift()
    signal.addEventListener('abort', close, { once: true })
    try {
      return await new Promise<string | undefined>(resolve => (this.#reader = resolve))
    } finally {
      signal.removeEventListener('abort', close)
    }
  }

  /** Shows text above the line that is being typed, which stays as it is. */
  print(text: string): void {
    this.#eraseInput()
    writeEntry(this.#options.io.stdout, text)
    this.#refresh()
  }

  /** Shows a status above the prompt, or takes it away. */
  setStatus(status: string | undefined): void {
    if (status === this.#status) return
    this.#status = status
    this.#eraseInput()
    this.#readline?.setPrompt(this.#prompt())
    this.#refresh()
  }

  /** Gives the terminal back. */
  close(): void {
    this.#readline?.close()
  }

  #start(): void {
    if (this.#readline || this.#hasLeft) return
    const { io, ansi } = this.#options
    const readline = createInterface({
      input: io.stdin,
      output: io.stdout,
      terminal: ansi,
      prompt: this.#prompt(),
      historySize: 500,
    })
    this.#readline = readline
    if (ansi) {
      // Ahead of readline's own listener: a line that is entered stays on the screen without the status above it.
      io.stdin.prependListener('keypress', (_text: unknown, key: { name?: string } | undefined) => {
        if (key?.name === 'return' || key?.name === 'enter') this.setStatus(undefined)
      })
    }
    readline.on('line', line => {
      this.#hand(line)
      this.#refresh()
    })
    // Ctrl-C; readline keeps it from the process while it holds the terminal.
    readline.on('SIGINT', () => readline.close())
    readline.on('close', () => {
      this.#readline = undefined
      this.#hasLeft = true
      if (ansi) io.stdout.write('\n')
      this.#reader?.(undefined)
      this.#listener?.onClose()
    })
    this.#refresh()
  }

  /** The prompt, below the status where there is one. */
  #prompt(): string {
    const prompt = renderText(this.#options.prompt)
    return this.#status === undefined ? prompt : `${renderText(this.#status)}\n${prompt}`
  }

  #hand(line: string): void {
    const reader = this.#reader
    this.#reader = undefined
    if (reader) reader(line)
    else if (this.#listener) this.#listener.onLine(line)
    else this.#unread.push(line)
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
