import { describe, expect, it } from 'vitest'
import { largeFrameBytes } from './frame-size.ts'

const LIMIT = 65_536

describe('largeFrameBytes', () => {
  it.each<[string, string, number | undefined]>([
    ['nothing', '', undefined],
    ['a short frame', 'x', undefined],
    ['as many bytes as are fine', 'x'.repeat(LIMIT), undefined],
    ['one byte more', 'x'.repeat(LIMIT + 1), LIMIT + 1],
    ['as many bytes as are fine, of wide characters', `${'€'.repeat(21_845)}x`, undefined],
    ['one byte more, of wide characters', `${'€'.repeat(21_845)}xx`, LIMIT + 1],
    ['pairs of units, four bytes each', '😀'.repeat(16_384), undefined],
    ['one pair more', '😀'.repeat(16_385), LIMIT + 4],
  ])('counts bytes: %s', (_what, frame, bytes) => {
    expect(largeFrameBytes(frame)).toBe(bytes)
  })
})
