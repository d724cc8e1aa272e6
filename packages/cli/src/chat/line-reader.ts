import type { Readable } from 'node:stream'

/**
 * The lines of a stream, read on demand, without their line breaks.
 *
 * @param signal ends the reading; unread input is lost
 */
export async function* readLines(input: Readable, signal: AbortSignal): AsyncGenerator<string, void> {
  if (signal.aborted) return
  const giveUp = () => input.destroy()
  signal.addEventListener('abort', giveUp, { once: true })
  input.setEncoding('utf8')
  // The pieces of an incomplete line. Joining them for every chunk would make a very long line slow.
  const pieces: string[] = []
  try {
    for await (const chunk of input) {
      const [first = '', ...rest] = String(chunk).split('\n')
      pieces.push(first)
      for (const piece of rest) {
        yield withoutReturn(pieces.join(''))
        pieces.length = 0
        pieces.push(piece)
      }
    }
    const last = pieces.join('')
    if (last !== '') yield withoutReturn(last)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

const withoutReturn = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line)
