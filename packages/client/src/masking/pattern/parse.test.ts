import { describe, expect, it } from 'vitest'
import { createMatcher } from './match.ts'
import { MAX_PATTERN_LENGTH, PatternRefusal, parsePattern } from './parse.ts'

/** ASCII and Latin characters, and special ones beyond. */
const TEXT =
  Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code)).join('') +
  '\u1680\u180e\u1fff\u2000\u200a\u200b\u2027\u2028\u2029\u202f\u205f\u2060\u3000\ud83d\ude00\ufeff\uffff'

const isNative = (source: string) => {
  try {
    return new RegExp(source) instanceof RegExp
  } catch {
    return false
  }
}

function found(source: string): string[] {
  const { places } = createMatcher(parsePattern(source))(TEXT)
  return Array.from({ length: places.length / 2 }, (_, index) => TEXT.slice(places[2 * index], places[2 * index + 1]))
}

const natively = (source: string) => (TEXT.match(new RegExp(source, 'g')) ?? []).filter(Boolean)

function reasonFor(source: string): string {
  try {
    parsePattern(source)
    return ''
  } catch (error) {
    expect(error).toBeInstanceOf(PatternRefusal)
    return error instanceof Error ? error.message : ''
  }
}

const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))

describe('parsePattern', () => {
  it.each([
    ['by itself', ASCII],
    ['behind a backslash', ASCII.map(char => `\\${char}`)],
    ['in a class', ASCII.map(char => `[${char}]`)],
    ['in a class, behind a backslash', ASCII.map(char => `[\\${char}]`)],
    ['in a class that is negated', ASCII.map(char => `[^\\${char}]`)],
    ['before the end of a class', ASCII.map(char => `[${char}-]`)],
    ['after a dash', ASCII.map(char => `[ -${char}]`)],
    ['after a dash and a backslash', ASCII.map(char => `[ -\\${char}]`)],
    ['as a control character', ASCII.map(char => `\\c${char}`)],
    ['as a control character in a class', ASCII.map(char => `[\\c${char}]`)],
    ['behind a digit', ASCII.map(char => `\\1${char}`)],
    ['behind two digits', ASCII.map(char => `\\12${char}`)],
    ['behind two digits in a class', ASCII.map(char => `[\\14${char}]`)],
    ['behind larger digits', ASCII.map(char => `\\40${char}`)],
    ['behind a zero', ASCII.map(char => `\\0${char}`)],
    ['as a hex digit', ASCII.map(char => `\\x4${char}`)],
    ['as one of four hex digits', ASCII.map(char => `[\\u004${char}]`)],
    ['between braces', ASCII.map(char => `a{${char}}`)],
    ['between braces, after a number', ASCII.map(char => `a{1${char}}`)],
    ['after a brace', ASCII.map(char => `a?{${char}`)],
  ])('reads each ASCII character %s as JavaScript does', (_, sources) => {
    const readable = sources.filter(isNative)
    expect(readable.length).toBeGreaterThan(0)
    for (const source of readable) expect(found(source), JSON.stringify(source)).toEqual(natively(source))
  })

  it.each([
    ...String.raw`\d \D \w \W \s \S . [^] [] [^^] [a-f] [^a-f] [a-] [-a] [\d-z] [a-\d] [\w-] [--0] [+--] [\s\S] [\x41-\x43]`.split(
      ' ',
    ),
    ...String.raw`[\b] [\B] [\u0041-C] [z\-a] [\]] [[] []a] ]a }a {a a{ a{} a{1 a{,2} x{a} \u{2} \p{L} \u004 \x4 \xg1`.split(
      ' ',
    ),
    ...String.raw`(?<name>a) (?:a) (a) ((a)|(b)) a|b |a a| a||b a(|b)c () (?:) \8 \9 \18 \377 \400 \777 \08 (a)\2 \k`.split(
      ' ',
    ),
    ...String.raw`\c \c1 [\c1] [\c_] [\c-] [\c] \cj \cJ \e \- \/ a{1}{ a* a+ a? a*? a+? a?? a{2} a{1,2} a{1,}? (?=a)* (?!a)+`.split(
      ' ',
    ),
  ])('reads %j as JavaScript does', source => {
    expect(isNative(source)).toBe(true)
    expect(found(source)).toEqual(natively(source))
  })

  it.each([
    [String.raw`(a)\1`, 'refers back to a group'],
    [String.raw`\1(a)`, 'refers back to a group'],
    [String.raw`(?<name>a)\1`, 'refers back to a group'],
    [String.raw`(?<$é>a)\k<$é>`, 'refers back to a group'],
    [String.raw`(?<name>a)\k<name>`, 'refers back to a group'],
    [String.raw`(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10`, 'refers back to a group'],
    [String.raw`(?:a|(b))\1`, 'refers back to a group'],
    ['(', 'is not a regular expression'],
    ['[', 'is not a regular expression'],
    ['a{2,1}', 'is not a regular expression'],
    ['*', 'is not a regular expression'],
    ['\\', 'is not a regular expression'],
    ['a|*', 'is not a regular expression'],
    ['(?<=a)*', 'is not a regular expression'],
    ['[b-a]', 'is not a regular expression'],
    [`${'a'.repeat(MAX_PATTERN_LENGTH)}b`, 'is longer than 1000 characters'],
  ])('refuses %j: %s', (source, reason) => {
    expect(reasonFor(source)).toBe(reason)
  })

  it('rejects inline flag changes, if the engine supports them', () => {
    expect(reasonFor('(?i:a)')).toBe(isNative('(?i:a)') ? 'changes flags within' : 'is not a regular expression')
  })

  it.each([
    String.raw`(?:a)\1`,
    String.raw`(a)\2`,
    String.raw`[(]\1`,
    String.raw`\(\1`,
    String.raw`(?=a)\1`,
    String.raw`([\1])`,
  ])('does not treat %s as a reference', source => {
    expect(reasonFor(source)).toBe('')
  })

  it('reads a pattern of the maximum length', () => {
    expect(found(`a|${'b'.repeat(MAX_PATTERN_LENGTH - 2)}`)).toEqual(['a'])
  })

  it('reads a pattern that engines take very long to compile', () => {
    expect(reasonFor(`${'(?:|)'.repeat(60)}(a)(?!)`)).toBe('')
  })
})
