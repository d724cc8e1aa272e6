import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { ROOT } from '../tools.ts'

/** A phrase that the project does not use, in `refused-phrases.json`. */
interface RefusedPhrase {
  /** The phrase, for the reader of a finding. */
  phrase: string
  /** A regular expression. A space matches any white space, and a line break in a comment or a joined
   * string; `[ ]` matches a space only. */
  pattern: string
  /** What to write instead. */
  reason: string
}

/** A refused phrase in a file. */
interface LanguageFinding {
  /** Path from the root, with slashes. */
  file: string
  /** From 1. */
  line: number
  phrase: string
  /** The text of the line, without the blanks around it. */
  text: string
  reason: string
}

/** Marker for a quotation: a line with this comment is exempt. */
const QUOTED = 'language: quoted'

const FOLDERS = ['packages', 'apps', 'verify', 'examples', 'docs', 'scripts']
const SKIPPED = /(?:^|\/)(?:node_modules|dist|[.]cache)(?:\/|$)|[.]api[.]md$/
const CHECKED = /[.](?:ts|md)$/
/** White space, the beginning of the next line of a comment or quotation, and the seam of a joined string. */
const GAP = String.raw`(?: ?['"\`] \+\s+['"\`] ?|\s+(?:(?:\*|\/\/+|>)\s+)?)`

const compiled = loadPhrases()

/** Paths from the root of all sources, tests and documents that are neither generated nor installed. */
function checkedFiles(): string[] {
  const nested = FOLDERS.flatMap(folder =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(name => join(folder, name)),
  )
  return [...readdirSync(ROOT), ...nested]
    .map(path => path.split(sep).join('/'))
    .filter(path => CHECKED.test(path) && !SKIPPED.test(path))
    .sort()
}

/** Refused phrases of a text, in the order of its lines. */
function findRefusedPhrases(file: string, text: string): LanguageFinding[] {
  const lines = text.split('\n')
  return compiled
    .flatMap(({ phrase, reason, expression }) =>
      [...text.matchAll(expression)].map(({ index }) => {
        const line = text.slice(0, index).split('\n').length
        return { file, line, phrase, reason, text: lines[line - 1]?.trim() ?? '' }
      }),
    )
    .filter(({ line }) => !lines[line - 1]?.includes(QUOTED))
    .sort((one, other) => one.line - other.line)
}

/** Findings below the given files or folders, or everywhere. */
export function languageFindings(under: readonly string[] = []): LanguageFinding[] {
  const prefixes = under.map(path => relative(ROOT, join(ROOT, path)).split(sep).join('/'))
  const chosen = checkedFiles().filter(
    file => prefixes.length === 0 || prefixes.some(prefix => file === prefix || file.startsWith(`${prefix}/`)),
  )
  return chosen.flatMap(file => findRefusedPhrases(file, readFileSync(join(ROOT, file), 'utf8')))
}

/** Path and line, phrase and excerpt, then the advice on a line below. */
export function describeFinding({ file, line, phrase, text, reason }: LanguageFinding): string {
  const excerpt = text.length > 100 ? `${text.slice(0, 100)}…` : text
  return `${file}:${line}: "${phrase}" in: ${excerpt}\n    ${reason}`
}

function loadPhrases() {
  const list = readFileSync(new URL('./refused-phrases.json', import.meta.url), 'utf8')
  return (JSON.parse(list) as RefusedPhrase[]).map(({ phrase, pattern, reason }) => ({
    phrase,
    reason,
    expression: new RegExp(pattern.replaceAll(/ (?!\])/g, GAP), 'gim'),
  }))
}
