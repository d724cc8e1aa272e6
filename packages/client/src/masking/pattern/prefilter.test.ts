import { describe, expect, it } from 'vitest'
import { parsePattern } from './parse.ts'
import { charactersOf, createPrefilter } from './prefilter.ts'

const canMatch = (pattern: string, text: string) => createPrefilter(parsePattern(pattern))(charactersOf(text))

describe('createPrefilter', () => {
  it.each([
    ['a', 'b', false],
    ['a', 'ba', true],
    ['ab', 'a', false],
    ['ab', 'b', false],
    ['ab', 'ba', true],
    [String.raw`\d`, 'abc', false],
    [String.raw`\d`, 'a7', true],
    ['a+b*', 'b', false],
    ['a+b*', 'a', true],
    ['a*', '', true],
    ['a?b', 'b', true],
    ['a{0,3}', '', true],
    ['a{1,3}', 'b', false],
    ['ab|cd', 'a', true],
    ['ab|cd', 'b', false],
    ['ab|cd', 'c', true],
    ['ab|', '', true],
    ['ab|c*', '', true],
    [String.raw`\wx|[yz]\w`, 'ab', false],
    [String.raw`\wx|[yz]\w`, 'ay', true],
    ['(?=b)a', 'a', false],
    ['(?<=bc)a', 'ab', false],
    ['(?<=bc)a', 'abc', true],
    ['(?!b)a', 'a', true],
    ['(?<!bc)a', 'a', true],
    [String.raw`^\ba\b$`, 'a', true],
    ['[]', 'a', false],
    ['', '', true],
    ['é', 'e', false],
    ['é', 'ü', true],
    ['é', 'é', true],
    ['[a-é]', 'ü', true],
    ['[a-é]', 'A', false],
    ['[^a]', 'a', false],
    ['[^a]', 'é', true],
    ['\\x00', '\0', true],
    ['\\x00', '@`', false],
    ['\\x7f', '\x7f', true],
    ['\\x7f', '\x1f', false],
    ['\\x80', '\x7f', false],
    ['\\x80', '\x80', true],
    ['\\x1f', '\x1f', true],
    ['\\x20', '\x1f', false],
  ])('decides for %j whether %j can have a match: %s', (pattern, text, expected) => {
    expect(canMatch(pattern, text)).toBe(expected)
  })
})
