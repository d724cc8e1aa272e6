import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeStoreKey, encodeStoreKey } from './unstorage-cache-adapter.ts'

/** Characters that such stores treat specially, and any others, including half surrogates. */
const keys = fc.oneof(
  fc.string({ unit: fc.constantFrom(...':/\\?.~_-$%&=*[]{} aZ9', 'é', '漢', '\ud800', '\u0000'), maxLength: 500 }),
  fc.string({ unit: 'binary', maxLength: 500 }),
  fc.string({ minLength: 150, maxLength: 450, unit: fc.constantFrom('a', ':') }),
)

describe('a key for stores that accept few characters', () => {
  it.each([
    ['aiagent_context_help', 'aiagent_context_help'],
    ['getPortals:lang=de', 'getPortals~3a_lang~3d_de'],
    ['..', '~2e_~2e_'],
    ['', '~_'],
    ['~', '~7e_'],
    ['x'.repeat(201), `${'x'.repeat(199)}~:xx`],
  ])('of %j is %j', (key, encoded) => {
    expect(encodeStoreKey(key)).toBe(encoded)
    expect(decodeStoreKey(encoded)).toBe(key)
  })

  it('can be decoded, for any original', () => {
    fc.assert(
      fc.property(keys, key => {
        expect(decodeStoreKey(encodeStoreKey(key))).toBe(key)
      }),
    )
  })

  it('has short segments of safe characters, and no segment that is both a folder and a name', () => {
    fc.assert(
      fc.property(keys, key => {
        const segments = encodeStoreKey(key).split(':')
        const name = segments.pop() ?? ''
        expect(name).toMatch(/^[\w~-]{1,200}$/)
        expect(name).not.toMatch(/~$/)
        for (const folder of segments) expect(folder).toMatch(/^[\w~-]{1,199}~$/)
      }),
    )
  })

  it.each(['a b', 'a.b', '~zz_', 'a~', '~41_', '~3A_', 'a:b', 'x~:y'])('is not %j, which other code stored', text => {
    expect(decodeStoreKey(text)).toBeUndefined()
  })
})
