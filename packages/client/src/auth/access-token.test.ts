import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fakeToken } from '../../test/fake-service.ts'
import { expiryOf, readClaims, renewalTime } from './access-token.ts'

describe('readClaims', () => {
  it('reads the claims of a token, in any script', () => {
    const claims = { exp: 1_800_000_000, sub: 'someone', name: 'Žofia 日本 🙂', scope: ['a', 'b'] }
    expect(readClaims(fakeToken(claims))).toEqual(claims)
  })

  it.each(['', 'opaque', 'a.b.c', 'a..c', '..', `a.${btoa('[]')}.c`, `a.${btoa('{"exp":"soon"}')}.c`, 'a.%%%.c'])(
    'returns no claims for %j',
    token => {
      expect(readClaims(token)).toEqual({})
      expect(expiryOf(token)).toBeUndefined()
    },
  )

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => void readClaims(`${a}.${b}.x`)))
    fc.assert(fc.property(fc.jsonValue(), value => void readClaims(fakeToken(value as Record<string, unknown>))))
  })
})

describe('expiryOf', () => {
  it('returns the `exp` claim in milliseconds', () => {
    expect(expiryOf(fakeToken({ exp: 1_800_000_000 }))).toBe(1_800_000_000_000)
  })

  it('returns undefined for a token without an expiry', () => {
    expect(expiryOf(fakeToken({ sub: 'someone' }))).toBeUndefined()
  })
})

describe('renewalTime', () => {
  it.each([
    ['an hour', 3_600_000, 3_300_000],
    ['a second more than five minutes', 301_000, 1_000],
    ['five minutes', 300_000, 300_000],
    ['a minute', 60_000, 60_000],
    ['nothing', 0, 0],
  ])('for a token with a lifetime of %s does not depend on when it was obtained', (_life, lifetime, expected) => {
    for (const obtainedAt of [0, 1_000_000])
      expect(renewalTime(obtainedAt + lifetime, obtainedAt)).toBe(obtainedAt + expected)
  })
})
