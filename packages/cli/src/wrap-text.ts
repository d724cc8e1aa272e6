import { stripVTControlCharacters } from 'node:util'
import { wrapAnsi } from 'fast-wrap-ansi'

/** Below this width, in columns, lines are left to the terminal. */
const NARROWEST = 20

/** Markers of lists, quotes and commands, whose further lines begin below their text. */
const MARKER = /^\s*(?:(?:(?:[•│]|\d+[.)]|\[(?:\d+|[ x])\])\s|\/\w+ {2})\s*)*/

/** Longest line that is broken as a whole, in characters: the time for a line grows faster than its length. */
const LONGEST = 4096

/** The start of a row that looks like the prompt. */
const LIKE_PROMPT = /^\s*>/

/**
 * Breaks lines between words, so that none is wider than the terminal. Further lines of an entry are indented as its text is,
 * by at least two columns, so that no line looks like the prompt. Code and other lines of four spaces are left alone, as are
 * words that are too long, unless the terminal would break them into a row that looks like the prompt.
 */
export function wrapText(text: string, columns: number | undefined): string {
  if (columns === undefined || columns < NARROWEST) return text
  return text
    .split('\n')
    .flatMap(cutLine)
    .map((line, index) => wrapLine(line, columns, index))
    .join('\n')
}

/** The parts of a very long line: each ends with a word, or at least outside of a character and of a colour code. */
function cutLine(line: string): string[] {
  const parts: string[] = []
  let start = 0
  while (line.length - start > LONGEST) {
    const part = line.slice(start, start + LONGEST)
    const code = part.lastIndexOf('\u001b')
    const end =
      part.lastIndexOf(' ') + 1 || (code > LONGEST - 20 && code) || LONGEST - (/[\ud800-\udbff]$/.test(part) ? 1 : 0)
    parts.push(part.slice(0, end))
    start += end
  }
  const [first = '', ...more] = [...parts, line.slice(start)]
  return [first, ...more.map(part => `  ${part.trimStart()}`)]
}

/** The first row that a text takes in the terminal, which leaves its last column free. */
export function firstRow(text: string, columns: number | undefined): string {
  return rowsOf(text, (columns ?? Number.POSITIVE_INFINITY) - 1)[0] ?? ''
}

function wrapLine(line: string, columns: number, index: number): string {
  // No character takes more than two columns.
  if (2 * line.length <= columns) return line
  const plain = stripVTControlCharacters(line)
  const marker = MARKER.exec(plain)?.[0] ?? ''
  if (index > 0 && /^ {6}/.test(plain) && marker.trim() === '') return keepFromPrompt(line, columns, 2)
  const indent = Math.min(Math.max(2, marker.length), columns / 2)
  const [first = '', ...rest] = wrapAnsi(line, columns, { trim: false }).split('\n')
  if (rest.length === 0) return keepFromPrompt(line, columns, indent)
  const further = wrapAnsi(rest.join('').trimStart(), columns - indent, { trim: true })
  return [first.trimEnd(), ...further.split('\n').map(each => ' '.repeat(indent) + each)]
    .map(each => keepFromPrompt(each, columns, indent))
    .join('\n')
}

/** Breaks a line that is wider than the terminal where the terminal would make a row of it that looks like the prompt. */
function keepFromPrompt(line: string, columns: number, indent: number): string {
  const [first = '', ...rest] = rowsOf(line, columns)
  if (!rest.some(row => LIKE_PROMPT.test(stripVTControlCharacters(row)))) return line
  return [first, ...rowsOf(rest.join(''), columns - indent).map(row => ' '.repeat(indent) + row)].join('\n')
}

/** The rows of a line as a terminal breaks it, at any character. */
function rowsOf(line: string, columns: number): string[] {
  return wrapAnsi(line, columns, { hard: true, wordWrap: false, trim: false }).split('\n')
}
