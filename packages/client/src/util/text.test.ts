import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { utf8Bytes } from './text.ts'

describe('UTF-8 bytes without a TextEncoder', () => {
  afterEach(() => void vi.unstubAllGlobals())

  it('[VIEW-13] are those that a TextEncoder returns, also for lone surrogates', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.nat(0xffff)).map(units => String.fromCharCode(...units)),
    )
    fc.assert(
      fc.property(texts, text => {
        vi.unstubAllGlobals()
        const expected = [...new TextEncoder().encode(text)]
        vi.stubGlobal('TextEncoder', undefined)
        expect([...utf8Bytes(text)]).toEqual(expected)
      }),
    )
  })
})
