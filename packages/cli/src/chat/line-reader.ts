import type { Readable } from 'node:stream'

/**
 * The lines of a stream as they are asked for, without their ends; the last one may lack its end.
 *
 * @param signal ends the reading; what has not been read is lost
 */
export async function* readLines(input: Readable, signal: AbortSignal): AsyncGenerator<string, void> {
  if (signal.aborted) return
  const giveUp = () => input.destroy()
  signal.addEventListener('abort', giveUp, { once: true })
  input.setEncoding('utf8')
  // Pieces of a line that has no end yet: joining them at every chunk would make a very long line slow.
  const pieces: string[] = []
  try {
    for await (const chunk of input) {
      const [first = '', ...rest] = String(chunk).split('\n')
      pieces.push(first)
      for (const piece of rest) {
        yield endless(pieces.join(''))
        pieces.length = 0
        pieces.push(piece)
      }
    }
    const last = pieces.join('')
    if (last !== '') yield endless(last)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

const endless = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line)
