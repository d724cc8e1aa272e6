import { describe, expect, it } from 'vitest'
import { PatternRefusal, parsePattern } from './parse.ts'
import { compilePattern, MAX_PROGRAM_SIZE, OP } from './program.ts'

const compile = (source: string) => compilePattern(parsePattern(source))

describe('compilePattern', () => {
  it.each([
    '(?:a{99}){99}',
    'a{2000}',
    'a{99999999999}',
    'a{0,99999999999}',
    '(?:(?:){99999}){99999}',
    '(?:(?=ab){999}c){3}',
  ])('rejects a program that is too large, at once: %s', source => {
    expect(() => compile(source)).toThrow(new PatternRefusal('is too large'))
  })

  it('counts the instructions of lookarounds as well', () => {
    expect(() => compile('(?=a{1200}b)a{700}c')).not.toThrow()
    expect(() => compile('(?=a{1200}b)a{900}c')).toThrow(PatternRefusal)
  })

  it('accepts a program of the maximum size', () => {
    expect(compile(`a{${MAX_PROGRAM_SIZE - 2}}`).op).toHaveLength(MAX_PROGRAM_SIZE)
    expect(() => compile(`a{${MAX_PROGRAM_SIZE - 1}}`)).toThrow(PatternRefusal)
  })

  it('shares equal instructions', () => {
    expect(compile('xab|yab').op).toHaveLength(compile('xab|y').op.length)
    expect([...compile('a|b|c').op]).toEqual([OP.fail, OP.match, OP.char])
  })

  it('stores the direction of a lookaround, and whether it concerns a single code unit', () => {
    const looks = compile(String.raw`(?<=ab)c(?!de)(?<!\d)(?=[bc])`).looks.map(({ behind, single }) => [behind, single])
    expect(looks.sort()).toEqual([
      [false, false],
      [false, true],
      [true, false],
      [true, true],
    ])
  })

  it('writes the body of a repetition twice only if a round can be empty', () => {
    const size = (source: string) => compile(source).op.length
    expect(size('(?:ab)*')).toBe(size('ab') + 1)
    expect(size('(?:a?b?)*')).toBeGreaterThan(size('a?b?') + 1)
  })
})
