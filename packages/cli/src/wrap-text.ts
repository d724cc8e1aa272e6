import { stripVTControlCharacters } from 'node:util'
import { wrapAnsi } from 'fast-wrap-ansi'

/** Below this width, in columns, lines are left to the terminal. */
const NARROWEST = 20

/** Markers of lists and quotes, whose further lines begin below their text. */
const MARKER = /^\s*(?:(?:[•│]|\d+[.)]|\[(?:\d+|[ x])\])\s+)*/

/**
 * Breaks lines between words, so that none is wider than the terminal. Further lines of an entry are indented as its text is,
 * by at least two columns, so that no line looks like the prompt. Code and other lines of four spaces are left alone.
 */
export function wrapText(text: string, columns: number | undefined): string {
  if (columns === undefined || columns < NARROWEST) return text
  return text
    .split('\n')
    .map((line, index) => wrapLine(line, columns, index))
    .join('\n')
}

function wrapLine(line: string, columns: number, index: number): string {
  const plain = stripVTControlCharacters(line)
  const marker = MARKER.exec(plain)?.[0] ?? ''
  if (index > 0 && /^ {6}/.test(plain) && marker.trim() === '') return line
  const indent = Math.min(Math.max(2, marker.length), columns / 2)
  const [first = '', ...rest] = wrapAnsi(line, columns, { trim: false }).split('\n')
  if (rest.length === 0) return line
  const further = wrapAnsi(rest.join('').trimStart(), columns - indent, { trim: true })
  return [first.trimEnd(), ...further.split('\n').map(each => ' '.repeat(indent) + each)].join('\n')
}
