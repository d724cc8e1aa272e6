import { expect, it } from 'vitest'
import { fnv1a } from './text.ts'

// Published test vectors of the 32-bit variant.
it.each([
  ['', '811c9dc5'],
  ['a', 'e40c292c'],
  ['foobar', 'bf9cf968'],
])('hashes %j to %s', (text, hash) => {
  expect(fnv1a(text)).toBe(hash)
})

it('hashes the bytes of UTF-8, not the characters', () => {
  expect(fnv1a('ä')).not.toBe(fnv1a('\u00e4'.normalize('NFD')))
  expect(fnv1a('ä')).toMatch(/^[0-9a-f]{8}$/)
})
