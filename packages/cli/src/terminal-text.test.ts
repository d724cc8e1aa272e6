import { describe, expect, it } from 'vitest'
import { colorCode, plainText, printableJson, renderText } from './terminal-text.ts'

describe('plainText', () => {
  it.each([
    ['escape sequences', 'a\u001b[31mb\u001b]0;title\u0007c', 'abc'],
    ['control characters', 'a\u0000b\u0007c\u007fd\u009be', 'abcde'],
    ['every kind of line break', 'a\r\nb\rc\u0085d\u2028e', 'a\nb\nc\nd\ne'],
    ['bidirectional controls', 'a\u202eb\u2069c\u200fd', 'a<U+202E>b<U+2069>c<U+200F>d'],
    ['zero-width characters', 'a\u200bb\ufeffc\u2060d', 'a<U+200B>b<U+FEFF>c<U+2060>d'],
    ['tags and variation selectors', 'a\u{e0041}b\ufe0fc\u{e0100}', 'a<U+E0041>b<U+FE0F>c<U+E0100>'],
    ['a joiner between letters that need none', 'pay\u200dpal', 'pay<U+200D>pal'],
    ['a joined emoji', '👩‍🔧 ❤️ 👍🏽', '👩‍🔧 ❤️ 👍🏽'],
    ['Persian with a non-joiner', 'می‌خواهم', 'می‌خواهم'],
    ['text and tabs', 'déjà\tvu', 'déjà\tvu'],
  ])('[SEC-40] shows %s', (_what, text, shown) => {
    expect(plainText(text)).toBe(shown)
  })
})

describe('renderText', () => {
  it('[SEC-40] writes the colours of the program, and no other escape code', () => {
    const text = `${colorCode('1')}a\u001b[1mb${colorCode('22')}`
    expect(renderText(text)).toBe('\u001b[1mab\u001b[22m')
  })

  it('[SEC-40] indents continuation lines that begin at the left edge', () => {
    expect(renderText(`a\n> b\n  c\n\n${colorCode('2')}d\n`)).toBe('a\n  > b\n  c\n\n  \u001b[2md\n')
  })
})

describe('printableJson', () => {
  it('[SEC-40] escapes what a terminal would act on, and keeps the value', () => {
    const value = { text: '\u001b[2J\u009b\u202e\u{e0041}\u2028' }
    const text = printableJson(value)
    expect(text).toMatch(/^[\n\x20-\x7e]+$/)
    expect(JSON.parse(text)).toEqual(value)
  })
})
