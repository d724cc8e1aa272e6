import { describe, expect, it } from 'vitest'
import { largeFrameBytes } from './outbox.ts'

describe('largeFrameBytes', () => {
  const LIMIT = 65_536

  it.each<[string, string, number | undefined]>([
    ['an empty frame', '', undefined],
    ['a short frame', 'x', undefined],
    ['exactly 64 KiB', 'x'.repeat(LIMIT), undefined],
    ['one byte more', 'x'.repeat(LIMIT + 1), LIMIT + 1],
    ['exactly 64 KiB of wide characters', `${'€'.repeat(21_845)}x`, undefined],
    ['one byte more of wide characters', `${'€'.repeat(21_845)}xx`, LIMIT + 1],
    ['exactly 64 KiB of surrogate pairs, four bytes each', '😀'.repeat(16_384), undefined],
    ['one pair more', '😀'.repeat(16_385), LIMIT + 4],
  ])('counts the bytes of %s', (_what, frame, bytes) => {
    expect(largeFrameBytes(frame)).toBe(bytes)
  })
})
