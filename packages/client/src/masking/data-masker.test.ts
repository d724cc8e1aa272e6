import type { MaskingPattern } from '@aiagent/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDataMasker, type MaskedSpan } from './data-masker.ts'

const CARD = '4111 1111 1111 1111'

const masker = (...patterns: MaskingPattern[]) => createDataMasker({ patterns })
const rule = (pattern: string, options: MaskingPattern = {}): MaskingPattern => ({
  javascriptRegularExpression: pattern,
  ...options,
})
const keep = (left: number, right: number): MaskingPattern => ({
  numOfCharsToUnmaskFromLeft: left,
  numOfCharsToUnmaskFromRight: right,
})

/** A text with spans replaced, as a host would show it. */
function replaced(text: string, spans: readonly MaskedSpan[]): string {
  let result = ''
  let done = 0
  for (const { start, end, replacement } of spans) {
    expect(start).toBeGreaterThanOrEqual(done)
    expect(end).toBeGreaterThan(start)
    result += text.slice(done, start) + replacement
    done = end
  }
  return result + text.slice(done)
}

describe('mask', () => {
  it.each([
    ['the last ones', keep(0, 4), 'it is *******6789, or *******4321.'],
    ['the first ones', keep(3, 0), 'it is 123********, or 987********.'],
    ['some at either end', keep(1, 2), 'it is 1********89, or 9********21.'],
    ['none', keep(0, 0), 'it is ***********, or ***********.'],
    ['all but one', keep(6, 4), 'it is 123-45*6789, or 987-65*4321.'],
    ['as many as there are, which leaves the match alone', keep(7, 4), 'it is 123-45-6789, or 987-65-4321.'],
    ['more than there are, which leaves the match alone', keep(0, 40), 'it is 123-45-6789, or 987-65-4321.'],
  ])('[FLOW-19] keeps %s', (_, counts, expected) => {
    const text = 'it is 123-45-6789, or 987-65-4321.'
    expect(masker(rule(String.raw`\d{3}-\d\d-\d{4}`, counts)).mask(text)).toBe(expected)
  })

  it.each([
    ['missing', {}],
    ['null', { numOfCharsToUnmaskFromLeft: null, numOfCharsToUnmaskFromRight: null }],
    ['negative', keep(-1, -2)],
    ['broken', keep(0.5, 1.5)],
    ['no number', keep(Number.NaN, Number.NaN)],
    ['endless', keep(Infinity, Infinity)],
  ])('[FLOW-19] hides everything where the counts are %s, and prints nothing twice', (_, counts) => {
    expect(masker(rule('secret', counts)).mask('my secret!')).toBe('my ******!')
  })

  it('[FLOW-19] counts one end as nothing without losing the other', () => {
    expect(masker(rule('secret', keep(-1, 2))).mask('secret')).toBe('****et')
    expect(masker(rule('secret', keep(2, -1))).mask('secret')).toBe('se****')
  })

  it.each([
    ['#', '######'],
    ['', '******'],
    [null, '******'],
    [undefined, '******'],
    ['<>', '<><><><><><>'],
  ])('[FLOW-19] takes %j as the masking character', (maskingCharacter, expected) => {
    expect(
      masker({ ...rule('secret'), ...(maskingCharacter !== undefined && { maskingCharacter }) }).mask('secret'),
    ).toBe(expected)
  })

  it.each([
    CARD,
    '4111111111111111',
    '4111-1111-1111-1111',
    '4111.1111.1111.1111',
    '5500 0000 0000 0004',
    '340000000000009',
    '0',
    '18',
    '59',
    '- .',
  ])('[FLOW-19] hides what passes the check of its digits: %s', match => {
    const masked = masker(rule('.+', { applyLuhnAlgorithm: true })).mask(match)
    expect(masked).toBe('*'.repeat(match.length))
  })

  it.each([
    '4111 1111 1111 1112',
    '4111111111111110',
    '1',
    '81',
    '95',
    '4111_1111_1111_1111',
    '4111\t1111 1111 1111',
    'a4111111111111111',
    '4111111111111111a',
  ])('[FLOW-19] leaves alone what does not pass it: %s', match => {
    expect(masker(rule('.+', { applyLuhnAlgorithm: true })).mask(match)).toBe(match)
  })

  it.each([false, null, undefined])('[FLOW-19] checks no digits unless the rule says so: %s', flag => {
    const options = flag === undefined ? {} : { applyLuhnAlgorithm: flag }
    expect(masker(rule('.+', options)).mask('4111 1111 1111 1112')).toBe('*'.repeat(19))
  })

  it('[FLOW-19] applies the rules in their order, each to the outcome of the one before', () => {
    const first = rule('secret', { order: 1, maskingCharacter: 'x' })
    const second = rule('x+', { order: 2, maskingCharacter: '-' })
    expect(masker(first, second).mask('my secret')).toBe('my ------')
    expect(masker(second, first).mask('my secret')).toBe('my ------')
    expect(masker({ ...first, order: 3 }, second).mask('my secret')).toBe('my xxxxxx')
  })

  it('[FLOW-19] applies rules of one order as they come, and those without order, or with none that counts, as of 0', () => {
    const toX = rule('secret', { maskingCharacter: 'x' })
    const toDash = rule('x+', { maskingCharacter: '-' })
    for (const order of [0, 5]) expect(masker({ ...toX, order }, { ...toDash, order }).mask('secret')).toBe('------')
    for (const order of [0, 5]) expect(masker({ ...toDash, order }, { ...toX, order }).mask('secret')).toBe('xxxxxx')
    expect(masker(toX, toDash).mask('secret')).toBe('------')
    expect(masker({ ...toX, order: 1 }, toDash).mask('secret')).toBe('xxxxxx')
    expect(masker({ ...toX, order: -1 }, toDash).mask('secret')).toBe('------')
    expect(masker({ ...toX, order: null }, { ...toDash, order: -1 }).mask('secret')).toBe('xxxxxx')
    expect(masker({ ...toX, order: Number.NaN }, { ...toDash, order: 1 }).mask('secret')).toBe('------')
    expect(masker({ ...toDash, order: Infinity }, { ...toX, order: 1 }).mask('secret')).toBe('xxxxxx')
  })

  it('[FLOW-19] takes tags and line breaks out of a match before anything else', () => {
    const card = rule(String.raw`\d[\d\s<>a-z/]+\d`, { applyLuhnAlgorithm: true, ...keep(0, 4) })
    expect(masker(card).mask('it is 4111<b>1111\r\n1111</b>1111.')).toBe('it is ************1111.')
    expect(masker(rule('a.*z', keep(1, 1))).mask('a<i></i>bc<br>z')).toBe('a**z')
    expect(masker(rule('[^]+', keep(1, 0))).mask('\na\rb\n')).toBe('a*')
  })

  it('[FLOW-19] leaves a match alone that is nothing but tags, or kept whole without them', () => {
    expect(masker(rule('<.>')).mask('a<b>c')).toBe('a<b>c')
    expect(masker(rule('1.*2', keep(1, 1))).mask('1<b>2')).toBe('1<b>2')
  })

  it('[FLOW-19] takes out what the payload names instead', () => {
    const mask = (htmlTagMatcherRegEx: string | null, text: string) =>
      createDataMasker({ patterns: [rule('a.*z', keep(1, 1))], configuration: { htmlTagMatcherRegEx } }).mask(text)
    expect(mask(String.raw`\[\w\]`, 'a[b]<i>[c]z')).toBe('a***z')
    expect(mask('', 'a[b]<i>z')).toBe('a***z')
    expect(mask(null, 'a[b]<i>z')).toBe('a***z')
    expect(createDataMasker({ patterns: [rule('a.*z', keep(1, 1))], configuration: null }).mask('a<i>bz')).toBe('a*z')
  })

  it('[FLOW-19] takes tags out again and again, until nothing changes', () => {
    const tags = { configuration: { htmlTagMatcherRegEx: '<>' } }
    const mask = (text: string) => createDataMasker({ patterns: [rule('a.*z', keep(1, 1))], ...tags }).mask(text)
    expect(mask('a<<><>>bz')).toBe('a*z')
    expect(mask(`a${'<'.repeat(100)}${'>'.repeat(100)}bz`)).toBe('a*z')
  })

  it('hides all of a match whose tags are nested too deep to be taken out', () => {
    const patterns = [rule('a.*z', { ...keep(1, 1), applyLuhnAlgorithm: true })]
    const { mask } = createDataMasker({ patterns, configuration: { htmlTagMatcherRegEx: '<>' } })
    const match = `a${'<'.repeat(5000)}${'>'.repeat(5000)}bz`
    expect(mask(`${match}!`)).toBe(`${'*'.repeat(match.length)}!`)
  })

  it('[FLOW-19] changes nothing without rules, or in an empty text', () => {
    for (const payload of [{}, { patterns: null }, { patterns: [] }]) {
      const { mask, preview, ruleCount, refused } = createDataMasker(payload)
      expect([mask('secret'), preview('secret'), ruleCount, refused]).toEqual(['secret', [], 0, []])
    }
    const { mask, preview, ruleCount } = masker(rule('x*'), rule(''))
    expect([mask(''), preview(''), ruleCount]).toEqual(['', [], 1])
  })

  it('[FLOW-19] passes over matches that are empty', () => {
    expect(masker(rule('x*')).mask('axxb')).toBe('a**b')
    expect(masker(rule(String.raw`\b`)).mask('a b')).toBe('a b')
  })

  it('hides the rest of a text where a search takes too long', () => {
    const { mask, preview } = masker(rule('(?:a?){900}b', { name: 'Bad', ...keep(0, 1), maskingCharacter: '#' }))
    const text = `b abb ${'a'.repeat(20_000)} secret`
    const masked = mask(text)
    expect(masked).toMatch(/^b #bb a+#{8000,}$/)
    expect(masked).toHaveLength(text.length)
    const spans = preview(text)
    const last = spans.at(-1)
    expect(last).toMatchObject({ rule: 'Bad', end: text.length })
    expect(last?.replacement).toMatch(/^#{8000,}$/)
    expect(replaced(text, spans)).toBe(masked)
  })

  it('hides all of a match whose tags take too long to find', () => {
    const patterns = [rule('[^]+', { ...keep(2, 2), maskingCharacter: '#' })]
    const configuration = { htmlTagMatcherRegEx: '(?:a?){900}b' }
    const text = `abb ${'a'.repeat(20_000)} end`
    expect(createDataMasker({ patterns, configuration }).mask(text)).toBe('#'.repeat(text.length))
  })

  it('gives the same answer each time, whatever came before', () => {
    const { mask } = masker(rule(String.raw`(?<=a+)\d+(?=b+)`))
    for (let times = 0; times < 3; times++) {
      expect(mask('aa12bb')).toBe('aa**bb')
      expect(mask('aa12')).toBe('aa12')
      expect(mask(`aa12bb${'-'.repeat(20_000)}`)).toBe(`aa**bb${'-'.repeat(20_000)}`)
    }
  })
})

describe('refused', () => {
  it('[FLOW-19] names the patterns that are not used, and the others hold', () => {
    const { refused, ruleCount, mask } = createDataMasker({
      patterns: [
        rule('(a)\\1', { name: 'Reference' }),
        rule('[', { name: 'Broken' }),
        rule('secret', { name: 'Good' }),
        rule(`a{${'1'.repeat(998)}}`, { name: 'Long' }),
        rule('(?:a{99}){99}', { name: 'Large' }),
        { name: 'Without' },
        rule('', { name: '' }),
        { ...rule('(b)\\1'), name: null },
      ],
      configuration: { htmlTagMatcherRegEx: '(<)\\1' },
    })
    expect(refused).toEqual([
      { name: 'Reference', reason: 'refers back to a group' },
      { name: 'Broken', reason: 'is not a regular expression' },
      { name: 'Long', reason: 'is longer than 1000 characters' },
      { name: 'Large', reason: 'is too large' },
      { name: 'Without', reason: 'is missing' },
      { name: 'pattern 7', reason: 'is missing' },
      { name: 'pattern 8', reason: 'refers back to a group' },
      { name: 'htmlTagMatcherRegEx', reason: 'refers back to a group' },
    ])
    expect(ruleCount).toBe(1)
    expect(mask('aa my sec<b>ret, secret')).toBe('aa my sec<b>ret, ******')
  })

  it('takes the default in place of a tag matcher that is refused', () => {
    const configuration = { htmlTagMatcherRegEx: '(<)\\1' }
    expect(createDataMasker({ patterns: [rule('a.*z', keep(1, 1))], configuration }).mask('a<b>cz')).toBe('a*z')
  })

  it('cannot be changed from outside', () => {
    const created = masker(rule('[', { name: 'Broken' }))
    expect(Object.isFrozen(created)).toBe(true)
    expect(Object.isFrozen(created.refused)).toBe(true)
    expect(Object.isFrozen(created.refused[0])).toBe(true)
  })
})

describe('preview', () => {
  const x = rule('secret', { name: 'Word', order: 1, maskingCharacter: 'x' })

  it('tells what would be replaced, by which rule, and where', () => {
    const number = rule(String.raw`\d+`, { name: 'Number', order: 2, ...keep(0, 1) })
    const unnamed = rule('z', { order: 3 })
    expect(masker(x, number, unnamed).preview('12 secret 345z secret')).toEqual([
      { rule: 'Number', earlierRules: [], start: 0, end: 2, replacement: '*2' },
      { rule: 'Word', earlierRules: [], start: 3, end: 9, replacement: 'xxxxxx' },
      { rule: 'Number', earlierRules: [], start: 10, end: 13, replacement: '**5' },
      { rule: 'pattern 3', earlierRules: [], start: 13, end: 14, replacement: '*' },
      { rule: 'Word', earlierRules: [], start: 15, end: 21, replacement: 'xxxxxx' },
    ])
  })

  it('names places of the text as it was given, also where replacements are shorter or longer than what they replace', () => {
    const tags = rule('a.*?z', { name: 'Tags', order: 1 })
    const long = rule('secret', { name: 'Word', order: 2, maskingCharacter: '12' })
    const after = rule('end', { name: 'End', order: 3 })
    const text = 'a<b>z secret a<b>z end'
    expect(masker(tags, long, after).mask(text)).toBe('** 121212121212 ** ***')
    expect(masker(tags, long, after).preview(text)).toEqual([
      { rule: 'Tags', earlierRules: [], start: 0, end: 5, replacement: '**' },
      { rule: 'Word', earlierRules: [], start: 6, end: 12, replacement: '121212121212' },
      { rule: 'Tags', earlierRules: [], start: 13, end: 18, replacement: '**' },
      { rule: 'End', earlierRules: [], start: 19, end: 22, replacement: '***' },
    ])
  })

  it.each<[string, string, string, Omit<MaskedSpan, 'rule'>[]]>([
    [
      'all of it and more',
      'y xxxxxx.',
      'my secret..',
      [{ earlierRules: ['Word'], start: 1, end: 10, replacement: '---------' }],
    ],
    ['its beginning', 'xx$', 'my secret', [{ earlierRules: ['Word'], start: 3, end: 9, replacement: 'xxxx--' }]],
    ['its end', 'my xx', 'my secret', [{ earlierRules: ['Word'], start: 0, end: 9, replacement: '-----xxxx' }]],
    [
      'its middle',
      '(?<=xx)xx(?=xx)',
      'my secret',
      [{ earlierRules: ['Word'], start: 3, end: 9, replacement: 'xx--xx' }],
    ],
    [
      'it twice',
      '(?<=my )x|x(?=!)',
      'my secret!',
      [{ earlierRules: ['Word'], start: 3, end: 9, replacement: '-xxxx-' }],
    ],
    [
      'two at once',
      'x x',
      'secret secret',
      [{ earlierRules: ['Word', 'Word'], start: 0, end: 13, replacement: 'xxxxx---xxxxx' }],
    ],
  ])(
    'joins what a later rule replaces with what it leaves of an earlier replacement: %s',
    (_, pattern, text, spans) => {
      const later = rule(pattern, { name: 'Later', order: 2, maskingCharacter: '-' })
      const { mask, preview } = masker(x, later)
      expect(preview(text)).toEqual(spans.map(span => ({ rule: 'Later', ...span })))
      expect(replaced(text, preview(text))).toBe(mask(text))
    },
  )

  it('keeps what lies side by side apart', () => {
    const later = rule('!', { name: 'Later', order: 2, maskingCharacter: '-' })
    expect(
      masker(x, later)
        .preview('!secret!')
        .map(({ rule, start, end }) => [rule, start, end]),
    ).toEqual([
      ['Later', 0, 1],
      ['Word', 1, 7],
      ['Later', 7, 8],
    ])
  })

  it('lists the earlier rules in the order in which they were applied', () => {
    const second = rule('x+', { name: 'Second', order: 2, maskingCharacter: 'y' })
    const third = rule('y+', { name: 'Third', order: 3, maskingCharacter: 'z' })
    expect(masker(x, second, third).preview('a secret')).toEqual([
      { rule: 'Third', earlierRules: ['Word', 'Second'], start: 2, end: 8, replacement: 'zzzzzz' },
    ])
  })

  it('leads to what mask() gives, whatever the rules and the text', () => {
    const pattern = fc.constantFrom('a+', 'ab', 'b|c', '[^a]{2}', '<.>|c', 'a.*?c', '(?<=a)b+', '.{3}', 'x+', '-')
    const rules = fc.array(
      fc
        .tuple(pattern, fc.nat(2), fc.nat(2), fc.constantFrom('x', '-', 'ab', '*'))
        .map(([source, left, right, maskingCharacter]) => rule(source, { ...keep(left, right), maskingCharacter })),
      { minLength: 1, maxLength: 5 },
    )
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '<b>', '-'), maxLength: 16 })
    fc.assert(
      fc.property(rules, text, (patterns, given) => {
        const { mask, preview } = masker(...patterns)
        expect(replaced(given, preview(given))).toBe(mask(given))
      }),
      { numRuns: 1000, seed: 7 },
    )
  })
})

describe('the cost of all rules together', () => {
  /** Takes many steps at each character of the text, and matches nothing in it. */
  const costly = rule('(?:a?){30}cd', { name: 'costly' })
  const text = `${'a'.repeat(60_000)} c d the end`

  it('[SEC-28] is limited: what the rules behind the limit might find is hidden', () => {
    const masked = masker(...Array<MaskingPattern>(20).fill(costly)).mask(text)
    expect(masked).toHaveLength(text.length)
    expect(masked.slice(-12)).toBe('*'.repeat(12))
    // The next text has the whole budget again.
    const one = masker(costly)
    for (let times = 0; times < 3; times++) expect(one.mask(text) === text).toBe(true)
  })

  it('[SEC-28] counts the removal of tags, too', () => {
    const tags = `${'a'.repeat(3_000)}c `.repeat(400)
    const patterns = [rule('a+c', keep(0, 4))]
    const configuration = { htmlTagMatcherRegEx: '(?:a?){60}cc' }
    const masked = createDataMasker({ patterns, configuration }).mask(tags)
    expect([masked.slice(2_990, 3_002), masked.slice(-12)]).toEqual(['*******aaac ', '*********** '])
  })

  it('[SEC-29] refuses rules beyond the limit, and reports them as one', () => {
    const patterns = Array.from({ length: 5_000 }, (_, index) => rule(`secret${index}x`))
    const { ruleCount, refused, mask } = createDataMasker({ patterns })
    expect([ruleCount, refused]).toEqual([
      200,
      [{ name: 'patterns from 201 on', reason: 'exceeds the limit of 200 rules' }],
    ])
    expect(mask('secret199x secret200x')).toBe('********** secret200x')
  })
})
