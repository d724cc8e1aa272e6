import { describe, expect, it } from 'vitest'
import { visibleText } from './visible-text.ts'

const ENGLAND = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'

describe('visibleText()', () => {
  it.each([
    ['control characters', 'a\u001b[201~b\r\n\tc\u009bd\u00ad', 'a[201~b\n\tcd'],
    ['bidirectional controls', 'a\u202eb\u2066c\u2069', 'abc'],
    ['zero-width characters', 'a\u200bb\u2060c\ufeff', 'abc'],
    ['tags that belong to no flag', 'a\u{e0041}\u{e0042}\u{e007f}', 'a'],
    ['hidden words behind a flag', `\u{1f3f4}${'\u{e0061}'.repeat(20)}\u{e007f}`, '\u{1f3f4}'],
    ['marks of direction in Latin text', 'a\u200eb\u200fc\u061c', 'abc'],
    ['joiners between letters that need none', 'pay\u200dpal', 'paypal'],
  ])('[SEC-105] leaves nothing in the place of %s', (_what, text, shown) => expect(visibleText(text)).toBe(shown))

  it.each([
    ['a flag with tags', ENGLAND],
    ['joined emoji', '\u{1f469}\u200d\u{1f527} \u2764\ufe0f \u{1f44d}\u{1f3fd}'],
    ['Persian with a non-joiner', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'],
    ['marks of direction in Hebrew', '\u05e9\u05dc\u05d5\u05dd C++\u200f!'],
    ['marks of direction in Arabic', '\u0645\u0631\u062d\u0628\u0627 (A\u200e) \u061c1'],
  ])('[SEC-105] keeps %s', (_what, text) => expect(visibleText(text)).toBe(text))

  it('[SEC-40] names invisible characters where it is asked to', () => {
    expect(visibleText('a\u202e\u0007', () => '?')).toBe('a?')
  })
})
