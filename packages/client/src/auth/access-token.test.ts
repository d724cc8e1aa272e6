import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fakeToken } from '../../test/fake-service.ts'
import { expiryOf, expiryOfFresh, readClaims, renewalTime } from './access-token.ts'

const JWT = fakeToken({ exp: 1_800_000_000 })

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

  it.each([
    ['its scheme', `Bearer ${JWT}`],
    ['quotes', `"${JWT}"`],
    ['the answer that it came in', `{"access_token":"${JWT}","expires_in":60}`],
    ['a fourth part', `${JWT}.more`],
    ['no signature at all', JWT.slice(0, JWT.lastIndexOf('.'))],
  ])('[ADOPT-12] reads nothing from a JWT with %s', (_what, token) => {
    expect(readClaims(token)).toEqual({})
  })

  it('[ADOPT-12] reads a JWT with an empty signature', () => {
    expect(readClaims(JWT.slice(0, JWT.lastIndexOf('.') + 1))).toEqual({ exp: 1_800_000_000 })
  })

  it('returns an object for any text and any claims', () => {
    const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
    const token = fc.oneof(
      fc.tuple(fc.string(), fc.string()).map(([head, body]) => `${head}.${body}.x`),
      fc.jsonValue().map(value => fakeToken(value as Record<string, unknown>)),
    )
    fc.assert(
      fc.property(token, given => {
        expect(readClaims(given)).toSatisfy(isObject)
      }),
    )
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

describe('expiryOfFresh', () => {
  const IAT = 1_800_000_000
  const ISSUED = IAT * 1000
  const HOUR = 3_600_000
  const MINUTE = 60_000
  const token = fakeToken({ iat: IAT, exp: IAT + 3600 })

  it.each([
    ['has no skew', 0, HOUR],
    ['is as far ahead as a slow network explains', MINUTE, HOUR],
    ['is as far behind as that', -MINUTE, HOUR],
    ['is further ahead', MINUTE + 1, HOUR + MINUTE + 1],
    ['is further behind', -MINUTE - 1, HOUR - MINUTE - 1],
    ['is a day ahead', 24 * HOUR, 25 * HOUR],
  ])('is by the clock of this device, which %s', (_clock, skew, expected) => {
    expect(expiryOfFresh(token, ISSUED + skew)).toBe(ISSUED + expected)
    expect(expiryOfFresh(token, ISSUED + skew, 60)).toBe(ISSUED + expected)
  })

  it('is the `exp` claim where the token does not say when it was issued', () => {
    expect(expiryOfFresh(fakeToken({ exp: IAT + 3600 }), ISSUED + 24 * HOUR)).toBe(ISSUED + HOUR)
  })

  it('is the given lifetime from now on for a token that cannot be read, and unknown without one', () => {
    expect(expiryOfFresh('opaque', ISSUED, 60)).toBe(ISSUED + 60_000)
    expect(expiryOfFresh(fakeToken({ iat: IAT }), ISSUED, 60)).toBe(ISSUED + 60_000)
    expect(expiryOfFresh('opaque', ISSUED, 0)).toBe(ISSUED)
    expect(expiryOfFresh('opaque', ISSUED)).toBeUndefined()
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
