import { describe, expect, it } from 'vitest'
import { createMatcher } from './match.ts'
import { parsePattern } from './parse.ts'

/** The matches of a pattern in a text. */
function find(pattern: string, text: string, maxSteps?: number): string[] {
  const { places, gaveUpAt } = createMatcher(parsePattern(pattern), maxSteps)(text)
  expect(gaveUpAt).toBe(undefined)
  const found: string[] = []
  for (let index = 0; index < places.length; index += 2) found.push(text.slice(places[index], places[index + 1]))
  return found
}

const native = (pattern: string, text: string) => (text.match(new RegExp(pattern, 'g')) ?? []).filter(Boolean)

describe('createMatcher', () => {
  it.each([
    ['a|ab|abc', 'abc', ['a']],
    ['(?:a|ab)(?:c|bcd)', 'abcd', ['abcd']],
    ['a+', 'aa b aaa', ['aa', 'aaa']],
    ['a+?', 'aaa', ['a', 'a', 'a']],
    ['a*?b', 'aab b', ['aab', 'b']],
    ['a??b', 'ab b', ['ab', 'b']],
    ['a{2}', 'aaaaa', ['aa', 'aa']],
    ['a{2,3}', 'aaaaa', ['aaa', 'aa']],
    ['a{2,3}?', 'aaaaa', ['aa', 'aa']],
    ['a{2,}', 'a aa aaaaa', ['aa', 'aaaaa']],
    ['a{0}b', 'ab', ['b']],
    ['(?:ab){2}', 'ababab', ['abab']],
    ['<.*>', '<a><b>', ['<a><b>']],
    ['<.*?>', '<a><b>', ['<a>', '<b>']],
    ['^a', 'aa', ['a']],
    ['a$', 'aa\na', ['a']],
    ['^a$', 'a\na', []],
    [String.raw`\ba`, 'a aa éa', ['a', 'a', 'a']],
    [String.raw`a\b`, 'ab a_ a', ['a']],
    [String.raw`\Ba\B`, 'aaa a', ['a']],
    [String.raw`\b-`, '- a- -', ['-']],
    [String.raw`-\b`, '- -a', ['-']],
    ['.', 'a\n\r\u2028\u2029\u0085b', ['a', '\u0085', 'b']],
  ] as const)('finds what %j finds in %j', (pattern, text, expected) => {
    expect(find(pattern, text)).toEqual(expected)
    expect(native(pattern, text)).toEqual(expected)
  })

  it.each([
    [String.raw`(?<=\$)\d+`, '$12 34 $5', ['12', '5']],
    [String.raw`(?<!\$)\b\d+`, '$12 34 $5', ['34']],
    [String.raw`\d+(?=%)`, '12% 34 5%', ['12', '5']],
    [String.raw`\d+\b(?!%)`, '12% 34 5%', ['34']],
    [String.raw`(?<!\d)\d{2}(?!\d)`, '1 12 123 34', ['12', '34']],
    [String.raw`(?<=pin:? {1,2})\d+`, 'pin: 12 pin 34 pin   5', ['12', '34']],
    [String.raw`(?<=pin\s*:\s*)\d+`, 'pin   :    12 pin 34', ['12']],
    [String.raw`(?<!pin\s*)\b\d+`, 'pin   12 34', ['34']],
    [String.raw`(?=\w*\d)\w+`, 'abc ab1c 22', ['ab1c', '22']],
    [String.raw`(?!\w*\d)\b\w+`, 'abc ab1c 22 d', ['abc', 'd']],
    [String.raw`\b(?!000|666|9\d\d)\d{3}\b`, '000 123 666 912 91 665', ['123', '665']],
    ['(?<=^a*)b', 'aaab b', ['b']],
    ['(?<=(?:ab)+c)d', 'ababcd bcd', ['d']],
    ['(?<=ab|c)d', 'abd bd cd', ['d', 'd']],
    ['(?<=(?<!x)a)b', 'ab xab', ['b']],
    ['(?<=(?=ab)a)b', 'ab', ['b']],
    ['a(?=b(?!c))', 'ab abc a', ['a']],
    ['a(?=b(?<=xab))', 'xab ab', ['a']],
    ['(?<=a|)b', 'ab b', ['b', 'b']],
    ['(?!)a', 'a', []],
    ['(?=)a', 'a', ['a']],
    ['a(?=[^]*z)', 'a a z a', ['a', 'a']],
    ['(?<=z[^]*)a', 'a z a a', ['a', 'a']],
    ['(?<=^|,)[^,]+', 'a,b', ['a', 'b']],
    ['[^,]+(?=,|$)', 'a,b', ['a', 'b']],
    ['(?:(?=a){2,3}a)+', 'aab', ['aa']],
  ] as const)('evaluates lookarounds as %j does in %j', (pattern, text, expected) => {
    expect(find(pattern, text)).toEqual(expected)
    expect(native(pattern, text)).toEqual(expected)
  })

  it.each([
    ['(?:a?b??)*', 'ab', ['ab']],
    ['(?:|a)*', 'aa', ['aa']],
    ['(?:|a){2}b', 'ab', ['ab']],
    ['(?:|a){1,2}', 'aa', ['a', 'a']],
    ['(?:|a){2,3}', 'aaa', ['a', 'a', 'a']],
    ['(?:|a)+', 'aa', ['aa']],
    ['(?:a*)*b', 'aab', ['aab']],
    ['(?:(?:a|b?)*c?)*', 'abcab', ['abcab']],
    ['(?:(?:a??)*b??)*', 'abab', ['abab']],
    ['(?:a?)*?b', 'aab', ['aab']],
    [String.raw`(?:\b|a)*`, 'aa', ['aa']],
    ['(?:^|a)+', 'aa', ['aa']],
    ['(|a*)b*', 'ba', ['b']],
    ['a*|b', 'ab', ['a']],
    ['a*|bc?d?e?f?', 'ab', ['a']],
    ['(?:){3}a', 'a', ['a']],
    ['(?:(?=a))*a', 'aa', ['a', 'a']],
    ['(?:[]|a)+', 'aa', ['aa']],
    ['(?:[]?a)+', 'aa', ['aa']],
    ['a[]*b', 'ab', ['ab']],
    ['a[]', 'a', []],
  ] as const)('repeats as %j does in %j', (pattern, text, expected) => {
    expect(find(pattern, text)).toEqual(expected)
    expect(native(pattern, text)).toEqual(expected)
  })

  it.each([
    [String.raw`[ab(]\1`, '(\u0001', ['(\u0001']],
    [String.raw`[\](]\1`, ']\u0001', [']\u0001']],
    [String.raw`[\ (]\1`, ' \u0001', [' \u0001']],
    [String.raw`\(\1`, '(\u0001', ['(\u0001']],
  ])('does not treat a literal parenthesis as a group: %s', (pattern, text, expected) => {
    expect(find(pattern, text)).toEqual(expected)
    expect(native(pattern, text)).toEqual(expected)
  })

  it('finds a code unit beyond ASCII by its set as well', () => {
    expect(find('[à-ÿ]+', 'aéàb÷ÿĀ')).toEqual(['éà', '÷ÿ'])
    expect(find('[^a]', 'aé')).toEqual(['é'])
    expect(find('é', 'e')).toEqual([])
    expect(find(String.raw`\b.\b`, 'é')).toEqual([])
    expect(find(String.raw`\s+`, '\u00a0\u2003a\ufeff\u200b')).toEqual(['\u00a0\u2003', '\ufeff'])
  })

  it('finds nothing in an empty text', () => {
    expect(find('a*', '')).toEqual([])
    expect(find('^$', '')).toEqual([])
  })

  it.each([
    ['(a+)+$', 'a', '!', 0],
    ['(a|a)*$', 'a', '!', 0],
    ['(a|aa)+$', 'a', '!', 0],
    ['(a*)*b', 'a', 'b', 1],
    ['(?:(?:a*)*)*b', 'a', '-b', 1],
    ['(x+x+)+y', 'x', ' y', 0],
    ['(?:a?){30}a{30}', 'a', '', 83],
    ['(.*a){20}', 'b', `${'a'.repeat(19)}`, 0],
    ['.*.*.*=x', '=', ' x', 0],
    [String.raw`([a-zA-Z]+)*\d$`, 'a', ' 1 ', 0],
    [String.raw`^(\w+\s?)*$`, 'word ', '!', 0],
    [String.raw`\s+$`, ' ', 'x', 0],
    [String.raw`(?:\d+[- ]?)+[A-Z]`, '123-', 'A', 1],
    [String.raw`\b(?:\d[ -]*?){13,19}\b`, '1       ', 'a', 48],
    [String.raw`account\s*(?:number|no)?\s*[:#]?\s*\d{6,}`, 'account   ', '123456', 1],
    ['^([a-zA-Z0-9])(([-.]|[_]+)?([a-zA-Z0-9]+))*@[a-z]+[.][a-z]{2,3}$', 'a', '.@', 0],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a', 'A', 0],
    [String.raw`"(?:[^"\\]|\\?.)*"`, '\\', ' "', 0],
    ['(<[^>]*>)+\\s*</end>', '<b>', ' </end >', 0],
    [String.raw`(?<=^(\w+\s*)+:)\d+`, 'word ', '!:1', 0],
    ['(?=(a+)+b)a', 'a', '-b', 0],
    ['(?=a*b)a', 'a', 'b', 5000],
    ['(?<=^a*)a', 'a', '', 5000],
    ['(?<!b[^]*)a', 'a', 'b', 5000],
    ['a(?:[^]*b)?', 'a', '', 5000],
    ['a*?b|a', 'a', '', 5000],
  ] as const)('takes time proportional to the text: %s', (pattern, repeated, end, count) => {
    const text = repeated.repeat(5000 / repeated.length) + end
    // Only half of the paths through this text could never be tried; each instruction at each offset can.
    expect(find(pattern, text, 250 * text.length)).toHaveLength(count)
  })

  it('reports the offset from which it has not searched when that would take too many steps', () => {
    const findAll = createMatcher(parsePattern('a+b'), 100)
    expect(findAll('ab aab')).toEqual({ places: [0, 2, 3, 6] })
    expect(findAll(`ab ${'a'.repeat(200)}b`)).toEqual({ places: [0, 2], gaveUpAt: 3 })
    expect(findAll('ab aab')).toEqual({ places: [0, 2, 3, 6] })
  })

  it('also stops when it would need too much memory', () => {
    const findAll = createMatcher(parsePattern('b(?:a?){400}c'))
    const text = `bac ${'-'.repeat(400_000)}`
    expect(findAll(text)).toEqual({ places: [], gaveUpAt: 0 })
    expect(findAll(text.slice(0, 300_000))).toEqual({ places: [0, 3] })
  })

  it('does not exceed the remaining budget in a later search', () => {
    const findAll = createMatcher(parsePattern('a+b'), 12)
    for (let times = 0; times < 5; times++) expect(findAll('aab')).toEqual({ places: [0, 3] })
  })
})
