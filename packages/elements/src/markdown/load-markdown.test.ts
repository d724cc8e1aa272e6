import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lex } from './lex.ts'
import { hasMarkdown } from './load-markdown.ts'

const WORDS = [
  'a',
  'Zürich',
  '5',
  '1.',
  '2)',
  '-',
  '+',
  '=',
  '---',
  '===',
  ' ',
  '  ',
  '    ',
  '\t',
  '\r',
  '.',
  ':',
  '!',
  '(x)',
  '"',
]
const MARKS = [
  '*a*',
  '`a`',
  '\n',
  '#',
  '> ',
  '[a](b:c)',
  'http://a.test',
  'ftp://a.test',
  'HTTPS://a.test',
  'www.a.test',
  'a@b.test',
  '&amp;',
  '<b>',
]

describe('hasMarkdown()', () => {
  it('[EL-13] leaves out the lexer only for texts of which it makes one plain paragraph', () => {
    const texts = fc
      .array(fc.constantFrom(...WORDS, ...MARKS), { minLength: 1, maxLength: 6 })
      .map(parts => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(texts, fc.string({ minLength: 1 }), fc.string({ minLength: 1, unit: 'grapheme' })), text => {
        if (hasMarkdown(text)) return
        const tokens = lex(text) ?? []
        expect(tokens.map(({ type }) => type)).toEqual(['paragraph'])
        const inline = tokens.flatMap(block => ('tokens' in block && block.tokens) || [])
        expect(new Set(inline.map(({ type }) => type))).toEqual(new Set(['text']))
        expect(inline.map(({ raw }) => raw).join('')).toBe(text)
      }),
      { numRuns: propertyRuns(1000) },
    )
  })

  it('sees every kind of mark, and no mark in a usual sentence', () => {
    expect(MARKS.filter(mark => !hasMarkdown(mark))).toEqual([])
    expect(hasMarkdown('Your order (no. 5) is on its way - it arrives on 3.5., at 10:30!')).toBe(false)
  })
})
