import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { prefixScopes, scopeFingerprint } from './scopes.ts'

describe('prefixScopes', () => {
  it.each([
    ['core.read', 'api://x/core.read'],
    ['api://x/core.read', 'api://x/core.read'],
    ['https://other/scope', 'https://other/scope'],
    ['openid', 'openid'],
    ['profile', 'profile'],
    ['offline_access', 'offline_access'],
  ])('turns %s into %s', (scope, expected) => {
    expect(prefixScopes([scope], 'api://x/')).toEqual([expected])
  })

  it('changes nothing without a prefix', () => {
    expect(prefixScopes(['a', 'b'], '')).toEqual(['a', 'b'])
  })
})

describe('scopeFingerprint', () => {
  it('is the same for the same set, whatever its order, repetitions and blanks', () => {
    const scope = fc.stringMatching(/^[a-z.]{1,8}$/)
    fc.assert(
      fc.property(fc.array(scope), scopes => {
        const shuffled = [...scopes].reverse().flatMap(each => [` ${each} `, each, ''])
        expect(scopeFingerprint(shuffled)).toBe(scopeFingerprint(scopes))
      }),
    )
  })

  it('differs for a larger set', () => {
    expect(scopeFingerprint(['a', 'b'])).not.toBe(scopeFingerprint(['a']))
    expect(scopeFingerprint([])).toBe('811c9dc5')
  })
})
