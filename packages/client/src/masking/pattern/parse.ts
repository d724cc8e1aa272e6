import { BLANKS, type CharSet, complement, DIGITS, LINE_ENDS, union, WORD_CHARS } from './char-set.ts'

/** A pattern as a tree. Groups are dropped: captures are not needed here. */
export type PatternNode =
  /** One code unit of a set. */
  | { kind: 'char'; set: CharSet }
  | { kind: 'sequence'; parts: readonly PatternNode[] }
  /** Alternatives, the preferred one first. */
  | { kind: 'choice'; options: readonly PatternNode[] }
  | { kind: 'repeat'; body: PatternNode; min: number; max: number; lazy: boolean }
  /** A position between two code units. */
  | { kind: 'edge'; edge: Edge }
  | { kind: 'look'; behind: boolean; negated: boolean; body: PatternNode }

export type Edge = 'start' | 'end' | 'word' | 'inside'

/** Thrown when a pattern is invalid or cannot be matched in linear time. */
export class PatternRefusal extends Error {}

/** Maximum length of a pattern, in UTF-16 code units. */
export const MAX_PATTERN_LENGTH = 1000

const EDGES: Readonly<Record<string, Edge>> = { '^': 'start', $: 'end', '\\b': 'word', '\\B': 'inside' }
const SETS: Readonly<Record<string, CharSet>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD_CHARS,
  W: complement(WORD_CHARS),
  s: BLANKS,
  S: complement(BLANKS),
}
const CONTROLS: Readonly<Record<string, number>> = { f: 12, n: 10, r: 13, t: 9, v: 11 }

/** Parts of a pattern in which a parenthesis opens no group. */
const ESCAPES_AND_CLASSES = /\\[\s\S]|\[(?:[^\]\\]|\\[\s\S])*\]/g

/**
 * Parses a regular expression without flags as JavaScript does, including its legacy syntax.
 *
 * @throws {PatternRefusal} when it is invalid, too long, or refers back to a group
 */
export function parsePattern(source: string): PatternNode {
  if (source.length > MAX_PATTERN_LENGTH) throw new PatternRefusal(`is longer than ${MAX_PATTERN_LENGTH} characters`)
  try {
    // The constructor only parses the pattern; compiling or running it can take engines very long.
    new RegExp(source)
  } catch {
    throw new PatternRefusal('is not a regular expression')
  }
  return new PatternParser(source).parse()
}

class PatternParser {
  readonly #source: string
  readonly #groups: number
  readonly #hasNamedGroups: boolean
  #at = 0

  constructor(source: string) {
    this.#source = source
    const bare = source.replace(ESCAPES_AND_CLASSES, '')
    this.#groups = bare.match(/\((?!\?)|\(\?<(?![=!])/g)?.length ?? 0
    this.#hasNamedGroups = /\(\?<(?![=!])/.test(bare)
  }

  parse(): PatternNode {
    const options = [this.#sequence()]
    while (this.#take(/\|/y)) options.push(this.#sequence())
    return choice(options)
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = []
    while (this.#at < this.#source.length && !/[|)]/.test(this.#next)) parts.push(this.#repeated(this.#term()))
    const [only] = parts
    return only && parts.length === 1 ? only : { kind: 'sequence', parts }
  }

  #repeated(body: PatternNode): PatternNode {
    const found = this.#take(/(?:([*+?])|\{(\d+)(,?)(\d*)\})(\??)/y)
    if (!found) return body
    const [, sign, from = '', comma, to] = found
    const min = sign ? Number(sign === '+') : Number(from)
    const max = sign ? (sign === '?' ? 1 : Infinity) : to ? Number(to) : comma ? Infinity : min
    return { kind: 'repeat', body, min, max, lazy: found[5] === '?' }
  }

  #term(): PatternNode {
    const char = this.#next
    this.#at++
    if (char === '(') return this.#group()
    if (char === '[') return { kind: 'char', set: this.#class() }
    if (char === '.') return { kind: 'char', set: complement(LINE_ENDS) }
    const edge = EDGES[char === '\\' ? char + this.#next : char]
    if (edge) {
      if (char === '\\') this.#at++
      return { kind: 'edge', edge }
    }
    if (char !== '\\') return { kind: 'char', set: only(char.charCodeAt(0)) }
    this.#refuseReference()
    return { kind: 'char', set: this.#escaped(/[A-Za-z]/y) }
  }

  #group(): PatternNode {
    const look = this.#take(/\?(<?)([=!])/y)
    if (!look && !this.#take(/\?(?::|<[^>]*>)/y) && this.#next === '?') throw new PatternRefusal('changes flags within')
    const body = this.parse()
    this.#at++
    return look ? { kind: 'look', behind: look[1] === '<', negated: look[2] === '!', body } : body
  }

  #class(): CharSet {
    const negated = this.#take(/\^/y)
    const sets: CharSet[] = []
    while (!this.#take(/\]/y)) {
      const first = this.#classAtom()
      const dash = this.#take(/-(?!\])/y)
      const last = dash ? this.#classAtom() : first
      // A range needs a single code unit at either end; otherwise the dash is literal.
      if (dash && isSingle(first) && isSingle(last)) sets.push([first[0] ?? 0, last[0] ?? 0])
      else sets.push(first, last, dash ? only(45) : [])
    }
    const set = union(...sets)
    return negated ? complement(set) : set
  }

  #classAtom(): CharSet {
    const char = this.#next
    this.#at++
    if (char !== '\\') return only(char.charCodeAt(0))
    return this.#take(/b/y) ? only(8) : this.#escaped(/\w/y)
  }

  /**
   * The escape after a backslash, as a set. `control` is the allowed set after `\c`; otherwise the backslash is
   * literal.
   */
  #escaped(control: RegExp): CharSet {
    const octal = this.#take(/[0-3][0-7]{0,2}|[4-7][0-7]?/y)
    if (octal) return only(Number.parseInt(octal[0], 8))
    const hex = this.#take(/x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})/y)
    if (hex) return only(Number.parseInt(hex[1] ?? hex[2] ?? '', 16))
    const char = this.#next
    if (char === 'c') {
      const at = this.#at++
      const letter = this.#take(control)
      if (letter) return only(letter[0].charCodeAt(0) % 32)
      this.#at = at
      return only(92)
    }
    this.#at++
    return SETS[char] ?? only(CONTROLS[char] ?? char.charCodeAt(0))
  }

  #refuseReference(): void {
    const digits = /[1-9]\d*/y
    digits.lastIndex = this.#at
    const number = Number(digits.exec(this.#source)?.[0] ?? Infinity)
    if (number <= this.#groups || (this.#hasNamedGroups && this.#next === 'k'))
      throw new PatternRefusal('refers back to a group')
  }

  get #next(): string {
    return this.#source.charAt(this.#at)
  }

  /** Returns what a sticky expression matches here, and advances past it. */
  #take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (found) this.#at = expression.lastIndex
    return found
  }
}

function choice(options: readonly PatternNode[]): PatternNode {
  const [first] = options
  if (first && options.length === 1) return first
  const sets = options.flatMap(option => (option.kind === 'char' ? [option.set] : []))
  // The order of single-character alternatives makes no difference.
  return sets.length === options.length ? { kind: 'char', set: union(...sets) } : { kind: 'choice', options }
}

const only = (code: number): CharSet => [code, code]
const isSingle = (set: CharSet) => set.length === 2 && set[0] === set[1]
