import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sha256 } from './sha256.ts'

const expected = (text: string) => createHash('sha256').update(text).digest('hex')

it.each([0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 128])('hashes %i bytes', length => {
  expect(sha256('a'.repeat(length))).toBe(expected('a'.repeat(length)))
})

it('agrees with Node for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), text => {
      expect(sha256(text)).toBe(expected(text))
    }),
  )
})
