import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline'
import type { Io } from '../io.ts'
import { renderText, writeEntry } from '../terminal-text.ts'
import { firstRow, wrapText } from '../wrap-text.ts'

export interface ScreenOptions {
  io: Pick<Io, 'stdin' | 'stdout'>
  /** Whether the output supports escape codes. Without them there is no prompt, no status and no line editing. */
  ansi: boolean
  prompt: string
  /** The lines that may be meant by the beginning of one, for Tab. @default none */
  complete?(beginning: string): string[]
}

/** The key of a readline, and what it does with it: the documented names of both are these. */
interface KeyReader {
  _ttyWrite(text: string | undefined, key: { name?: string; ctrl?: boolean; meta?: boolean }): void
}

export interface ScreenListener {
  /** A line was entered. */
  onLine(line: string): void
  /** The user exits: end of input, or Ctrl-C on an empty line. */
  onClose(): void
}

/**
 * A terminal that prints lines above the line that the user is typing.
 *
 * It owns readline, the prompt, and an optional status line above the prompt. The status is part of readline's prompt, so
 * that readline counts its rows correctly.
 */
export class Screen {
  readonly #options: ScreenOptions
  #readline: Interface | undefined
  #status: string | undefined
  #listener: ScreenListener | undefined
  /** Receives the next line instead of the listener. */
  #reader: ((line: string | undefined) => void) | undefined
  /** Lines that were entered before there was a reader. */
  readonly #unread: string[] = []
  #hasLeft = false

  constructor(options: ScreenOptions) {
    this.#options = options
  }

  /** Shows the prompt. From now on, the listener receives every line. */
  open(listener: ScreenListener): void {
    this.#start()
    this.#listener = listener
    for (const line of this.#unread.splice(0)) listener.onLine(line)
    this.#refresh()
    if (this.#hasLeft) listener.onClose()
  }

  /** Shows the prompt and reads one line, before `open()`. Resolves with `undefined` when the user exits, or on abort. */
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

  /** Prints text above the line that the user is typing. */
  print(text: string): void {
    this.#eraseInput()
    const { ansi, io } = this.#options
    if (ansi) io.stdout.write(`${wrapText(renderText(text), io.stdout.columns)}\n`)
    else writeEntry(io.stdout, text)
    this.#refresh()
  }

  /** Shows a status in one row above the prompt, or removes it. */
  setStatus(status: string | undefined): void {
    if (status === this.#status) return
    this.#status = status
    this.#eraseInput()
    this.#readline?.setPrompt(this.#prompt())
    this.#refresh()
  }

  /** Ends readline. */
  close(): void {
    this.#readline?.close()
  }

  #start(): void {
    if (this.#readline || this.#hasLeft) return
    const { io, ansi } = this.#options
    const { complete = () => [] } = this.#options
    const readline = createInterface({
      input: io.stdin,
      output: io.stdout,
      terminal: ansi,
      prompt: this.#prompt(),
      historySize: 500,
      completer: (line: string) => [complete(line), line],
    })
    this.#readline = readline
    const resize = () => readline.setPrompt(this.#prompt())
    if (ansi) {
      this.#readKeys(readline as Interface & KeyReader)
      // Before readline's own listener, which draws the prompt again: the status stays in one row.
      io.stdout.prependListener('resize', resize)
      this.#askForPastes('h')
      // Before readline's own listener: the status must be gone when an entered line stays on the screen.
      io.stdin.prependListener('keypress', (_text: unknown, key: { name?: string } | undefined) => {
        if (key?.name === 'return' || key?.name === 'enter') this.setStatus(undefined)
      })
    }
    readline.on('line', line => {
      this.#hand(line)
      this.#refresh()
    })
    // Ctrl-C: while readline owns the terminal, the process gets no signal.
    readline.on('SIGINT', () => {
      if (readline.line === '') readline.close()
      else this.#edit(readline, '', 0)
    })
    readline.on('close', () => {
      this.#readline = undefined
      this.#hasLeft = true
      io.stdout.removeListener('resize', resize)
      this.#askForPastes('l')
      if (ansi) io.stdout.write('\n')
      this.#reader?.(undefined)
      this.#listener?.onClose()
    })
    this.#refresh()
  }

  /** Takes a paste as one text, whose lines are not entered, and a character that consists of several as one. */
  #readKeys(readline: Interface & KeyReader): void {
    const write = readline._ttyWrite.bind(readline)
    let pasted: string | undefined
    readline._ttyWrite = (text, key) => {
      const { line, cursor } = readline
      if (key.name === 'paste-start') pasted = ''
      else if (pasted !== undefined && key.name === 'paste-end') {
        const added = pasted.replace(/\r\n?/g, '\n')
        pasted = undefined
        this.#edit(readline, line.slice(0, cursor) + added + line.slice(cursor), cursor + added.length)
      } else if (pasted !== undefined && !(key.ctrl && key.name === 'c')) pasted += text ?? ''
      else if (key.name === 'backspace' && !key.ctrl && !key.meta) {
        const before = [...new Intl.Segmenter().segment(line.slice(0, cursor))].slice(0, -1)
        const kept = before.map(({ segment }) => segment).join('')
        this.#edit(readline, kept + line.slice(cursor), kept.length)
      } else {
        pasted = undefined
        write(text, key)
      }
    }
  }

  /** Replaces the line that the user is typing. */
  #edit(readline: Interface, line: string, cursor: number): void {
    this.#eraseInput()
    Object.assign(readline, { line, cursor })
    this.#refresh()
  }

  /** Asks a terminal to mark where a paste begins and ends, with `h`, or to do so no more, with `l`. */
  #askForPastes(mode: 'h' | 'l'): void {
    const { ansi, io } = this.#options
    if (ansi && 'setRawMode' in io.stdin) io.stdout.write(`\u001b[?2004${mode}`)
  }

  /** The prompt with the status above it, if there is one. */
  #prompt(): string {
    const prompt = renderText(this.#options.prompt)
    if (this.#status === undefined) return prompt
    return `${firstRow(renderText(this.#status), this.#options.io.stdout.columns)}\n${prompt}`
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

  /** Erases prompt and input. The cursor is where they began. */
  #eraseInput(): void {
    const { ansi, io } = this.#options
    if (!ansi || !this.#readline) return
    moveCursor(io.stdout, 0, -this.#readline.getCursorPos().rows)
    cursorTo(io.stdout, 0)
    clearScreenDown(io.stdout)
    // Before it draws, readline moves up by the rows it drew last, and miscounts them after a paste of several rows.
    Reflect.set(this.#readline, 'prevRows', 0)
  }
}
