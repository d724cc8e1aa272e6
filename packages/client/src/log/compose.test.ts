import { describe, expect, it } from 'vitest'
import { largeFrameBytes } from '../outbox/outbox.ts'
import { createMessageIds } from './compose.ts'

describe('createMessageIds()', () => {
  it('creates distinct UUIDs of version 4, also beyond those of one random UUID', () => {
    let asked = 0
    const newId = createMessageIds({
      randomUUID() {
        asked++
        return crypto.randomUUID()
      },
    })
    const ids = Array.from({ length: 70_000 }, newId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter(id => !/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toEqual(
      [],
    )
    expect(asked).toBe(2)
  })

  it('needs no random UUID before the first message', () => {
    let asked = 0
    const newId = createMessageIds({ randomUUID: () => (asked++, crypto.randomUUID()) })
    expect(asked).toBe(0)
    newId()
    expect(asked).toBe(1)
  })
})

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
